"""The command `recibo` with a reader in memory, for what counts everything but the reading."""

import sys
from pathlib import Path

# Run by its path, from any folder.
sys.path.insert(0, str(Path(__file__).parents[2]))

if __name__ == "__main__":
    from recibo import app
    from recibo.__main__ import main
    from recibo.store import redis_client
    from tests.readers import QuickReader

    app.PoolReader = QuickReader  # type: ignore[assignment, attr-defined]  # it does as the other does
    # On a machine that is busy, Redis is slow, and what is slow would not be counted.
    redis_client._TIMEOUT_SECONDS = 60  # noqa: SLF001
    sys.exit(main())
