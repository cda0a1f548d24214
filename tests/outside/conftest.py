"""The small Stripe, and a service that sells through it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests import installation, people, stripe_server
from tests.shop import Shop, settings
from tests.stripe_server import StripeServer


@pytest.fixture
def stripe(monkeypatch: pytest.MonkeyPatch) -> Iterator[StripeServer]:
    """The small Stripe."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # The SDK waits before its second try.
    monkeypatch.setattr("stripe.HTTPClient.INITIAL_DELAY", 0.0)
    with stripe_server.running() as server:
        yield server


@pytest.fixture
async def shop(
    database_url: str, tmp_path: Path, stripe: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Shop]:
    """A service that sells through it, on each database in turn."""
    # Nobody attacks what tests hash.
    monkeypatch.setattr("recibo.services.identity.passwords._MEMORY_KIB", 8)
    monkeypatch.setattr("recibo.services.identity.passwords._PASSES", 1)
    async with installation.opened(
        database_url, tmp_path, works=False, **settings(stripe)
    ) as opened:
        yield Shop(opened, stripe, await people.signed_up(opened))
