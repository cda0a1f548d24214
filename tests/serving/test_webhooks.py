"""Webhooks of a real server: they arrive soon, and a kill loses none."""

import asyncio
import json
from pathlib import Path

import httpx

from tests import make_documents, receivers
from tests.receivers import Receiver, receiving
from tests.serving.running import QUICK, Server, serving

UPLOADS = 3
# Long enough for a loaded machine; a test that hangs is ended by the runner.
PATIENCE_S = 120


async def upload(client: httpx.AsyncClient, number: int, url: str) -> str:
    """Send a receipt whose webhook goes to a URL; return its id."""
    document = make_documents.till_receipt(f"W-{number:06}").file()
    files = {"file": ("receipt.jpg", document)}
    answer = await client.post("/v1/extract", files=files, data={"webhook_url": url})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


async def uploaded(server: Server, secret: str, url: str) -> set[str]:
    """Send some receipts; return their ids."""
    async with server.client(secret) as client:
        sent = (upload(client, number, url) for number in range(UPLOADS))
        return set(await asyncio.gather(*sent))


def events_by_receipt(receiver: Receiver) -> dict[str, set[str]]:
    """Return the events by receipt."""
    found: dict[str, set[str]] = {}
    for request in receiver.requests:
        event = json.loads(request.body)
        assert event["id"] == request.headers["webhook-id"]
        assert event["type"] == "receipt.completed"
        found.setdefault(event["data"]["receipt"]["id"], set()).add(event["id"])
    return found


async def test_deliveries_of_a_killed_server_arrive_with_the_same_id(tmp_path: Path) -> None:
    receiver = Receiver(manner=receivers.hang)
    async with receiving(receiver) as port:
        url = f"http://127.0.0.1:{port}/hook"
        with serving(tmp_path, program=QUICK) as server:
            secret = server.secret
            receipts = await uploaded(server, secret, url)
            await asyncio.wait_for(receiver.received(UPLOADS), PATIENCE_S)
            server.kill()
        first = events_by_receipt(receiver)
        receiver.manner = None
        with serving(tmp_path, program=QUICK):
            await asyncio.wait_for(receiver.received(2 * UPLOADS), PATIENCE_S)

    assert receipts == first.keys()
    assert first == events_by_receipt(receiver)
    assert {1} == {len(events) for events in first.values()}
