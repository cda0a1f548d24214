"""The data files of the library. `load` reads all, for a process that opens no file later."""

import importlib.resources
import tomllib
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any

_ROOT = "recibo.extract"


@cache
def table(package: str, *names: str) -> dict[str, Any]:
    """Return what a TOML file of a package says."""
    return tomllib.loads(importlib.resources.files(package).joinpath(*names).read_text("utf-8"))


def load() -> None:
    """Read every file, each under the names by which it is asked for."""
    _load(importlib.resources.files(_ROOT), _ROOT)


def _load(folder: Traversable, package: str, *above: str) -> None:
    entries = list(folder.iterdir())
    is_package = any(entry.name == "__init__.py" for entry in entries)
    if is_package and above:
        package, above = ".".join((package, *above)), ()
    for entry in entries:
        if entry.is_dir():
            _load(entry, package, *above, entry.name)
        elif entry.name.endswith(".toml"):
            table(package, *above, entry.name)
