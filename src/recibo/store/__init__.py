"""The state the service owns: database, files, signals."""
