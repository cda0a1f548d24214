"""A running server and clients of it."""

from collections.abc import Iterator

import pytest

from recibo_client import Recibo
from tests.serving.running import QUICK, Server, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose reader takes the text of a file for the merchant."""
    with serving(tmp_path_factory.mktemp("server"), program=QUICK) as running:
        yield running


@pytest.fixture
def recibo(server: Server) -> Iterator[Recibo]:
    """A client of the server."""
    with Recibo(server.secret, base_url=server.url) as client:
        yield client
