"""The files of deploy/, read as Docker Compose reads them."""

import re
from collections.abc import Mapping
from typing import Any, cast

import yaml

from tests.house import source

FOLDER = source.ROOT / "deploy"
#: The settings of a company's own installation.
THREE = ("RECIBO_BASE_URL", "RECIBO_SECRET_KEY", "RECIBO_EMAIL_URL")
GIVEN = {
    "RECIBO_BASE_URL": "https://receipts.example.com",
    "RECIBO_SECRET_KEY": "s" * 32,
    "RECIBO_EMAIL_URL": "smtp://recibo:password@mail.example.com:587",
}
# ${NAME}, ${NAME:?message} and ${NAME:-default}.
_VARIABLE = re.compile(r"\$\{(\w+)(?::([?-])([^}]*))?\}")


class MissingVariableError(LookupError):
    """A variable that has no default is not set."""


def read(name: str) -> dict[str, Any]:
    """Return a file as it is."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return cast("dict[str, Any]", yaml.safe_load(text))


def required(name: str) -> set[str]:
    """Return the variables without which Docker Compose refuses a file."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    return {found[1] for found in _VARIABLE.finditer(text) if found[2] == "?"}


def environment(*names: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of Recibo under these files; a later one replaces what it names.

    Raises:
        MissingVariableError: a variable is not given.
    """
    merged: dict[str, str] = {}
    for name in names:
        merged |= read(name)["services"]["recibo"]["environment"]
    return {name: _expanded(str(value), given) for name, value in merged.items()}


def _expanded(text: str, given: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        if set_ := given.get(found[1]):
            return set_
        if found[2] == "?":
            raise MissingVariableError(found[1])
        return found[3] or ""

    return _VARIABLE.sub(value, text)
