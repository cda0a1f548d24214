"""The environment of commands that tests run: the tests' own, without settings from outside."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock


@contextmanager
def with_variables(variables: dict[str, str]) -> Iterator[dict[str, str]]:
    """Replace all settings of Recibo by these variables; yield the environment."""
    with mock.patch.dict("os.environ") as environment:
        for name in [name for name in environment if name.startswith("RECIBO_")]:
            del environment[name]
        environment.update(variables)
        yield dict(environment)


@contextmanager
def with_settings(data_dir: Path, settings: dict[str, str]) -> Iterator[dict[str, str]]:
    """Replace all settings of Recibo by these, named without their prefix."""
    variables = {f"RECIBO_{name}": value for name, value in settings.items()}
    with with_variables(variables | {"RECIBO_DATA_DIR": str(data_dir)}) as environment:
        yield environment
