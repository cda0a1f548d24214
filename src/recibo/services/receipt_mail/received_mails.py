"""Mails that were processed: kept so that none is processed twice, listed, and answered."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update

from recibo.lib import clock
from recibo.schemas.actor import Member
from recibo.schemas.ids import OrgId
from recibo.schemas.states import MailKind, MailOutcome
from recibo.services import mails
from recibo.services.receipt_mail.messages import Head
from recibo.store import purging, scope, upsert
from recibo.store.db import Database, ReadSession, Session
from recibo.store.tables import Receipt, ReceiptAddress, ReceivedMail

#: The name of the mail in the variables of its reply.
MAIL_ID = "mail_id"
#: How long a mail is known; a mailbox shows one twice only by mistake.
_RETENTION = dt.timedelta(days=90)
# Senders of these get a reply; others are strangers, or may be victims of a forger.
_ANSWERED = {
    MailOutcome.RECEIVED,
    MailOutcome.EMPTY,
    MailOutcome.DAMAGED,
    MailOutcome.TOO_LARGE,
    MailOutcome.NOT_PERMITTED,
}
# More replies to one sender in an hour are a loop that the headers do not show.
_MOST_REPLIES = 30
_HOUR = dt.timedelta(hours=1)
# A reply that waits no longer for readings says that they go on.
_LONGEST_WAIT = dt.timedelta(minutes=15)
_BATCH = 100


@dataclass(frozen=True, slots=True)
class Received:
    """A mail to an org and what became of it."""

    id: str
    org_id: OrgId
    hash: str
    head: Head
    outcome: MailOutcome
    files: Sequence[Mapping[str, Any]]


async def outcome_of(session: ReadSession, org_id: OrgId, hash_: str) -> MailOutcome | None:
    """Return what became of a mail; None if it was not processed yet."""
    query = select(ReceivedMail.outcome).where(
        ReceivedMail.org_id == org_id, ReceivedMail.message_hash == hash_
    )
    found = (await session.execute(query)).scalar_one_or_none()
    return MailOutcome(found) if found is not None else None


async def record(session: Session, mail: Received) -> None:
    """Record a mail, inside the caller's transaction; nothing changes if it is recorded."""
    now = clock.now()
    is_answered = (
        mail.outcome in _ANSWERED
        and not mail.head.is_automatic
        and await _replies_of(session, mail) < _MOST_REPLIES
    )
    await session.execute(
        upsert.insert(session, ReceivedMail)
        .values(
            id=mail.id,
            org_id=mail.org_id,
            message_hash=mail.hash,
            message_id=mail.head.message_id,
            sender=mail.head.sender,
            subject=mail.head.subject,
            received_at=now,
            outcome=mail.outcome,
            files=list(mail.files),
            is_answered=is_answered,
            settled_at=None if is_answered else now,
        )
        .on_conflict_do_nothing(index_elements=["org_id", "message_hash"])
    )


async def settle(database: Database, after: str) -> str:
    """Enqueue the replies to mails whose files are read, of up to a hundred mails.

    Returns:
        The last mail that was looked at, to go on after it; empty at the end.
    """
    query = (
        select(ReceivedMail)
        .where(ReceivedMail.settled_at.is_(None), ReceivedMail.id > after)
        .order_by(ReceivedMail.id)
        .limit(_BATCH)
    )
    async with database.read() as session:
        found = list((await session.execute(query)).scalars())
        pending = await _pending(session, found)
    for mail in found:
        is_waiting = not pending.isdisjoint(_receipts_of(mail))
        if not is_waiting or mail.received_at < clock.now() - _LONGEST_WAIT:
            async with database.write() as session_:
                await _answer(session_, mail)
    return found[-1].id if len(found) == _BATCH else ""


async def newest(session: ReadSession, actor: Member, *, limit: int) -> list[ReceivedMail]:
    """Return the newest mails to the actor's org."""
    query = scope.of(actor, ReceivedMail).order_by(ReceivedMail.id.desc()).limit(limit)
    return list((await session.execute(query)).scalars())


async def purge_expired(database: Database) -> int:
    """Delete up to a thousand that are older than 90 days; return how many."""
    is_old = ReceivedMail.received_at < clock.now() - _RETENTION
    return await purging.purge_some(database, ReceivedMail, is_old)


async def _replies_of(session: Session, mail: Received) -> int:
    query = select(func.count(ReceivedMail.id)).where(
        ReceivedMail.received_at > clock.now() - _HOUR,
        ReceivedMail.sender == mail.head.sender,
        ReceivedMail.is_answered,
    )
    return (await session.execute(query)).scalar_one()


async def _pending(session: ReadSession, found: Sequence[ReceivedMail]) -> set[str]:
    asked = {one for mail in found for one in _receipts_of(mail)}
    query = select(Receipt.id).where(Receipt.id.in_(asked), Receipt.pending_accuracy.is_not(None))
    return set((await session.execute(query)).scalars()) if asked else set()


async def _answer(session: Session, mail: ReceivedMail) -> None:
    """Enqueue the reply, unless another process did."""
    statement = (
        update(ReceivedMail)
        .where(ReceivedMail.id == mail.id, ReceivedMail.settled_at.is_(None))
        .values(settled_at=clock.now())
        .returning(ReceivedMail.id)
    )
    if (await session.execute(statement)).scalar_one_or_none() is None:
        return
    language = select(ReceiptAddress.language).where(ReceiptAddress.org_id == mail.org_id)
    names = {
        MAIL_ID: mail.id,
        mails.LANGUAGE: (await session.execute(language)).scalar_one_or_none() or "",
    }
    mails.enqueue(session, MailKind.RECEIPTS_RECEIVED, to=mail.sender, names=names)


def _receipts_of(mail: ReceivedMail) -> set[str]:
    return {file["receipt_id"] for file in mail.files if file["receipt_id"]}
