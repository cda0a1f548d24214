"""Callbacks in memory, for tests and trials of what stands above them."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from recibo.adapters.webhook_client import WebhookResponse


@dataclass(frozen=True, slots=True)
class Posted:
    """One webhook that was posted."""

    url: str
    body: bytes
    headers: Mapping[str, str]


class FakeWebhookClient:
    """Keeps what is posted, and answers what it is told to."""

    def __init__(self) -> None:
        #: What was posted so far, in the order in which it came.
        self.posts: list[Posted] = []
        #: What becomes of each POST.
        self.outcome = WebhookResponse(0.01, status=200)
        #: The same for single URLs.
        self.outcomes: dict[str, WebhookResponse] = {}
        #: While it is not set, posts are under way.
        self.gate = asyncio.Event()
        self.gate.set()
        #: How many are under way, and how many were at most.
        self.under_way = self.most_under_way = 0
        self._posted = asyncio.Condition()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
        """Keep it, and answer when the gate is open."""
        async with self._posted:
            self.posts.append(Posted(url, body, headers))
            self._posted.notify_all()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await self.gate.wait()
        finally:
            self.under_way -= 1
        return self.outcomes.get(url, self.outcome)

    async def received(self, count: int) -> list[Posted]:
        """Return all posts as soon as there are so many."""
        async with self._posted:
            await self._posted.wait_for(lambda: len(self.posts) >= count)
        return self.posts
