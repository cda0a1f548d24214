"""Fixtures: installations whose pages are tested."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import installation
from tests.installation import Installation


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the cheapest Argon2 parameters."""
    monkeypatch.setattr("recibo.services.identity.passwords._MEMORY_KIB", 8)
    monkeypatch.setattr("recibo.services.identity.passwords._PASSES", 1)


@pytest.fixture
async def service(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """An installation on each database, without workers: tests create mail tokens themselves."""
    async with installation.start(database_url, tmp_path, with_worker=False) as started:
        yield started


@pytest.fixture
async def sqlite_service(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """An installation on SQLite, for rules that do not depend on the database."""
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as started:
        yield started
