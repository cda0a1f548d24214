"""The code blocks of the documentation do what the pages say: each is executed or parsed."""

import configparser
import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import yaml

from tests import drawing, environments, make_documents
from tests.docs import markdown
from tests.docs.markdown import Block
from tests.house.source import ROOT
from tests.people import PASSWORD
from tests.serving.running import Server, serving

# One server for all pages.
pytestmark = pytest.mark.xdist_group("docs")

#: What a reader of the pages has.
FOLDERS = (
    "data", "invoices", "receipts", "mail/2026", "deploy", "backups", "docs", ".venv",
)  # fmt: skip
#: What a page may say about a block that is not executed.
REASONS = {
    "it needs Claude Code",
    "it needs Docker",
    "it needs root",
    "it needs a second machine",
    "it needs the code of an authenticator app",
    "it does not end",
    "it is what made this environment",
    "test_webhook_docs.py runs it",
    "test_company_guide.py runs it",
    "test_browser_examples.py runs it",
    "nginx reads it",
    "cron reads it",
}
BLOCKS = [block for path in markdown.pages() for block in markdown.blocks(path)]


def in_braces(text: str) -> None:
    """Parse JSON, or a part of an object."""
    json.loads(text if text.lstrip().startswith(("{", "[")) else f"{{{text}}}")


PARSERS: dict[str, Callable[[str], object]] = {
    "json": in_braces,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "ini": configparser.RawConfigParser(strict=False).read_string,
}


@dataclass(frozen=True, slots=True)
class Desk:
    """A running service, and a folder to work in as a reader of the pages does."""

    server: Server
    folder: Path

    def execute(self, command: list[str], text: str) -> str:
        """Run a program in the folder and return what it printed."""
        ran = subprocess.run(
            command, input=self.filled_in(text), capture_output=True, text=True, check=False,
            cwd=self.folder, env=self.environment(), timeout=300,
        )  # fmt: skip
        assert ran.returncode == 0, f"{text}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def filled_in(self, text: str) -> str:
        """Replace what the pages leave open."""
        given = {
            "http://127.0.0.1:8000": self.server.url,
            "sk_live_...": self.server.secret,
            '"password": "..."': f'"password": "{PASSWORD}"',
            "/backups/recibo-": f"{self.folder}/backups/recibo-",
        }
        for placeholder, value in given.items():
            text = text.replace(placeholder, value)
        return text.replace("rcp_...", self.receipt()) if "rcp_..." in text else text

    def receipt(self) -> str:
        """Upload a receipt that was not there yet, and return its id."""
        files = {"file": receipt_file()}
        answer = httpx.post(
            f"{self.server.url}/v1/extract", files=files, timeout=60,
            headers={"X-API-Key": self.server.secret},
        )  # fmt: skip
        answer.raise_for_status()
        found: str = answer.json()["id"]
        return found

    def environment(self) -> dict[str, str]:
        """Return the variables of a terminal."""
        with environments.with_settings(self.folder / "data", {}) as given:
            path = f"{self.folder}/.venv/bin{os.pathsep}{given['PATH']}"
            return given | {"PATH": path, "HOME": str(self.folder), "KEY": self.server.secret}


_numbers = itertools.count(1)


def receipt_file() -> bytes:
    """Print a receipt with a new number."""
    return drawing.pdf(make_documents.till_receipt(f"D-{next(_numbers)}").rows)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("docs")
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    (folder / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    (folder / "docs" / "pictures").symlink_to(ROOT / "docs" / "pictures")
    # A request that is refused is a failure.
    (folder / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")
    (folder / "lunch.jpg").write_bytes(
        drawing.encode(drawing.picture(make_documents.till_receipt("D-0").rows))
    )
    for name in ("invoices/one.pdf", "receipts/two.pdf", "mail/2026/three.pdf"):
        (folder / name).write_bytes(receipt_file())
    with serving(folder / "data", READERS="1") as server:
        body = {"email": "ana@example.com", "password": PASSWORD, "org_name": "Padaria Aurora"}
        httpx.post(f"{server.url}/v1/auth/signup", json=body, timeout=60).raise_for_status()
        yield Desk(server, folder)


def test_a_block_that_is_not_executed_has_a_known_reason() -> None:
    assert REASONS >= {block.reason for block in BLOCKS} - {""}
    assert {"sh", "python", *PARSERS} >= {one.language for one in BLOCKS if not one.reason}


@pytest.mark.parametrize(
    "block",
    [one for one in BLOCKS if one.language in PARSERS],
    ids=lambda one: f"{one.page}:{one.line}",
)
def test_settings_and_answers_can_be_parsed(block: Block) -> None:
    PARSERS[block.language](block.text)


@pytest.mark.parametrize(
    "page", sorted({one.page for one in BLOCKS if one.language == "sh" and not one.reason})
)
def test_commands_of_a_page_work(desk: Desk, page: str) -> None:
    # The commands of a page follow each other in one terminal.
    commands = [
        f"echo 'line {one.line}' >&2\n{one.text}"
        for one in BLOCKS
        if one.page == page and one.language == "sh" and not one.reason
    ]
    desk.execute(["bash", "-euo", "pipefail", "-s"], "\n".join(commands))


@pytest.mark.parametrize(
    "block",
    [one for one in BLOCKS if one.language == "python" and not one.reason],
    ids=lambda one: f"{one.page}:{one.line}",
)
def test_programs_print_what_was_read(desk: Desk, block: Block) -> None:
    assert re.search(r"\d+\.\d\d", desk.execute([sys.executable, "-"], block.text))
