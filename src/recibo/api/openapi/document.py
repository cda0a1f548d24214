"""Builds the OpenAPI document from the routes, the examples and the webhooks."""

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from recibo.api.openapi import error_examples, examples, webhooks
from recibo.api.openapi.tags import TAGS
from recibo.api.responses import MEANINGS

_JSON = "application/json"
_BUSY = {
    "description": MEANINGS[503],
    "content": {_JSON: {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}},
}
_FIRST_ERROR = 400


def build(app: FastAPI, base_url: str) -> dict[str, Any]:
    """Return the OpenAPI document of an app.

    Args:
        app: Its routes are described.
        base_url: The public address; empty when none is set.
    """
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        tags=TAGS,
        servers=_servers(base_url),
    )
    components = document["components"]
    for operation in _operations(document):
        _drop_framework_422(operation["responses"])
        # Any operation may find that the database is down.
        operation["responses"].setdefault("503", _BUSY)
        operation["responses"] = _with_examples(operation)
        _add_request_examples(operation)
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    components["examples"] = error_examples.COMPONENTS
    document["webhooks"] = webhooks.WEBHOOKS
    return document


def _servers(base_url: str) -> list[dict[str, Any]]:
    here = {"url": "/", "description": "The host that serves this document"}
    public = {"url": base_url, "description": "The public address"}
    return [public, here] if base_url else [here]


def _operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.values()


def _drop_framework_422(responses: dict[str, Any]) -> None:
    """Remove the framework's own 422; Recibo answers invalid requests with 400."""
    content = responses.get("422", {}).get("content", {}).get(_JSON, {})
    if content.get("schema", {}).get("$ref", "").endswith("/HTTPValidationError"):
        del responses["422"]


def _with_examples(operation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the responses of an operation, each JSON body with its examples."""
    answered = {}
    for status, response in operation["responses"].items():
        content = response.get("content", {})
        if _JSON not in content:
            answered[status] = response
            continue
        # Responses are shared between operations, so each gets a copy.
        named = _examples_of(operation, status)
        content = {**content, _JSON: {**content[_JSON], "examples": named}}
        answered[status] = {**response, "content": content}
    return answered


def _examples_of(operation: Mapping[str, Any], status: str) -> Mapping[str, Any]:
    name = operation["operationId"]
    if (name, status) in examples.OTHER_RESPONSES:
        return examples.OTHER_RESPONSES[name, status]
    if int(status) < _FIRST_ERROR:
        return examples.RESPONSES[name]
    return error_examples.of(operation, status)


def _add_request_examples(operation: dict[str, Any]) -> None:
    content = operation.get("requestBody", {}).get("content", {})
    if _JSON in content:
        content[_JSON]["examples"] = examples.REQUESTS[operation["operationId"]]
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            parameter["example"] = examples.PATH_PARAMETERS[parameter["name"]]
