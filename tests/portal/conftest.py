"""The service whose pages are looked at."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import installation
from tests.installation import Installation


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Argon2 take as little as it may: nobody attacks what tests hash."""
    monkeypatch.setattr("recibo.services.identity.passwords._MEMORY_KIB", 8)
    monkeypatch.setattr("recibo.services.identity.passwords._PASSES", 1)


@pytest.fixture
async def service(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service that sends no mail: tests mint the tokens themselves; on each database in turn."""
    async with installation.start(database_url, tmp_path, with_worker=False) as started:
        yield started


@pytest.fixture
async def sqlite_service(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service for rules that have nothing to do with rows."""
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as started:
        yield started
