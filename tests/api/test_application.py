"""The documents of the interface: valid, whole and true."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from recibo.schemas.receipts import DetailedReceipt
from tests import make
from tests.installation import Installation, document


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The description of the interface, which needs none of the services behind it."""
    return document()


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the path, the method and the description of every operation."""
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def references(part: object) -> Iterator[str]:
    """Yield every reference within a part of the description."""
    if isinstance(part, dict):
        yield from (value for key, value in part.items() if key == "$ref")
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def resolved(schema: dict[str, Any], reference: str) -> object:
    """Return what a reference points to."""
    found: Any = schema
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return found


def test_every_reference_resolves(schema: dict[str, Any]) -> None:
    named = list(references(schema))

    assert named
    assert all(isinstance(resolved(schema, one), dict) for one in named)


def test_every_schema_is_used(schema: dict[str, Any]) -> None:
    used = {one.rpartition("/")[2] for one in references(schema) if "/schemas/" in one}

    assert used == set(schema["components"]["schemas"])


def test_version_and_operations_are_documented(schema: dict[str, Any]) -> None:
    result = [operation for _, _, operation in operations(schema)]

    assert ("0.1.0", "Recibo") == (schema["info"]["version"], schema["info"]["title"])
    assert schema["openapi"].startswith("3.1")
    assert len(result) == len({operation["operationId"] for operation in result})
    assert all(operation["summary"] and operation["tags"] for operation in result)


def test_every_v1_operation_documents_its_credential_and_errors(
    schema: dict[str, Any],
) -> None:
    credentials = Counter[str]()
    for path, _, operation in operations(schema):
        if path.startswith("/v1"):
            result = [name for one in operation.get("security", []) for name in one]
            credentials.update(result or ["none"])
            statuses = {"429", "500"} | ({"401"} if result else set())
            assert len(result) <= 1, path
            assert statuses <= set(operation["responses"]), path

    assert {"APIKeyHeader", "Session", "none"} == set(credentials)


def test_every_error_has_the_standard_schema(
    schema: dict[str, Any],
) -> None:
    for path, _, operation in operations(schema):
        for status, answer in operation["responses"].items():
            if path.startswith("/v1") and status >= "400":
                content = answer["content"]["application/json"]["schema"]
                assert {"$ref": "#/components/schemas/ErrorAnswer"} == content
    assert "HTTPValidationError" not in json.dumps(schema)


def test_upload_form_documents_its_fields(schema: dict[str, Any]) -> None:
    operation = schema["paths"]["/v1/extract"]["post"]
    form = operation["requestBody"]["content"]["multipart/form-data"]["schema"]

    assert ["file"] == form["required"]
    assert {"file", "accuracy", "type", "metadata", "webhook_url", "reread"} == set(
        form["properties"]
    )
    result = [one["name"] for one in operation["parameters"]]
    assert ["Idempotency-Key", "X-Session-Token"] == result


async def test_responses_match_the_documentation(reading_door: Installation) -> None:
    receipt = await reading_door.extracted(make.jpeg("document"))
    asked = {"include": "evidence,pages,reading,text"}
    detailed = (await reading_door.get(f"/receipts/{receipt['id']}", **asked)).json()

    schemas = document()["components"]["schemas"]
    assert set(schemas["Receipt"]["properties"]) == set(receipt)
    assert set(schemas["DetailedReceipt"]["properties"]) == set(detailed)
    assert set(schemas["OwnKey"]["properties"]) == set((await reading_door.get("/key")).json())
    assert set(schemas["ReceiptList"]["properties"]) == set(
        (await reading_door.get("/receipts")).json()
    )
    DetailedReceipt.model_validate(detailed, strict=False)


async def test_documentation_is_public(door: Installation) -> None:
    description = await door.stranger.get("/openapi.json")
    page = await door.stranger.get("/docs")

    assert door.asgi.openapi() == description.json()
    assert (200, "text/html") == (page.status_code, page.headers["content-type"].split(";")[0])
    assert "/openapi.json" in page.text
