"""The documentation lists every route, setting, command and error code."""

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from recibo import errors
from recibo.api import application
from recibo.settings import Settings
from tests.house import source

if TYPE_CHECKING:
    from recibo.web.services import Services

API = (source.ROOT / "docs" / "api.md").read_text(encoding="utf-8")
SELF_HOSTING = (source.ROOT / "docs" / "self-hosting.md").read_text(encoding="utf-8")


def test_docs_list_exactly_the_settings() -> None:
    table = set(re.findall(r"^\| `(RECIBO_\w+)`", SELF_HOSTING, re.MULTILINE))

    assert {f"RECIBO_{name.upper()}" for name in Settings.model_fields} == table


def test_docs_name_no_unknown_setting() -> None:
    of_clients = {"RECIBO_API_KEY", "RECIBO_URL"}
    known = {f"RECIBO_{name.upper()}" for name in Settings.model_fields} | of_clients
    named = {
        name
        for path in _documents()
        for name in re.findall(r"RECIBO_[A-Z_]+", path.read_text(encoding="utf-8"))
    }

    assert set() == named - known


def test_docs_list_exactly_the_routes() -> None:
    table = set(re.findall(r"^\| \[`([A-Z]+ /\S+)`\]", API, re.MULTILINE))

    assert _routes() == table


def test_docs_list_exactly_the_errors() -> None:
    table = set(re.findall(r"^\| (\d{3}) \| `(\w+)` \|", API, re.MULTILINE))

    assert {(str(error.status), error.code) for error in _errors(errors.ServiceError)} == table


def test_every_query_parameter_and_form_field_is_documented() -> None:
    names = {
        parameter["name"]
        for operations in _schema()["paths"].values()
        for operation in operations.values()
        for parameter in operation.get("parameters", [])
    }

    assert set() == {name for name in names if f"`{name}`" not in API and f"{{{name}}}" not in API}


def test_docs_list_exactly_the_commands() -> None:
    table = set(re.findall(r"^\| `recibo ([a-z][a-z0-9 -]*[a-z0-9])", SELF_HOSTING, re.MULTILINE))
    operators = {f"admin {command}" for command in _commands("admin")}

    assert (_commands() - {"admin"}) | operators == table


def test_command_line_prints_the_version_of_the_api() -> None:
    printed = _recibo("--version")

    assert f"recibo {_schema()['info']['version']}\n" == printed


def _commands(*group: str) -> set[str]:
    """Return the commands that a help text lists."""
    return set(re.findall(r"^    ([a-z0-9-]+)(?: |$)", _recibo(*group, "--help"), re.MULTILINE))


def _recibo(*arguments: str) -> str:
    command = [sys.executable, "-m", "recibo", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _documents() -> list[Path]:
    return [source.ROOT / "README.md", *sorted((source.ROOT / "docs").rglob("*.md"))]


def _schema() -> dict[str, Any]:
    # The OpenAPI document needs no services.
    app = application.create_app(cast("Services", None))
    return app.openapi()


def _routes() -> set[str]:
    return {
        f"{method.upper()} {path}"
        for path, operations in _schema()["paths"].items()
        for method in operations
    }


def _errors(base: type[errors.ServiceError]) -> set[type[errors.ServiceError]]:
    below = {one for child in base.__subclasses__() for one in _errors(child)}
    return {base} | below
