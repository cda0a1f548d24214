"""What every test may ask for."""

from collections.abc import Iterator

import pytest

from tests import servers


@pytest.fixture(scope="session")
def postgres() -> Iterator[servers.Postgres]:
    """A private PostgreSQL server, one a test process."""
    with servers.run_postgres() as server:
        yield server
