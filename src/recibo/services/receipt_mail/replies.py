"""What the reply to a mail says, as its receipts are when the reply is sent."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from recibo.schemas.states import MailOutcome, ReceiptStatus, ReviewStatus
from recibo.services.mail_replies import Reply, ReplyFile
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Receipt, ReceivedMail


async def of(session: ReadSession | Session, mail_id: str) -> Reply | None:
    """Return the reply to a mail; None if the mail is gone with its org."""
    query = select(ReceivedMail).where(ReceivedMail.id == mail_id)
    mail = (await session.execute(query)).scalar_one_or_none()
    if mail is None:
        return None
    asked = {file["receipt_id"] for file in mail.files if file["receipt_id"]}
    rows = select(Receipt).where(Receipt.id.in_(asked), Receipt.org_id == mail.org_id)
    found = {row.id: row for row in (await session.execute(rows)).scalars()} if asked else {}
    return Reply(
        message_id=mail.message_id,
        subject=mail.subject,
        outcome=MailOutcome(mail.outcome),
        files=[_file(file, found.get(file["receipt_id"])) for file in mail.files],
    )


def _file(file: Mapping[str, Any], row: Receipt | None) -> ReplyFile:
    if file["problem"]:
        return ReplyFile(file["name"], str(file["problem"]))
    if row is None or row.deleted_at is not None:
        return ReplyFile(file["name"], "deleted")
    if row.status == ReceiptStatus.FAILED:
        return ReplyFile(file["name"], str(row.failure_code))
    if row.status == ReceiptStatus.PENDING:
        return ReplyFile(file["name"], "waiting")
    is_doubtful = row.review_status == ReviewStatus.NEEDS_REVIEW
    result = "known" if file["is_known"] else "needs_review" if is_doubtful else "read"
    return ReplyFile(
        file["name"], result, row.merchant_name, row.total, row.currency, row.issued_on
    )
