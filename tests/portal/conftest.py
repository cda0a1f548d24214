"""The service whose pages are looked at."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests import installation
from tests.installation import Installation


@pytest.fixture
async def service(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service that sends no mail: tests mint the tokens themselves; on each database in turn."""
    async with installation.opened(database_url, tmp_path, works=False) as opened:
        yield opened


@pytest.fixture
async def door(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service for rules that have nothing to do with rows."""
    async with installation.opened(sqlite_url, tmp_path, works=False) as opened:
        yield opened
