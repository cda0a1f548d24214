"""A mailer in memory, for tests and trials of what stands above it."""

import asyncio
from email.message import EmailMessage


class FakeMailer:
    """Keeps what it is sent; refuses when it is told to."""

    def __init__(self) -> None:
        #: The mails taken so far, in the order in which they came.
        self.sent: list[EmailMessage] = []
        #: Raised at each mail while it is set.
        self.failure: Exception | None = None
        #: How often it was asked.
        self.tries = 0
        self._taken = asyncio.Condition()

    async def send(self, message: EmailMessage) -> None:
        """Keep the mail, or raise what is set."""
        self.tries += 1
        if self.failure is not None:
            raise self.failure
        async with self._taken:
            self.sent.append(message)
            self._taken.notify_all()

    async def received(self, count: int) -> list[EmailMessage]:
        """Return all mails as soon as there are so many."""
        async with self._taken:
            await self._taken.wait_for(lambda: len(self.sent) >= count)
        return self.sent
