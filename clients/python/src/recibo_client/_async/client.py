"""The client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import Self

from recibo_client import _calls, _options, models
from recibo_client._async.connection import AsyncConnection
from recibo_client._async.events import AsyncEvents
from recibo_client._async.receipts import AsyncReceipts

if TYPE_CHECKING:
    from types import TracebackType

    import httpx


class AsyncRecibo:
    """A client of one server with one API key.

    Keep it: it reuses connections. Close it with `aclose()`, or use it in `async with`.

    Attributes:
        receipts: Receipts: read, get, search, correct, export and delete them.
        events: The webhook events that were sent.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float = _options.TIMEOUT_SECONDS,
        retry_seconds: float = _options.RETRY_SECONDS,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """Make a client; nothing is sent yet.

        Args:
            api_key: Left out, RECIBO_API_KEY.
            base_url: The server; left out, RECIBO_URL, else http://127.0.0.1:8000.
            timeout: Seconds without a byte from the server after which a request fails.
            retry_seconds: For how long a request that is safe to repeat is tried again; 0 for once.
            http_client: Your own, for a proxy or a private certificate authority.

        Raises:
            ConfigurationError: There is no API key, or the URL is none.
        """
        options = _options.make(
            api_key, base_url=base_url, timeout=timeout, retry_seconds=retry_seconds
        )
        self._connection = AsyncConnection(options, http_client)
        self.receipts = AsyncReceipts(self._connection)
        self.events = AsyncEvents(self._connection)

    def __repr__(self) -> str:
        """Name the server, but not the key."""
        return f"{type(self).__name__}({self._connection.options.base_url!r})"

    async def key(self) -> models.OwnKey:
        """Return the record of the key, with the plan and the usage of its organization."""
        return await self._connection.get(_calls.get_own_key(), models.OwnKey)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connection.aclose()

    async def __aenter__(self) -> Self:
        """Return the client."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connections."""
        await self.aclose()
