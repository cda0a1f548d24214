"""A service that sells through the small Stripe."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import installation, people
from tests.stripe_fixtures import Shop, settings
from tests.stripe_server import StripeServer


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
