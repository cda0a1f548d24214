"""What is sent is signed by the secrets that stand on the page."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from recibo.adapters.fake_webhook_client import FakeWebhookClient, PostedWebhook
from tests import installation, make
from tests.installation import WAIT_SECONDS, Installation
from tests.portal import accounts, webhook_pages

OTHER_URL = "https://till.acme.test/done"
ENDPOINT, ORG = {"secret": "endpoint"}, {"secret": "org"}


@pytest.fixture
def webhook_client() -> FakeWebhookClient:
    """What webhooks are posted by."""
    return FakeWebhookClient()


@pytest.fixture
async def working(
    database_url: str, tmp_path: Path, webhook_client: FakeWebhookClient
) -> AsyncIterator[Installation]:
    """An installation that reads and sends webhooks, and an owner with an endpoint."""
    async with installation.start(database_url, tmp_path, webhook_client=webhook_client) as started:
        await accounts.sign_up(started.stranger)
        await webhook_pages.submit(started, url=webhook_pages.URL)
        yield started


async def secrets(i: Installation) -> list[str]:
    """Return the secrets on the page: the endpoint's and the org's."""
    return webhook_pages.SECRET.findall((await webhook_pages.get(i)).text)


async def posted(webhook_client: FakeWebhookClient, count: int) -> dict[str, PostedWebhook]:
    """Return what was posted last to each address, as soon as there is so much."""
    return {
        one.url: one for one in await asyncio.wait_for(webhook_client.received(count), WAIT_SECONDS)
    }


def signed_by(one: PostedWebhook, secrets_: list[str]) -> list[bool]:
    """Return for each secret whether it signed the request."""
    return [_is_signed(one, secret) for secret in secrets_]


def _is_signed(one: PostedWebhook, secret: str) -> bool:
    try:
        Webhook(secret).verify(one.body, dict(one.headers))
    except WebhookVerificationError:
        return False
    return True


async def test_each_kind_of_receiver_has_its_own_secret(
    working: Installation, webhook_client: FakeWebhookClient
) -> None:
    key = (await working.stranger.post("/v1/api-keys", json={"name": "Till"})).json()["secret"]
    await working.extracted(make.jpeg("a"), secret=key)
    await working.extracted(make.jpeg("b"), secret=key, webhook_url=OTHER_URL)
    found = await posted(webhook_client, 2)

    assert [True, False] == signed_by(found[webhook_pages.URL], await secrets(working))
    assert [False, True] == signed_by(found[OTHER_URL], await secrets(working))


async def test_old_and_new_secret_both_sign_after_a_rotation(
    working: Installation, webhook_client: FakeWebhookClient
) -> None:
    before = await secrets(working)
    await webhook_pages.submit(working, "/rotate", **ENDPOINT)
    await webhook_pages.submit(working, "/rotate", **ORG)
    after = await secrets(working)
    await webhook_pages.submit(working, "/test")
    found = await posted(webhook_client, 1)

    assert set() == set(before) & set(after)
    assert [True, False] == signed_by(found[webhook_pages.URL], before)
    assert [True, False] == signed_by(found[webhook_pages.URL], after)


async def test_resent_event_has_the_same_id_and_body(
    working: Installation, webhook_client: FakeWebhookClient
) -> None:
    await webhook_pages.submit(working, "/test")
    first = (await posted(webhook_client, 1))[webhook_pages.URL]
    await webhook_pages.submit(working, f"/events/{first.headers['webhook-id']}/resend")
    second = (await posted(webhook_client, 2))[webhook_pages.URL]

    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert [True, False] == signed_by(second, await secrets(working))
