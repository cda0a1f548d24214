"""What reading gives, as it is stored: with the version of its form, and readable ever after.

A new field that may be null or is a list needs nothing here: where it is missing, it is filled. A
field that is renamed or changes its meaning raises the version and adds a step.
"""

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

#: Of what is written today. Rows of before there were versions have none, which is 0.
VERSION = 1
_KEY = "schema_version"
# From each version to the next one.
_STEPS: Sequence[Callable[[dict[str, Any]], dict[str, Any]]] = (
    # The first version only says so.
    dict,
)


def dumped(shape: BaseModel) -> dict[str, Any]:
    """Return a shape as it is stored."""
    return {**shape.model_dump(mode="json"), _KEY: VERSION}


def loaded(shape: type[BaseModel], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was stored by any version, with all fields that the shape has now."""
    values = dict(stored)
    for step in _STEPS[values.pop(_KEY, 0) :]:
        values = step(values)
    return _filled(shape, values)


def _filled(shape: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    filled = dict(values)
    for name, field in shape.model_fields.items():
        if name in values:
            filled[name] = _filled_value(field.annotation, values[name])
        elif field.is_required():
            filled |= _missing(name, field.annotation)
    return filled


def _filled_value(annotation: Any, value: Any) -> Any:
    shape = _shape_in(annotation)
    if shape is None or value is None:
        return value
    if isinstance(value, Mapping):
        return _filled(shape, value)
    return [_filled(shape, one) for one in value]


def _missing(name: str, annotation: Any) -> dict[str, Any]:
    if get_origin(annotation) in (tuple, list):
        return {name: []}
    # Anything else is left out, and the shape says what it lacks.
    return {name: None} if type(None) in get_args(annotation) else {}


def _shape_in(annotation: Any) -> type[BaseModel] | None:
    """Return the shape of a value, of one that may be null, or of a list's values."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (tuple, list, Union, types.UnionType):
        found = (_shape_in(one) for one in get_args(annotation))
        return next((one for one in found if one is not None), None)
    return None
