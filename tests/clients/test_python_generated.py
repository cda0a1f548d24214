"""The Python client has what the API has."""

import inspect
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from pydantic import BaseModel, TypeAdapter

from clients import generate
from recibo.errors import ServiceError
from recibo_client import _calls, errors, models, params

# Only people who sign in get these.
_OF_SESSIONS = {"authentication_failed", "cross_site_request", "signup_closed"}
_MESSAGE = "run `make clients`, and adapt the client"

Operation: TypeAlias = dict[str, Any]


@pytest.fixture(scope="module")
def operations() -> dict[str, Operation]:
    return generate.operations()


def test_models_are_those_of_the_document(tmp_path: Path) -> None:
    generate.write_models(tmp_path / "models.py")

    assert (generate.PACKAGE / "models.py").read_text() == (tmp_path / "models.py").read_text(), (
        _MESSAGE
    )


def test_synchronous_client_is_generated_from_the_asynchronous_one(tmp_path: Path) -> None:
    generate.write_synchronous(tmp_path)

    assert _texts(generate.PACKAGE / "_sync") == _texts(tmp_path), _MESSAGE


def test_client_has_exactly_the_operations_that_take_a_key(operations: dict[str, Any]) -> None:
    calls = {
        name
        for name, function in vars(_calls).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and function.__module__ == _calls.__name__
    }

    assert operations.keys() == calls


def test_filters_are_the_parameters_of_lists(operations: dict[str, Operation]) -> None:
    own = {"limit", "cursor", "format", "rows"}
    for name in ("list_receipts", "export_receipts"):
        parameters = {one["name"] for one in operations[name]["parameters"] if one["in"] == "query"}

        assert set(params.Filters.__annotations__) == {
            one.removesuffix(".<key>") for one in parameters - own
        }


def test_corrections_are_the_fields_of_the_request(operations: dict[str, Operation]) -> None:
    body = operations["update_receipt"]["requestBody"]["content"]["application/json"]

    assert set(params.Correction.__annotations__) == set(body["schema"]["properties"])


def test_each_code_has_its_error() -> None:
    classes = {one.CODE for one in errors.classes()}

    assert _codes(ServiceError) - _OF_SESSIONS == classes


@pytest.mark.parametrize(
    ("operation", "model"),
    [
        ("extract_receipt", models.Receipt),
        ("get_receipt", models.Receipt),
        ("list_receipts", models.ReceiptList),
        ("update_receipt", models.Receipt),
        ("get_own_key", models.OwnKey),
        ("list_webhook_events", models.EventList),
    ],
)
def test_models_take_the_documented_examples(
    operation: str, model: type[BaseModel], operations: dict[str, Operation]
) -> None:
    examples = operations[operation]["responses"]["200"]["content"]["application/json"]["examples"]

    assert examples
    for example in examples.values():
        read = TypeAdapter(model).validate_python(example["value"], strict=False)
        written = read.model_dump(mode="json", exclude_unset=True)

        assert _comparable(example["value"]) == _comparable(written)


def _comparable(value: Any) -> Any:
    """Return JSON with times as pydantic writes them."""
    if isinstance(value, dict):
        return {name: _comparable(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_comparable(one) for one in value]
    return value.replace("+00:00", "Z") if isinstance(value, str) else value


def _codes(base: type[ServiceError]) -> set[str]:
    return {base.code}.union(*(_codes(one) for one in base.__subclasses__()))


def _texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.py")}
