"""Folders and files for the service's own user, whose names survive a power loss."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

# Everything for anybody but the owner.
_OTHERS = 0o077
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600


def make(folder: Path) -> None:
    """Make a folder and its missing parents, each durable in the folder that holds it."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        # Another process may make it at the same moment.
        one.mkdir(mode=_FOLDER_MODE, exist_ok=True)
        sync(one.parent)


def sync(folder: Path) -> None:
    """Make the names in a folder durable: fsync of a file does not cover its name."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write(path: Path, content: bytes) -> None:
    """Write a small file durably; it is there whole or not at all."""
    partial = path.with_name(f"{path.name}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(partial, flags, _FILE_MODE), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync(path.parent)


def restrict(paths: Iterable[Path]) -> None:
    """Take files and folders away from everybody but their owner, where they are there."""
    for path in paths:
        try:
            if not stat.S_IMODE(path.stat().st_mode) & _OTHERS:
                continue
            path.chmod(_FOLDER_MODE if path.is_dir() else _FILE_MODE)
            log.warning("others could read it; now only its owner can", path=str(path))
        except FileNotFoundError:
            continue
        except OSError as e:
            log.warning("others can read it, and it cannot be changed", path=str(path), why=str(e))
