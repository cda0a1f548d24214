"""An in-memory webhook client for tests."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from recibo.adapters.webhook_client import WebhookResponse


@dataclass(frozen=True, slots=True)
class PostedWebhook:
    """One webhook that was posted."""

    url: str
    body: bytes
    headers: Mapping[str, str]


class FakeWebhookClient:
    """Keeps the webhooks that it is sent and returns the outcome set for them."""

    def __init__(self) -> None:
        #: The webhooks posted so far, oldest first.
        self.posts: list[PostedWebhook] = []
        #: The outcome of each POST.
        self.outcome = WebhookResponse(0.01, status=200)
        #: The same for single URLs.
        self.outcomes: dict[str, WebhookResponse] = {}
        #: POSTs wait while it is not set.
        self.gate = asyncio.Event()
        self.gate.set()
        #: How many POSTs wait now, and how many did at most.
        self.under_way = self.most_under_way = 0
        self._posted = asyncio.Condition()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
        """Keep the webhook and return its outcome when the gate is open."""
        async with self._posted:
            self.posts.append(PostedWebhook(url, body, headers))
            self._posted.notify_all()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await self.gate.wait()
        finally:
            self.under_way -= 1
        return self.outcomes.get(url, self.outcome)

    async def received(self, count: int) -> list[PostedWebhook]:
        """Wait for this many webhooks and return all."""
        async with self._posted:
            await self._posted.wait_for(lambda: len(self.posts) >= count)
        return self.posts
