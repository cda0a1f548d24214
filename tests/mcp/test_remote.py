"""`recibo mcp --server`: the tools on the receipts of a running server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from recibo.mcp import server as tools
from recibo.mcp.folders import Folders
from recibo.mcp.remote import RemoteReceipts
from recibo_client import AsyncRecibo
from tests.serving.running import QUICK, Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server"), program=QUICK) as running:
        yield running


async def test_tools_use_the_api(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("Remote Cafe")
    folders = Folders.of([tmp_path])
    async with AsyncRecibo(server.secret, base_url=server.url) as api:
        made = tools.build(RemoteReceipts(api), folders, allows_writes=True)
        async with Client(made) as client:

            async def call(tool: str, **arguments: object) -> dict[str, Any]:
                answer = await client.call_tool(tool, arguments)
                assert not answer.is_error, answer.content
                assert isinstance(answer.structured_content, dict)
                return answer.structured_content

            read = await call("extract_receipt", path="a.jpg")
            fixed = await call(
                "correct_receipt",
                receipt_id=read["id"],
                changes={"total": "9.00", "currency": "EUR", "issued_at": "2026-03-14T12:00:00Z"},
            )
            found = await call("search_receipts", query="remote", after="2026-03-01")
            spent = await call("spending_summary", by="merchant", currency="EUR")
            shown = await call("get_receipt", receipt_id=read["id"])
            wrong = await client.call_tool("get_receipt", {"receipt_id": "rcp_none"})

    assert ("Remote Cafe", "9.00") == (read["merchant_name"], fixed["total"])
    assert [read["id"]] == [one["id"] for one in found["receipts"]]
    assert "9.00" == spent["currencies"][0]["total"]
    assert "text" in shown
    assert wrong.is_error


async def test_unknown_field_of_a_correction_is_named(server: Server, tmp_path: Path) -> None:
    async with AsyncRecibo(server.secret, base_url=server.url) as api:
        made = tools.build(RemoteReceipts(api), Folders.of([tmp_path]), allows_writes=True)
        async with Client(made) as client:
            answer = await client.call_tool(
                "correct_receipt", {"receipt_id": "rcp_1", "changes": {"totals": "9.00"}}
            )

    assert answer.is_error
    assert "totals: not a field" in str(answer.content)
