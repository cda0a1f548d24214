"""The fitted weights of each field: `data/weights/FIELD.toml`, written by `training`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from recibo.extract import resources

_replaced: ContextVar[Mapping[str, Mapping[str, Any]]] = ContextVar(
    "_replaced", default=MappingProxyType({})
)


def weights(field: str) -> Mapping[str, Any]:
    """Return the weights of a field by feature."""
    return _replaced.get().get(field) or resources.table("weights", f"{field}.toml")


@contextmanager
def replaced(fields: Mapping[str, Mapping[str, Any]]) -> Iterator[None]:
    """Use other weights for some fields, as an evaluation does that leaves out a source."""
    token = _replaced.set({**_replaced.get(), **fields})
    try:
        yield
    finally:
        _replaced.reset(token)
