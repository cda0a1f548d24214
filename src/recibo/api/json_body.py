"""JSON bodies, read after all guards of a route.

The framework reads a declared body before it runs any dependency: a caller without a credential
could make the service read a megabyte, and would get its spelling mistakes instead of 401.
"""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from recibo.api import validation_errors
from recibo.errors import Overloaded, ValidationFailed
from recibo.web.services import services_of

Model = TypeVar("Model", bound=BaseModel)

_MAX_BYTES = 1024 * 1024
# The number of bodies up to this size is not limited; real ones are rarely larger.
_SMALL_BYTES = 64 * 1024
_JSON = "application/json"


def json_body(model: type[Model]) -> Callable[[Request], Awaitable[Model]]:
    """Return a dependency that parses the body; declare it after the guards."""

    async def read(request: Request) -> Model:
        return await _read(request, model)

    return read


def optional_json_body(model: type[Model]) -> Callable[[Request], Awaitable[Model]]:
    """Return the same for an optional body: without one the model has its defaults."""

    async def read(request: Request) -> Model:
        return await _read(request, model, is_optional=True)

    return read


def documented(model: type[BaseModel], *, required: bool = True) -> dict[str, Any]:
    """Return the `openapi_extra` that documents a body."""
    schema = model.model_json_schema()
    schema = _inlined(schema, schema.pop("$defs", {}))
    return {"requestBody": {"required": required, "content": {_JSON: {"schema": schema}}}}


def _inlined(node: Any, definitions: Mapping[str, Any]) -> Any:
    """Replace references with their definitions; they would not resolve in the document."""
    if isinstance(node, list):
        return [_inlined(one, definitions) for one in node]
    if not isinstance(node, dict):
        return node
    rest = {name: _inlined(one, definitions) for name, one in node.items() if name != "$ref"}
    if "$ref" not in node:
        return rest
    return {**_inlined(definitions[node["$ref"].rpartition("/")[2]], definitions), **rest}


async def _read(request: Request, model: type[Model], *, is_optional: bool = False) -> Model:
    text = await text_of(request)
    if is_optional and not text.strip():
        return model()
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != _JSON:
        raise ValidationFailed.of("Content-Type", f"is not {_JSON}")
    try:
        return model.model_validate(_parsed(text))
    except ValidationError as e:
        errors = e.errors(include_url=False)
        raise validation_errors.fields(errors) from None


async def text_of(request: Request) -> bytes:
    """Return the raw body.

    Raises:
        ValidationFailed: it is larger than 1 MB.
        Overloaded: it is large, and too many other large ones are arriving.
    """
    services = await services_of(request)
    body = bytearray()
    async with AsyncExitStack() as large:
        async for chunk in request.stream():
            was_small = len(body) <= _SMALL_BYTES
            body += chunk
            if len(body) > _MAX_BYTES:
                raise ValidationFailed.of("body", "is larger than 1 MB; send less")
            if was_small and len(body) > _SMALL_BYTES:
                if services.large_bodies.locked():
                    raise Overloaded(retry_after=1)
                await large.enter_async_context(services.large_bodies)
    return bytes(body)


def _parsed(text: bytes) -> Any:
    try:
        parsed = json.loads(text.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ValidationFailed.of("body", "is not valid JSON in UTF-8") from None
    for one in _strings(parsed):
        if "\0" in one:
            raise ValidationFailed.of("body", "holds a NUL character; leave it out")
        if not _is_encodable(one):
            raise ValidationFailed.of("body", "holds half of a surrogate pair; leave it out")
    return parsed


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    # RFC 8259 has neither NaN nor Infinity; Python's parser accepts both.
    raise ValueError(name)


def _strings(value: Any) -> Iterator[str]:
    """Yield every string of parsed JSON; without recursion, as it may be nested deeply."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            left += one.keys()
            left += one.values()
