"""Fixtures: installations whose pages are tested."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from secrets import token_hex

import pytest

from tests import installation
from tests.installation import Installation
from tests.portal import browser
from tests.portal.browser import Address, Site
from tests.serving.running import Server, serving


@pytest.fixture(autouse=True)
def _cheap_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the cheapest Argon2 parameters."""
    monkeypatch.setattr("recibo.services.identity.passwords._MEMORY_KIB", 8)
    monkeypatch.setattr("recibo.services.identity.passwords._PASSES", 1)


@pytest.fixture(scope="session")
def _site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def _site_server(_site_folder: Path) -> Iterator[Server]:
    with serving(_site_folder, READERS="1") as server:
        yield server


@pytest.fixture(scope="module")
def site(_site_server: Server, _site_folder: Path) -> Iterator[Site]:
    """One server for all tests, one browser for a module; each test has its own users and context.

    The browser ends with its module, because its event loop would stop those of other tests.
    """
    with browser.run_browser() as running:
        yield Site(_site_server, running, _site_folder)


@pytest.fixture
def address() -> Address:
    """Return what makes email addresses of this run of a test: one that runs again needs others."""
    run = token_hex(4)
    return lambda name: f"{name}-{run}@browser.test"


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
