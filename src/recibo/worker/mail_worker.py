"""The post: sends the mails that are owed, at least once each, in every process that works.

A mail is taken by a lease, written with a fresh token, sent outside any transaction, and only then
its row is deleted; so a crash between any two of these has it sent again, and nothing loses it.
"""

import asyncio
from collections import deque
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import structlog

from recibo.adapters.mail import Mailer, RecipientRefusedError, SendError
from recibo.services import mail_rendering, mail_templates, mails
from recibo.services.mail_templates import MailSettings
from recibo.services.mails import Due, Lease
from recibo.store.db import Database
from recibo.worker import metrics, poll_loop

log = structlog.get_logger(__name__)

_ROUND = 50
# A server that takes its time holds up no more than its share; more would pass for an attack.
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class MailWorker:
    """What is sent, by whom, under which name."""

    database: Database
    mailer: Mailer
    head: MailSettings

    def running(self) -> AbstractAsyncContextManager[None]:
        """Send while the block lasts; mails under way at its end are sent, if they are soon."""
        return poll_loop.poll("the post", self._round)

    async def round(self, stopping: asyncio.Event | None = None) -> int:
        """Try the mails that are due, some at once; return how many there were."""
        async with self.database.read() as session:
            waiting = deque(await mails.due(session, limit=_ROUND))
        count = len(waiting)

        async def work() -> None:
            while waiting and not (stopping and stopping.is_set()):
                await self._tried(waiting.popleft())

        async with asyncio.TaskGroup() as group:
            for _ in range(min(_AT_ONCE, count)):
                group.create_task(work())
        return count

    async def post(self, seen: Due) -> None:
        """Send a mail unless another does; one that fails is tried again later."""
        async with self.database.write() as session:
            lease = await mails.lease(session, seen)
        if lease is None:
            return
        with structlog.contextvars.bound_contextvars(mail_id=lease.id, mail_kind=lease.kind):
            outcome = await self._outcome(lease)
            metrics.MAILS.labels(lease.kind, outcome).inc()

    async def _tried(self, seen: Due) -> None:
        try:
            await self.post(seen)
        except Exception:
            # The others under way are not broken off; this one comes again when its lease is over.
            log.exception("what became of a mail could not be noted", mail_id=seen.id)

    async def _outcome(self, lease: Lease) -> str:
        try:
            outcome = await self._sent(lease)
        except RecipientRefusedError as e:
            log.warning("a mail is dropped: its recipient is refused", detail=str(e))
            outcome = "refused"
        except SendError as e:
            log.warning("a mail could not be sent", detail=str(e), attempt=lease.attempt)
            return await self._put_off(lease)
        except Exception:
            # One that cannot be written keeps none of the others.
            log.exception("a mail could not be written", attempt=lease.attempt)
            return await self._put_off(lease)
        async with self.database.write() as session:
            await mails.remove(session, lease)
        return outcome

    async def _sent(self, lease: Lease) -> str:
        async with self.database.write() as session:
            content = await mail_rendering.render_pending(session, lease)
        if content is None:
            return "needless"
        await self.mailer.send(mail_templates.render(content, self.head))
        return "sent"

    async def _put_off(self, lease: Lease) -> str:
        async with self.database.write() as session:
            is_kept = await mails.defer(session, lease)
        if not is_kept:
            log.error("a mail is given up: it could not be sent for days")
        return "put_off" if is_kept else "given_up"

    async def _round(self, stopping: asyncio.Event) -> bool:
        return await self.round(stopping) == _ROUND
