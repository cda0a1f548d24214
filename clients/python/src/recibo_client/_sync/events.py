"""The webhook events that were sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recibo_client import _calls, models

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recibo_client._sync.connection import Connection


class Events:
    """The webhook events of the last 90 days, with at least one attempt."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(
        self,
        *,
        type: models.EventType | None = None,
        page_size: int = 100,
    ) -> Iterator[models.WebhookEvent]:
        """Yield the events, the newest first; pages are fetched as needed."""
        cursor = None
        while True:
            page = self.list_page(type=type, limit=page_size, cursor=cursor)
            for event in page.data:
                yield event
            cursor = page.next_cursor
            if not page.has_more:
                return

    def list_page(
        self,
        *,
        type: models.EventType | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> models.EventList:
        """Return one page, and the `next_cursor` for the next one, with the same type."""
        call = _calls.list_webhook_events(type, limit=limit, cursor=cursor)
        return self._connection.get(call, models.EventList)
