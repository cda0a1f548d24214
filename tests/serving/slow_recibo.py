"""The command `recibo` with a reader in memory that takes a while, for what happens meanwhile."""

import sys
from pathlib import Path

# Run by its path, from any folder.
sys.path.insert(0, str(Path(__file__).parents[2]))

if __name__ == "__main__":
    from recibo import app
    from recibo.__main__ import main
    from tests.readers import SlowReader

    app.PoolReader = SlowReader  # type: ignore[assignment, attr-defined]  # it does as the other does
    sys.exit(main())
