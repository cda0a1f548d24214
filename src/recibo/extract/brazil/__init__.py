"""Brazilian fiscal formats: access keys, QR payloads, tax ids, states."""
