"""Durable writes of private folders and files, which survive a power loss."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

# All permissions of group and others.
_OTHERS = 0o077
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


def make(folder: Path) -> None:
    """Create a folder and its missing parents, and sync each parent."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        # Another process may create it concurrently.
        one.mkdir(mode=_FOLDER_MODE, exist_ok=True)
        sync(one.parent)


def sync(folder: Path) -> None:
    """Sync a folder: fsync of a file does not make its directory entry durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write(path: Path, content: bytes) -> None:
    """Write a small file durably and atomically."""
    # Two processes may write the same file at once.
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(partial, flags, _FILE_MODE), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync(path.parent)


def restrict(paths: Iterable[Path]) -> None:
    """Make existing files and folders accessible to their owner only."""
    for path in paths:
        try:
            if not stat.S_IMODE(path.stat().st_mode) & _OTHERS:
                continue
            path.chmod(_FOLDER_MODE if path.is_dir() else _FILE_MODE)
            log.warning("removed access of other users", path=str(path))
        except FileNotFoundError:
            continue
        except OSError as e:
            log.warning(
                "other users have access, and it cannot be removed", path=str(path), why=str(e)
            )
