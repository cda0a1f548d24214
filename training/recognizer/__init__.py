"""Fine-tunes the recognition model on generated lines of receipts."""
