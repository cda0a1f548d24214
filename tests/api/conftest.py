"""The service behind its doors."""

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
    """A service that waits for its readings, over each kind of database in turn."""
    async with installation.start(database_url, tmp_path) as started:
        yield started


@pytest.fixture
async def hasty_service(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service that waits for no reading: what is held at the reader is answered `pending`."""
    async with installation.start(database_url, tmp_path, extract_wait_seconds=0) as started:
        yield started


@pytest.fixture
async def idle_service(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service that works nothing off: mails stay owed, so tests mint the tokens themselves."""
    async with installation.start(database_url, tmp_path, with_worker=False) as started:
        yield started


@pytest.fixture
async def door(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service for rules that end before the first row is touched."""
    async with installation.start(sqlite_url, tmp_path) as started:
        yield started
