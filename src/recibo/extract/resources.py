"""Loads the data files of the library; `load` reads all of them, so that none is read later."""

import importlib.resources
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any

_FOLDER = importlib.resources.files("recibo.extract") / "data"


@cache
def table(*names: str) -> dict[str, Any]:
    """Return the contents of a TOML file of `data/`, given its path in parts."""
    return tomllib.loads(_FOLDER.joinpath(*names).read_text("utf-8"))


@cache
def tables(folder: str) -> Mapping[str, dict[str, Any]]:
    """Return the contents of all TOML files of a folder of `data/` by name, without `.toml`."""
    names = sorted(entry.name for entry in (_FOLDER / folder).iterdir())
    return {
        name.removesuffix(".toml"): table(folder, name) for name in names if name.endswith(".toml")
    }


def load() -> None:
    """Read every file, so that later calls of `table` and `tables` are cached."""
    _load(_FOLDER)


def _load(folder: Traversable, *above: str) -> None:
    for entry in folder.iterdir():
        if entry.is_dir():
            _load(entry, *above, entry.name)
            if not above:
                tables(entry.name)
        elif entry.name.endswith(".toml"):
            table(*above, entry.name)
