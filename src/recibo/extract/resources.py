"""The data files of the library. `load` reads all, for a process that opens no file later."""

import importlib.resources
import tomllib
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any

_FOLDER = importlib.resources.files("recibo.extract") / "data"


@cache
def table(*names: str) -> dict[str, Any]:
    """Return the contents of a TOML file of `data/`, given its path in parts."""
    return tomllib.loads(_FOLDER.joinpath(*names).read_text("utf-8"))


def load() -> None:
    """Read every file, each under the names by which it is asked for."""
    _load(_FOLDER)


def _load(folder: Traversable, *above: str) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            _load(entry, *above, entry.name)
        elif entry.name.endswith(".toml"):
            table(*above, entry.name)
