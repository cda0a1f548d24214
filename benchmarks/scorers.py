"""Loads the scorers of a data folder as modules."""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def load(path: Path) -> ModuleType:
    """Return the scorer in this file.

    Raises:
        OSError: The file does not exist.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
