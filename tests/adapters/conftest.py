"""A service that sells through the small Stripe."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import installation, people
from tests.stripe_fixtures import StripeSetup, settings
from tests.stripe_server import StripeServer


@pytest.fixture
async def stripe_setup(
    database_url: str, tmp_path: Path, stripe: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[StripeSetup]:
    """A service that sells through it, on each database in turn."""
    # Weak hashes are enough for tests.
    monkeypatch.setattr("recibo.services.identity.passwords._MEMORY_KIB", 8)
    monkeypatch.setattr("recibo.services.identity.passwords._PASSES", 1)
    async with installation.start(
        database_url, tmp_path, with_worker=False, **settings(stripe)
    ) as started:
        yield StripeSetup(started, stripe, await people.signed_up(started))
