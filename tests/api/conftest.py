"""Fixtures that start the service."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from recibo.api.openapi import document
from tests import installation
from tests.installation import Installation


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the cheapest Argon2 parameters, to keep tests fast."""
    monkeypatch.setattr("recibo.services.identity.passwords._MEMORY_KIB", 8)
    monkeypatch.setattr("recibo.services.identity.passwords._PASSES", 1)


@pytest.fixture(autouse=True, scope="session")
def _routes_are_described_once() -> Iterator[None]:
    """Build the OpenAPI document once for each address: it takes a second, and depends on that."""
    build, built = document.build, dict[str, dict[str, Any]]()

    def build_once(app: FastAPI, base_url: str) -> dict[str, Any]:
        if base_url not in built:
            built[base_url] = build(app, base_url)
        return built[base_url]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "build", build_once)
        yield


@pytest.fixture
async def service(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """Return a service whose uploads wait for their readings, on each kind of database."""
    async with installation.start(database_url, tmp_path) as started:
        yield started


@pytest.fixture
async def hasty_service(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """Return a service whose uploads do not wait: a blocked reading is answered `pending`."""
    async with installation.start(database_url, tmp_path, extract_wait_seconds=0) as started:
        yield started


@pytest.fixture
async def idle_service(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """Return a service without a worker: mails stay pending, so tests create the tokens."""
    async with installation.start(database_url, tmp_path, with_worker=False) as started:
        yield started


@pytest.fixture
async def door(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """Return a service without a worker, for rules that need no rows."""
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as started:
        yield started


@pytest.fixture
async def reading_door(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """Return a service for rules that need a receipt which was read."""
    async with installation.start(sqlite_url, tmp_path) as started:
        yield started
