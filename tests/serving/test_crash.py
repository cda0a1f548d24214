"""Kill -9 loses nothing and bills nothing twice."""

import asyncio
from functools import partial
from pathlib import Path

import httpx

from tests import make_documents, waiting
from tests.adapters import process_exits
from tests.serving.running import Server, serving

UPLOADS = 4
# The longest that a request may wait.
WAIT_SECONDS = 25


def documents() -> list[bytes]:
    """Different receipts, so that none is a replay of another."""
    return [make_documents.till_receipt(f"A-{number:06}").file() for number in range(UPLOADS)]


async def upload(client: httpx.AsyncClient, document: bytes) -> bool:
    """Send one document; False when the server died over it."""
    try:
        answer = await client.post("/v1/extract", files={"file": ("receipt.jpg", document)})
    except httpx.TransportError:
        return False
    assert answer.status_code == 200, answer.text
    return True


async def receipts(client: httpx.AsyncClient) -> list[dict[str, str]]:
    answer = await client.get("/v1/receipts", params={"limit": 200})
    data: list[dict[str, str]] = answer.json()["data"]
    return data


async def has_accepted(client: httpx.AsyncClient) -> bool:
    """Return whether an upload was accepted."""
    return bool(await receipts(client))


async def ended(client: httpx.AsyncClient) -> list[dict[str, str]]:
    """Return the receipts when all of them are read."""
    while any(one["status"] == "pending" for one in await receipts(client)):
        for receipt in await receipts(client):
            await client.get(f"/v1/receipts/{receipt['id']}", params={"wait": WAIT_SECONDS})
    return await receipts(client)


async def kill_during_uploads(server: Server, secret: str) -> None:
    async with server.client(secret) as client:
        uploads = [asyncio.create_task(upload(client, one)) for one in documents()]
        await waiting.until(partial(has_accepted, client))
        server.kill()
        assert not all(await asyncio.gather(*uploads))


async def test_accepted_uploads_of_a_killed_server_end_and_are_billed_once(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, READERS="1") as server:
        secret = server.secret
        children = server.children()
        await kill_during_uploads(server, secret)
        orphans = [child for child in children if not await process_exits.gone(child)]

    with serving(tmp_path, READERS="1") as server:
        async with server.client(secret) as client:
            resumed = await ended(client)
            again = [await upload(client, one) for one in documents()]
            known = await receipts(client)
            used = (await client.get("/v1/key")).json()

    files = list((tmp_path / "files").glob("??/*"))
    assert children
    assert not orphans
    assert {"completed"} == {one["status"] for one in resumed}
    assert all(again)
    assert UPLOADS == len(known) == used["usage_this_month"] == used["credits_used_this_month"]
    # A file whose upload was not accepted yet may stay until the sweep.
    assert {one["id"] for one in known} <= {path.name for path in files}
