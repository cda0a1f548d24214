"""The stored JSON of readings: versioned, so that old rows stay readable.

A new field that is nullable, a list or has a default needs no change here: it is filled in where it
is missing. A field that is renamed or changes its meaning needs a new version and a migration step.
"""

import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

#: The current version. Rows without a version have version 0.
VERSION = 1
_KEY = "schema_version"
# From each version to the next one.
_STEPS: Sequence[Callable[[dict[str, Any]], dict[str, Any]]] = (
    # Version 1 only adds the version number.
    dict,
)


def dump(shape: BaseModel) -> dict[str, Any]:
    """Return the stored form of a model."""
    return {**shape.model_dump(mode="json"), _KEY: VERSION}


def load(shape: type[BaseModel], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Upgrade stored values of any version to the fields of the model."""
    values = dict(stored)
    for step in _STEPS[values.pop(_KEY, 0) :]:
        values = step(values)
    return _filled(shape, values)


def _filled(shape: type[BaseModel], values: dict[str, Any]) -> dict[str, Any]:
    filled = dict(values)
    for name, inner in _shapes_in(shape).items():
        if (value := values.get(name)) is None:
            continue
        if isinstance(value, dict):
            filled[name] = _filled(inner, value)
        else:
            filled[name] = [_filled(inner, one) for one in value]
    fields = _fields(shape)
    for name in fields.keys() - values.keys():
        field = fields[name]
        if field.is_required():
            filled |= _missing(name, field.annotation)
        else:
            filled[name] = field.get_default(call_default_factory=True)
    return filled


def _missing(name: str, annotation: Any) -> dict[str, Any]:
    if get_origin(annotation) in (tuple, list):
        return {name: []}
    # Anything else is left out, and validation reports it.
    return {name: None} if type(None) in get_args(annotation) else {}


# Pydantic looks them up again each time.
@cache
def _fields(shape: type[BaseModel]) -> Mapping[str, FieldInfo]:
    return shape.model_fields


@cache
def _shapes_in(shape: type[BaseModel]) -> Mapping[str, type[BaseModel]]:
    """Return the fields that hold models, with these."""
    found = {name: _shape_in(field.annotation) for name, field in shape.model_fields.items()}
    return {name: inner for name, inner in found.items() if inner is not None}


def _shape_in(annotation: Any) -> type[BaseModel] | None:
    """Return the model of a value, a nullable value or a list's values."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (tuple, list, Union, types.UnionType):
        found = (_shape_in(one) for one in get_args(annotation))
        return next((one for one in found if one is not None), None)
    return None
