"""An in-memory mailer for tests."""

import asyncio
from email.message import EmailMessage


class FakeMailer:
    """Keeps the mails that it is sent; raises `failure` if that is set."""

    def __init__(self) -> None:
        #: The mails sent so far, oldest first.
        self.sent: list[EmailMessage] = []
        #: Raised for each mail while it is set.
        self.failure: Exception | None = None
        #: The number of calls to `send`.
        self.tries = 0
        self._taken = asyncio.Condition()

    async def send(self, message: EmailMessage) -> None:
        """Keep the mail, or raise `failure`."""
        self.tries += 1
        if self.failure is not None:
            raise self.failure
        async with self._taken:
            self.sent.append(message)
            self._taken.notify_all()

    async def received(self, count: int) -> list[EmailMessage]:
        """Wait for this many mails and return all."""
        async with self._taken:
            await self._taken.wait_for(lambda: len(self.sent) >= count)
        return self.sent
