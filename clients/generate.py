"""Generates what the clients have of the API: `python -m clients.generate`, or `make clients`.

- the models of clients/python, by datamodel-code-generator, from the OpenAPI document
- its synchronous half from the asynchronous one, by unasync
- the document itself, from which clients/typescript generates its types
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import unasync

from recibo.api import application

if TYPE_CHECKING:
    from recibo.web.services import Services

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "clients" / "python" / "src" / "recibo_client"
DOCUMENT = ROOT / "clients" / "typescript" / "openapi.json"

#: A part of a JSON document.
Node: TypeAlias = Any

_SECURITY = "APIKeyHeader"
# The client has one class for both: the fields that `include` adds are optional.
_SAME = {"Receipt": "DetailedReceipt"}
# The client needs no titles, and examples are in the reference.
_OMITTED = ("title", "examples", "example")

_HEADER = '"""The JSON of the API, generated from its OpenAPI document: see clients/generate.py."""'
_MODEL_OPTIONS = (
    "--input-file-type=openapi",
    "--output-model-type=pydantic_v2.BaseModel",
    # Without the operators of newer versions, this is also Python 3.9.
    "--target-python-version=3.10",
    "--no-use-union-operator",
    "--no-use-standard-collections",
    "--enum-field-as-literal=all",
    "--use-type-alias",
    "--use-annotated",
    "--strict-nullable",
    "--use-schema-description",
    "--use-field-description",
    "--use-tuple-for-fixed-items",
    "--use-double-quotes",
    "--keep-model-order",
    "--disable-timestamp",
    "--formatters=builtin",
    f"--custom-file-header={_HEADER}",
)

# Beyond what unasync replaces anyway.
_SYNCHRONOUS = {
    "AsyncClient": "Client",
    "AsyncConnection": "Connection",
    "AsyncEvents": "Events",
    "AsyncReceipts": "Receipts",
    "AsyncRecibo": "Recibo",
    "aclose": "close",
    "anyio": "time",
    "aiter_bytes": "iter_bytes",
    "aread": "read",
    "in_thread": "directly",
    "run_workers": "run_threads",
    "_async": "_sync",
}


def main() -> None:
    """Write everything that is generated."""
    DOCUMENT.write_text(document_text(), encoding="utf-8")
    write_models(PACKAGE / "models.py")
    write_synchronous(PACKAGE / "_sync")


def document() -> dict[str, Node]:
    """Return the OpenAPI document."""
    # It needs no services.
    return application.create_app(cast("Services", None)).openapi()


def document_text() -> str:
    """Return the OpenAPI document as JSON."""
    return json.dumps(document(), ensure_ascii=False, indent=1)


def operations() -> dict[str, Node]:
    """Return the operations that take an API key, by their ids."""
    return {
        operation["operationId"]: operation
        for methods in document()["paths"].values()
        for operation in methods.values()
        if any(_SECURITY in one for one in operation.get("security", ()))
    }


def write_models(path: Path) -> None:
    """Generate the models of clients/python."""
    with tempfile.TemporaryDirectory() as folder:
        described = Path(folder, "openapi.json")
        described.write_text(json.dumps(models_document()), encoding="utf-8")
        generator = [sys.executable, "-m", "datamodel_code_generator"]
        files = [f"--input={described}", f"--output={path}"]
        subprocess.run([*generator, *files, *_MODEL_OPTIONS], check=True, cwd=ROOT)
    _formatted(path)


def write_synchronous(folder: Path) -> None:
    """Generate the synchronous half of clients/python."""
    sources = sorted(str(path) for path in (PACKAGE / "_async").glob("*.py"))
    rule = unasync.Rule(str(PACKAGE / "_async"), str(folder), additional_replacements=_SYNCHRONOUS)
    unasync.unasync_files(sources, rules=[rule])
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        for asynchronous, synchronous in (
            ("The client for asyncio and trio. `_sync` is", "The client without asyncio,"),
            ("generated from these files", "generated from `_async`"),
            ("aclose()", "close()"),
            ("async with", "with"),
        ):
            text = text.replace(asynchronous, synchronous)
        path.write_text(text, encoding="utf-8")
    _formatted(folder)


def models_document() -> dict[str, Node]:
    """Return the schemas that operations with an API key use, open to what later releases add."""
    whole = document()
    schemas = whole["components"]["schemas"]
    schemas["WebhookEvent"]["properties"]["data"] = {"$ref": "#/components/schemas/EventData"}
    schemas["EventData"] = _event_data(whole["webhooks"])
    for name, detailed in _SAME.items():
        schemas[name] = {**schemas[detailed], "description": schemas[name]["description"]}
        del schemas[detailed]
    used = dict[str, Node]()
    _collect(list(operations().values()), schemas, used)
    return {
        "openapi": whole["openapi"],
        "info": whole["info"],
        "paths": {},
        "components": {"schemas": dict(sorted(used.items()))},
    }


def _event_data(webhooks: Node) -> Node:
    """Return a schema with all that the events of any type have in `data`; each may be missing."""
    properties = {
        name: {"anyOf": [schema, {"type": "null"}]}
        for methods in webhooks.values()
        for name, schema in _data_of(methods).items()
    }
    description = "What happened, by the type of the event; the rest is None."
    return {"type": "object", "description": description, "properties": properties}


def _data_of(methods: Node) -> dict[str, Node]:
    body = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
    found: dict[str, Node] = body["allOf"][1]["properties"]["data"].get("properties", {})
    return found


def _collect(node: Node, schemas: dict[str, Node], used: dict[str, Node]) -> None:
    """Add the schemas to which a part of the document refers, and those to which they refer."""
    renamed = {detailed: name for name, detailed in _SAME.items()}
    for found in _references(node):
        name = renamed.get(found, found)
        if name not in used:
            used[name] = _relaxed(schemas[name], schemas)
            _collect(schemas[name], schemas, used)


def _references(node: Node) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node and "/schemas/" in node["$ref"]:
            yield node["$ref"].rpartition("/")[2]
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            yield from _references(part)


def _relaxed(node: Node, schemas: dict[str, Node]) -> Node:
    """Return a schema that also admits values and lacks fields of other releases."""
    if isinstance(node, list):
        return [_relaxed(part, schemas) for part in node]
    if not isinstance(node, dict):
        return node
    relaxed = {
        name: _relaxed(value, schemas)
        for name, value in node.items()
        if name not in _OMITTED or name in node.get("properties", ())
    }
    if "properties" in relaxed:
        _let_fields_be_missing(relaxed)
    target = schemas.get(node.get("$ref", "").rpartition("/")[2], {})
    if "enum" in target:
        # Lists grow; a client that refuses a new value would break.
        relaxed["anyOf"] = [{"$ref": relaxed.pop("$ref")}, {"type": "string"}]
    return relaxed


def _let_fields_be_missing(schema: Node) -> None:
    """Let what may be `null` or empty be missing: an older server or event does not have it."""
    for name, field in schema["properties"].items():
        kinds = [field, *field.get("anyOf", ())]
        if any(kind.get("type") == "null" for kind in kinds):
            field["default"] = None
        elif field.get("type") == "array":
            field["default"] = []
        else:
            continue
        schema["required"] = [one for one in schema.get("required", ()) if one != name]


def _formatted(path: Path) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    config = ["--config", str(ROOT / "clients" / "python" / "pyproject.toml"), "-q"]
    for action in (["check", "--fix", "--exit-zero", "--select", "I,F401"], ["format"]):
        subprocess.run([*ruff, *action, *config, str(path)], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
