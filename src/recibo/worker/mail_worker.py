"""Sends pending mails, each at least once, in every worker process.

The worker leases a mail, renders it with a fresh token, sends it outside any transaction and then
deletes its row. A crash at any point only means that the mail is sent again.
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

_BATCH = 50
# Several at once, so that one slow server does not delay all mails; more could look like abuse.
_CONCURRENCY = 4


@dataclass(frozen=True, slots=True)
class MailWorker:
    """The mail server connection and the settings of all mails."""

    database: Database
    mailer: Mailer
    settings: MailSettings

    def running(self) -> AbstractAsyncContextManager[None]:
        """Send mails while the block runs; wait briefly for mails in flight at its end."""
        return poll_loop.poll("mail", self._poll)

    async def run_once(self, stopping: asyncio.Event | None = None) -> int:
        """Try to send all due mails, some concurrently; return how many were due."""
        async with self.database.read() as session:
            waiting = deque(await mails.due(session, limit=_BATCH))
        count = len(waiting)

        async def work() -> None:
            while waiting and not (stopping and stopping.is_set()):
                await self._try_send(waiting.popleft())

        async with asyncio.TaskGroup() as group:
            for _ in range(min(_CONCURRENCY, count)):
                group.create_task(work())
        return count

    async def send(self, due: Due) -> None:
        """Send a mail unless another worker leased it; retry a failed one later."""
        async with self.database.write() as session:
            lease = await mails.lease(session, due)
        if lease is None:
            return
        with structlog.contextvars.bound_contextvars(mail_id=lease.id, mail_kind=lease.kind):
            outcome = await self._attempt(lease)
            metrics.MAILS.labels(lease.kind, outcome).inc()

    async def _try_send(self, due: Due) -> None:
        try:
            await self.send(due)
        except Exception:
            # Raising would cancel the other mails. This one is retried when its lease expires.
            log.exception("failed to record the outcome of a mail", mail_id=due.id)

    async def _attempt(self, lease: Lease) -> str:
        """Send the mail and remove or defer its row; return the outcome for the metric."""
        try:
            outcome = await self._deliver(lease)
        except RecipientRefusedError as e:
            log.warning("mail dropped: its recipient was refused", detail=str(e))
            outcome = "refused"
        except SendError as e:
            log.warning("failed to send a mail", detail=str(e), attempt=lease.attempt)
            return await self._defer(lease)
        except Exception:
            # A mail that cannot be rendered must not block the others.
            log.exception("failed to render a mail", attempt=lease.attempt)
            return await self._defer(lease)
        async with self.database.write() as session:
            await mails.remove(session, lease)
        return outcome

    async def _deliver(self, lease: Lease) -> str:
        async with self.database.write() as session:
            content = await mail_rendering.render_pending(session, lease)
        if content is None:
            return "needless"
        await self.mailer.send(mail_templates.render(content, self.settings))
        return "sent"

    async def _defer(self, lease: Lease) -> str:
        async with self.database.write() as session:
            is_kept = await mails.defer(session, lease)
        if not is_kept:
            log.error("mail given up: it could not be sent for days")
        return "deferred" if is_kept else "given_up"

    async def _poll(self, stopping: asyncio.Event) -> bool:
        return await self.run_once(stopping) == _BATCH
