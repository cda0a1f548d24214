"""The tools and resources of `recibo mcp`, called by the SDK's own client."""

import base64
import os
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import DocumentType, Extracted, Receipt, SeenPage
from recibo.mcp import server
from recibo.mcp.folders import Folders
from recibo.mcp.local import LocalReceipts

CAFE = b"Cafe"


class Agent:
    """A client of a server over a folder. Each call connects again."""

    def __init__(self, made: MCPServer, folder: Path, reader: FakeReader) -> None:
        self.made, self.folder, self.reader = made, folder, reader

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool that succeeds."""
        async with Client(self.made) as client:
            answer = await client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        found = answer.structured_content
        assert isinstance(found, dict)
        return found

    async def refused(self, tool: str, **arguments: object) -> str:
        """Call a tool that fails, and return why."""
        async with Client(self.made) as client:
            answer = await client.call_tool(tool, arguments)
        assert answer.is_error
        return str(answer.content)

    async def page(self, receipt_id: str, number: int | str) -> bytes | str:
        """Return the content of a page, or why there is none."""
        uri = f"receipt://{receipt_id}/pages/{number}"
        async with Client(self.made) as client:
            try:
                answer = await client.read_resource(uri)
            except MCPError as e:
                return str(e)
        (content,) = answer.contents
        assert "image/webp" == content.mime_type
        return base64.b64decode(getattr(content, "blob", ""))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jpg").write_bytes(CAFE)
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    return tmp_path / "in"


@pytest.fixture
def reader() -> FakeReader:
    pages = (SeenPage(width=10, height=20, turns=0),)
    found = Receipt(
        Extracted(DocumentType.RECEIPT, 1.0, ""),
        Extracted("Cafe", 1.0, "Cafe"),
        confidence=0.9,
        pages=pages,
    )
    return FakeReader({CAFE: found})


@pytest.fixture
def agent(folder: Path, reader: FakeReader, tmp_path: Path) -> Agent:
    folders = Folders.of([folder])
    stored = LocalReceipts(tmp_path / "store", folders, reader)
    return Agent(server.build(stored, folders, allows_writes=True), folder, reader)


async def test_document_is_read_once_and_found_again(agent: Agent) -> None:
    first = await agent.call("extract_receipt", path="a.jpg")
    again = await agent.call("extract_receipt", path=str(agent.folder / "a.jpg"))

    assert "Cafe" == first["merchant_name"]
    assert first == again
    assert [CAFE] == agent.reader.seen
    assert first["id"] == (await agent.call("get_receipt", receipt_id=first["id"]))["id"]


async def test_readings_are_closed_to_other_users(agent: Agent, tmp_path: Path) -> None:
    await agent.call("extract_receipt", path="a.jpg")

    assert 0o700 == (tmp_path / "store").stat().st_mode & 0o777


async def test_document_in_a_message_is_read(agent: Agent) -> None:
    content = base64.b64encode(b"Bar").decode()
    found = await agent.call("extract_receipt", content_base64=content, filename="../b.jpg")

    assert ("Bar", "..-b.jpg") == (found["merchant_name"], found["file"])


@pytest.mark.parametrize(
    "path", ["../secret.jpg", "link.jpg", "up/secret.jpg", "/etc/passwd", "none.jpg", "pipe", ".",
             "a\0.jpg", "self", "x" * 5000],
)  # fmt: skip
async def test_only_files_in_allowed_folders_are_read(agent: Agent, path: str) -> None:
    (agent.folder / "link.jpg").symlink_to(agent.folder.parent / "secret.jpg")
    (agent.folder / "up").symlink_to(agent.folder.parent)
    (agent.folder / "self").symlink_to("self")
    os.mkfifo(agent.folder / "pipe")

    assert "no such file in the allowed folders" in await agent.refused(
        "extract_receipt", path=path
    )
    assert [] == agent.reader.seen


async def test_link_within_the_folders_is_followed(agent: Agent) -> None:
    (agent.folder / "link.jpg").symlink_to("a.jpg")

    found = await agent.call("extract_receipt", path="link.jpg")
    assert str(agent.folder / "a.jpg") == found["file"]


async def test_wrong_arguments_say_what_is_wrong(agent: Agent) -> None:
    assert "either" in await agent.refused("extract_receipt")
    assert "Base64" in await agent.refused("extract_receipt", content_base64="%%%")
    assert "Base64" in await agent.refused("extract_receipt", content_base64="ção")
    assert "no such receipt" in await agent.refused("get_receipt", receipt_id="../../etc/passwd")


async def test_page_is_a_picture(agent: Agent) -> None:
    found = await agent.call("extract_receipt", path="a.jpg")

    assert b"page 1 turned 0 width None" == await agent.page(found["id"], 1)
    for number in 2, 0, "-1", "x", "9" * 20:
        assert "There is no such page." == await agent.page(found["id"], number)


async def test_receipts_of_folders_that_another_agent_has_are_hidden(
    agent: Agent, tmp_path: Path
) -> None:
    made = await agent.call("extract_receipt", path="a.jpg")
    await agent.call("correct_receipt", receipt_id=made["id"], changes={"total": "9.00"})
    (tmp_path / "other").mkdir()
    folders = Folders.of([tmp_path / "other"])
    stored = LocalReceipts(tmp_path / "store", folders, agent.reader)
    other = Agent(server.build(stored, folders, allows_writes=True), tmp_path, agent.reader)

    hidden = {"receipt_id": made["id"]}
    assert "no such receipt" in await other.refused("get_receipt", **hidden)
    assert "no such receipt" in await other.refused("correct_receipt", **hidden, changes={})
    assert "There is no such receipt." == await other.page(made["id"], 1)
    assert {"receipts": []} == await other.call("search_receipts")
    assert {"currencies": []} == await other.call("spending_summary")

    # Who has the document sees its receipt.
    content = base64.b64encode(CAFE).decode()
    sent = await other.call("extract_receipt", content_base64=content, filename="a.jpg")
    assert (made["id"], "a.jpg", "9.00") == (sent["id"], sent["file"], sent["total"])
    assert isinstance(await other.page(made["id"], 1), bytes)
    assert [CAFE] == agent.reader.seen


async def test_page_of_a_file_that_changed_is_refused(agent: Agent) -> None:
    found = await agent.call("extract_receipt", path="a.jpg")
    (agent.folder / "a.jpg").write_bytes(b"another")

    assert "another content" in str(await agent.page(found["id"], 1))


async def test_receipts_are_searched_and_summed(agent: Agent) -> None:
    values = (("1", "10.00", "2026-03-14", "EUR"), ("2", "5.50", "2026-04-02", "EUR"),
              ("3", "7.00", "2026-03-20", "USD"))  # fmt: skip
    for name, total, day, currency in values:
        (agent.folder / name).write_text(f"Padaria Número{name}")
        made = await agent.call("extract_receipt", path=name)
        await agent.call(
            "correct_receipt",
            receipt_id=made["id"],
            changes={"total": total, "issued_at": f"{day}T12:00:00Z", "currency": currency},
        )

    async def found(**filters: object) -> list[str]:
        receipts = (await agent.call("search_receipts", **filters))["receipts"]
        return [one["total"] for one in receipts]

    assert ["5.50", "7.00", "10.00"] == await found(query="PADARIA núm")
    assert ["7.00", "10.00"] == await found(after="2026-03-14", before="2026-04-02")
    assert ["7.00"] == await found(currency="USD")
    assert ["10.00"] == await found(merchant="PADARIA NUMERO1")
    summary = await agent.call("spending_summary", by="month")
    euro, dollar = summary["currencies"]
    assert ("15.50", "7.00") == (euro["total"], dollar["total"])
    assert [("2026-03", "10.00"), ("2026-04", "5.50")] == [
        (one["name"], one["total"]) for one in euro["by_month"]
    ]


async def test_correction_is_validated_and_kept(agent: Agent) -> None:
    made = await agent.call("extract_receipt", path="a.jpg")
    asked = {"receipt_id": made["id"]}
    fixed = await agent.call(
        "correct_receipt", **asked, changes={"total": "9.00", "approved": True}
    )

    assert ("9.00", ["total"], 2) == (fixed["total"], fixed["corrected_fields"], fixed["version"])
    assert "approved" == fixed["review"]["status"]
    assert "valid string" in await agent.refused("correct_receipt", **asked, changes={"total": 9})
    exact = {"total": "9.001", "currency": "EUR"}
    for changes, problem in (exact, "decimals"), ({"totl": "9.00"}, "not a field"):
        assert problem in await agent.refused("correct_receipt", **asked, changes=changes)
    assert "changed" in await agent.refused(
        "correct_receipt", **asked, changes={"total": "1.00", "version": 1}
    )
    assert "9.00" == (await agent.call("get_receipt", **asked))["total"]


async def test_correction_is_kept_when_the_document_is_read_with_high_accuracy(
    agent: Agent,
) -> None:
    made = await agent.call("extract_receipt", path="a.jpg")
    await agent.call("correct_receipt", receipt_id=made["id"], changes={"total": "9.00"})
    again = await agent.call("extract_receipt", path="a.jpg", accuracy="high")

    assert made["id"] == again["id"]
    assert ("9.00", ["total"], 3) == (again["total"], again["corrected_fields"], again["version"])


async def test_server_corrects_nothing_unless_allowed(tmp_path: Path) -> None:
    folders = Folders.of([])
    stored = LocalReceipts(tmp_path, folders, FakeReader())
    async with Client(server.build(stored, folders, allows_writes=False)) as client:
        tools = {one.name for one in (await client.list_tools()).tools}

    assert {"extract_receipt", "get_receipt", "search_receipts", "spending_summary"} == tools
