"""Webhooks from the upload to the receiver: which events are sent, and their signatures."""

import asyncio
import datetime as dt
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.webhook_client import CheckedWebhookClient
from recibo.lib.keyring import Keyring
from recibo.lib.webhook_urls import Policy
from recibo.schemas.ids import OrgId
from recibo.services.webhooks import deliveries, signing
from recibo.store import tables
from tests import installation, make
from tests.installation import Installation
from tests.posting import FakeResolver
from tests.readers import UNREADABLE
from tests.receivers import Receiver, Request, receiving

SECRET = "of the installation, and long enough"  # noqa: S105
PATIENCE_S = 60


@pytest.fixture
def receiver() -> Receiver:
    """What the receiver got."""
    return Receiver()


@pytest.fixture
async def url(receiver: Receiver) -> AsyncIterator[str]:
    """Where a receiver listens, by a name."""
    async with receiving(receiver) as port:
        yield f"http://hooks.acme.test:{port}/hook"


@pytest.fixture
async def recibo(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service that sends webhooks on this machine."""
    policy = Policy(https_only=False, private_allowed=True)
    webhook_client = CheckedWebhookClient(
        policy, FakeResolver(**{"hooks.acme.test": [["127.0.0.1"]]})
    )
    reader = FakeReader({make.jpeg("bad"): UNREADABLE})
    async with installation.start(
        database_url, tmp_path, reader=reader, webhook_client=webhook_client, secret_key=SECRET
    ) as started:
        yield started


async def arrived(receiver: Receiver, count: int = 1) -> list[Request]:
    """Return the webhooks as soon as there are so many."""
    return await asyncio.wait_for(receiver.received(count), PATIENCE_S)


async def secret_of(recibo: Installation) -> str:
    """Return what signs the org's per-request addresses."""
    (org,) = await recibo.rows(tables.Org)
    org_id = OrgId(org.id)
    async with recibo.database.write() as session:
        found = await signing.of(session, Keyring(SECRET), org_id, [org_id])
    return found[org_id].current


async def listed(recibo: Installation, count: int) -> list[dict[str, Any]]:
    """Return the history once it holds so many: it is written down after the answer came."""
    data: list[dict[str, Any]] = []
    while len(data) < count:
        data = (await recibo.get("/webhooks/events")).json()["data"]
    return data


async def test_completed_receipt_sends_a_signed_webhook_to_the_requested_url(
    recibo: Installation, receiver: Receiver, url: str
) -> None:
    receipt = await recibo.extracted(make.jpeg("one"), webhook_url=url)

    (got,) = await arrived(receiver)
    event = json.loads(got.body)
    assert "POST /hook HTTP/1.1" == got.line
    assert ("receipt.completed", receipt) == (event["type"], event["data"]["receipt"])
    assert event["id"] == got.headers["webhook-id"]
    assert ("application/json", "Recibo/0.1.0") == (
        got.headers["content-type"],
        got.headers["user-agent"],
    )
    Webhook(await secret_of(recibo)).verify(got.body, dict(got.headers))


async def test_history_holds_what_was_sent(
    recibo: Installation, receiver: Receiver, url: str
) -> None:
    await recibo.extracted(make.jpeg("one"), webhook_url=url)

    (got,) = await arrived(receiver)
    assert [json.loads(got.body)] == await listed(recibo, 1)


async def test_failed_receipt_sends_a_webhook(
    recibo: Installation, receiver: Receiver, url: str
) -> None:
    await recibo.extract(make.jpeg("bad"), webhook_url=url)

    (got,) = await arrived(receiver)
    assert "receipt.failed" == json.loads(got.body)["type"]


async def test_replay_sends_no_webhook(recibo: Installation, receiver: Receiver, url: str) -> None:
    for _ in range(2):
        await recibo.extracted(make.jpeg("one"), webhook_url=url)
    await recibo.extracted(make.jpeg("two"), webhook_url=url)

    await arrived(receiver, 2)
    assert 2 == len(await listed(recibo, 2)) == len(receiver.requests)


async def test_failed_delivery_is_retried_with_the_same_bytes(
    recibo: Installation, receiver: Receiver, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "PAUSES", [dt.timedelta(0)])
    receiver.answer = b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"
    await recibo.extracted(make.jpeg("one"), webhook_url=url)

    first, second = (await arrived(receiver, 2))[:2]
    assert (first.body, first.headers["webhook-id"]) == (second.body, second.headers["webhook-id"])
