"""Sends pending mails: renders each with a fresh token, then sends it.

A crash at any point only means that the mail is sent again.
"""

from dataclasses import dataclass

import structlog

from recibo.adapters.mail import Mailer, RecipientRefusedError, SendError
from recibo.services import mail_rendering, mail_templates, mails
from recibo.services.mail_templates import MailSettings
from recibo.services.mails import Lease
from recibo.store.db import Session
from recibo.worker import metrics
from recibo.worker.outbox import Outbox, RetryLaterError

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MailWorker(Outbox[Lease]):
    """The mail server connection and the settings of all mails."""

    mailer: Mailer
    settings: MailSettings

    name = "mail"
    rows = mails.ROWS

    async def lease(self, session: Session, row_id: str) -> Lease | None:
        """Lease a mail."""
        return await mails.lease(session, row_id)

    async def send(self, lease: Lease) -> str:
        """Render and send a mail; drop it if its recipient is refused or it is needless."""
        async with self.database.write() as session:
            content = await mail_rendering.render_pending(session, lease)
        if content is None:
            return "needless"
        message = mail_templates.render(content, self.settings)
        try:
            await self.mailer.send(message)
        except RecipientRefusedError as e:
            log.warning("mail dropped: its recipient was refused", detail=str(e), kind=lease.kind)
            return "refused"
        except SendError as e:
            raise RetryLaterError(str(e)) from e
        return "sent"

    async def defer(self, session: Session, lease: Lease) -> str:
        """Schedule the next attempt, or give the mail up after some days."""
        if await mails.defer(session, lease):
            return "deferred"
        log.error("mail given up: it could not be sent for days", kind=lease.kind)
        return "given_up"

    def count(self, lease: Lease, outcome: str) -> None:
        """Count an attempt by the kind of the mail."""
        metrics.MAILS.labels(lease.kind, outcome).inc()
