"""The folder where uploads lie while their request lasts."""

import datetime as dt
from pathlib import Path

from recibo.lib import clock

# No request lasts so long.
_STRAY_AGE = dt.timedelta(hours=1)


def clear(folder: Path, *, is_shared: bool) -> None:
    """Delete what killed processes left; in a shared folder only what no request can need."""
    newest = clock.now() - (_STRAY_AGE if is_shared else dt.timedelta(0))
    for path in folder.iterdir():
        if path.stat().st_mtime <= newest.timestamp():
            path.unlink(missing_ok=True)
