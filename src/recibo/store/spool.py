"""The folder of temporary upload files."""

import datetime as dt
from pathlib import Path

from recibo.lib import clock

# No request takes longer.
_MAX_AGE = dt.timedelta(hours=1)


def clear(folder: Path, *, is_shared: bool) -> None:
    """Delete files that killed processes left behind; in a shared folder only old ones."""
    newest = clock.now() - (_MAX_AGE if is_shared else dt.timedelta(0))
    for path in folder.iterdir():
        if path.stat().st_mtime <= newest.timestamp():
            path.unlink(missing_ok=True)
