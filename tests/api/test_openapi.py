"""The OpenAPI document: what SDK generators and readers of `/docs` need is there and is right."""

import re
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from openapi_schema_validator import OAS31Validator, oas31_format_checker
from openapi_spec_validator import OpenAPIV31SpecValidator

from recibo.api import application
from recibo.schemas.states import EventType
from tests.installation import Installation

if TYPE_CHECKING:
    from recibo.web.services import Services

_JSON = "application/json"
_VERB_NOUN = re.compile(r"[a-z]+(_[a-z]+)+")
# SDKs derive their method names from these, so they never change.
_STABLE = {
    ("/v1/extract", "post"): "extract_receipt",
    ("/v1/receipts", "get"): "list_receipts",
    ("/v1/receipts/{receipt_id}", "get"): "get_receipt",
    ("/v1/receipts/{receipt_id}", "delete"): "delete_receipt",
    ("/v1/receipts/{receipt_id}/file", "get"): "get_receipt_file",
    ("/v1/api-keys", "post"): "create_key",
    ("/v1/api-keys", "get"): "list_keys",
    ("/v1/api-keys/{key_id}", "delete"): "revoke_key",
    ("/v1/org/members", "post"): "invite_member",
    ("/v1/webhooks/events", "get"): "list_webhook_events",
}


def document_at(base_url: str) -> dict[str, Any]:
    """Return the document of a service with a public address; it needs nothing else of it."""
    services = cast("Services", SimpleNamespace(base_url=base_url))
    return application.create_app(services).openapi()


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The document of a service without a public address."""
    return document_at("")


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every operation with a name for messages; webhooks, too."""
    for part in ("paths", "webhooks"):
        for path, methods in document[part].items():
            for method, operation in methods.items():
                yield f"{method} {path}", operation


def json_bodies(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the JSON media types of all requests, responses and errors."""
    for name, operation in operations(document):
        request = operation.get("requestBody", {}).get("content", {})
        if _JSON in request:
            yield f"{name} request", request[_JSON]
        for status, response in operation["responses"].items():
            if _JSON in response.get("content", {}):
                yield f"{name} {status}", response["content"][_JSON]


def example_values(document: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the values of a body's examples."""
    for example in body["examples"].values():
        shared = document["components"]["examples"]
        name = example.get("$ref", "").removeprefix("#/components/examples/")
        yield (shared[name] if name else example)["value"]


def problems(document: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the examples of a body."""
    schema = {**body["schema"], "components": document["components"]}
    validator = OAS31Validator(schema, format_checker=oas31_format_checker)
    for value in example_values(document, body):
        yield from (error.message for error in validator.iter_errors(value))


def test_document_is_valid_openapi(document: dict[str, Any]) -> None:
    OpenAPIV31SpecValidator(document).validate()


def test_every_operation_has_a_unique_verb_noun_id(document: dict[str, Any]) -> None:
    named = [operation["operationId"] for _, operation in operations(document)]

    assert [] == [one for one in named if not _VERB_NOUN.fullmatch(one)]
    assert len(named) == len(set(named))


def test_operation_ids_are_stable(document: dict[str, Any]) -> None:
    for (path, method), name in _STABLE.items():
        assert name == document["paths"][path][method]["operationId"]


def test_every_operation_has_a_summary_a_description_and_a_described_tag(
    document: dict[str, Any],
) -> None:
    described = {tag["name"] for tag in document["tags"] if tag["description"]}
    used = set()
    for name, operation in operations(document):
        assert operation["summary"], name
        assert operation["description"], name
        assert set(operation["tags"]) <= described, name
        used |= set(operation["tags"])

    assert described == used


def test_every_json_body_has_examples(document: dict[str, Any]) -> None:
    bodies = dict(json_bodies(document))

    assert len(bodies) > 400
    assert [] == [name for name, body in bodies.items() if not body.get("examples")]


def test_examples_are_valid_by_their_schemas(document: dict[str, Any]) -> None:
    wrong = {name: list(problems(document, body)) for name, body in json_bodies(document)}

    assert {} == {name: messages for name, messages in wrong.items() if messages}


def test_an_example_with_an_unknown_status_is_found(document: dict[str, Any]) -> None:
    body = document["paths"]["/v1/receipts/{receipt_id}"]["get"]["responses"]["200"]["content"]
    receipt = {**body[_JSON]["examples"]["completed"]["value"], "status": "almost"}
    changed = {**body[_JSON], "examples": {"wrong": {"value": receipt}}}

    assert any("almost" in message for message in problems(document, changed))


def test_every_shared_example_is_used(document: dict[str, Any]) -> None:
    used = {
        example["$ref"].rpartition("/")[2]
        for _, body in json_bodies(document)
        for example in body["examples"].values()
        if "$ref" in example
    }

    assert set(document["components"]["examples"]) == used


def test_every_path_parameter_has_an_example(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        for parameter in operation.get("parameters", ()):
            assert parameter["in"] != "path" or parameter["example"], name


def test_every_event_type_is_a_webhook(document: dict[str, Any]) -> None:
    assert [event.value for event in EventType] == list(document["webhooks"])


def test_webhook_names_its_signature_headers(document: dict[str, Any]) -> None:
    operation = document["webhooks"]["receipt.completed"]["post"]

    headers = [parameter["name"] for parameter in operation["parameters"]]
    assert ["webhook-id", "webhook-timestamp", "webhook-signature"] == headers


def test_webhook_of_another_type_is_refused_by_the_schema(document: dict[str, Any]) -> None:
    content = document["webhooks"]["receipt.failed"]["post"]["requestBody"]["content"][_JSON]
    other = document["webhooks"]["webhook.test"]["post"]["requestBody"]["content"][_JSON]

    assert list(problems(document, {**content, "examples": other["examples"]}))


def test_server_is_the_host_of_the_document(document: dict[str, Any]) -> None:
    assert ["/"] == [server["url"] for server in document["servers"]]


def test_first_server_is_the_public_address_where_there_is_one() -> None:
    servers = document_at("https://recibo.example.com")["servers"]

    assert ["https://recibo.example.com", "/"] == [server["url"] for server in servers]


async def test_error_examples_have_the_fields_of_real_errors(door: Installation) -> None:
    paths = door.asgi.openapi()["paths"]
    too_many = await door.get("/receipts", limit="999")
    unknown = await door.stranger.get("/v1/auth/me")

    for answer, path, name in (
        (too_many, "/v1/receipts", "validation_error"),
        (unknown, "/v1/auth/me", "no_session"),
    ):
        response = paths[path]["get"]["responses"][str(answer.status_code)]
        assert name in response["content"][_JSON]["examples"]
        (first, *_) = example_values(door.asgi.openapi(), response["content"][_JSON])
        assert set(first["error"]) == set(answer.json()["error"])
