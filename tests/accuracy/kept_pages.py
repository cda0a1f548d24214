"""A folder that keeps the recognized pages of the sample until what recognizes them changes."""

import hashlib
import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.house.source import PACKAGE, ROOT

KEPT = ROOT / "build" / "recognized"

# Recognition cannot import these: see the contract of the extraction stages in pyproject.toml.
_LATER = ("fields", "resolve", "data/weights")


def folder() -> Path:
    """Return the folder of this version's pages, and remove those of others."""
    kept = KEPT / version(PACKAGE / "extract", ROOT / "requirements")
    for other in KEPT.glob("*"):
        if other != kept:
            shutil.rmtree(other)
    return kept


def version(library: Path, requirements: Path) -> str:
    """Return a digest of all that recognition depends on: code, data, packages and the runtime."""
    digest = hashlib.sha256(str(importlib.util.find_spec("openvino") is not None).encode())
    for path in sorted((*_files(library), *requirements.glob("*.txt"))):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _files(library: Path) -> Iterator[Path]:
    later = [library / name for name in _LATER]
    for path in library.rglob("*"):
        if path.suffix != ".pyc" and path.is_file() and not set(later) & set(path.parents):
            yield path
