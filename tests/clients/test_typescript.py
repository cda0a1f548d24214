"""The TypeScript client compiles with types of this API, and works under Node."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from clients import generate
from tests import environments
from tests.clients import test_client_docs
from tests.house import source
from tests.make import jpeg
from tests.serving.running import Server

PROJECT = source.ROOT / "clients" / "typescript"
# One process builds it, for all tests.
pytestmark = pytest.mark.xdist_group("typescript")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client, with types generated from the present API and compiled."""
    folder = tmp_path_factory.mktemp("typescript") / "client"
    generated = shutil.ignore_patterns("node_modules", "build", "openapi.json", "schema.ts")
    shutil.copytree(PROJECT, folder, ignore=generated)
    # `make dev` has installed them.
    (folder / "node_modules").symlink_to(PROJECT / "node_modules")
    (folder / "openapi.json").write_text(generate.document_text(), encoding="utf-8")
    [example] = test_client_docs.blocks("docs/clients.md", "ts")
    (folder / "test" / "example.ts").write_text(example, encoding="utf-8")
    [short] = test_client_docs.blocks("clients/typescript/README.md", "ts")
    (folder / "test" / "short.ts").write_text(short, encoding="utf-8")
    _run(["node", "generate.js"], folder)
    _run(["node_modules/.bin/tsc"], folder)
    return folder


def test_client_works_under_node(built: Path, server: Server) -> None:
    report = _run(
        ["node", "--test", "--test-reporter=tap", "build/test/receipts.js"],
        built,
        RECIBO_URL=server.url,
        RECIBO_API_KEY=server.secret,
    )

    assert "# pass 2\n" in report
    assert "# fail 0\n" in report


@pytest.mark.parametrize(("name", "prints"), [("example", "rcp_"), ("short", "")])
def test_documented_examples_work(built: Path, server: Server, name: str, prints: str) -> None:
    # The examples name the address of a server on the same machine.
    program = built / "build" / "test" / f"{name}.js"
    text = program.read_text().replace("http://127.0.0.1:8000", server.url)
    program.write_text(text.replace("sk_live_...", server.secret))
    (built / "lunch.jpg").write_bytes(jpeg("typescript example"))

    printed = _run(["node", f"build/test/{name}.js"], built, RECIBO_API_KEY=server.secret)

    assert "typescript example" in printed
    assert prints in printed


def test_types_have_all_operations(built: Path) -> None:
    schema = (built / "src" / "schema.ts").read_text(encoding="utf-8")

    for name in generate.operations():
        assert f"    {name}: {{" in schema


def test_lock_has_hashes_and_no_registry() -> None:
    packages = json.loads((PROJECT / "package-lock.json").read_text())["packages"]

    assert [] == [name for name, one in packages.items() if name and "integrity" not in one]
    assert [] == [name for name, one in packages.items() if "resolved" in one]


def _run(command: list[str], folder: Path, **variables: str) -> str:
    with environments.with_variables(variables) as environment:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
