"""The command `recibo` with a reading library that misbehaves on demand."""

import os
import signal
import sys
from unittest.mock import Mock

# Run by its path from the repository's root.
sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as Python's own path holds it

if __name__ == "__main__":
    from recibo.__main__ import main
    from recibo.adapters import reader
    from tests.faulty import libraries

    reader.on_runtime = Mock(return_value=libraries.FAULTY)
    # Tests that a shell runs in the background inherit that interrupts are ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())
