"""Turn a mail into receipts: find its org and its sender, and upload its documents.

    mail -> address? -> sender? -> documents -> known? -> receipts stored -> mail recorded -> marked

A mail is marked as read only after all of this, so a crash at any point only means that it comes
again. A receipt carries the id of its mail, so it is found then; a recorded mail is skipped.
"""

import asyncio
import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Select, select

from recibo.adapters.mailbox import RawMail
from recibo.errors import (
    FileTooLarge,
    RateLimitExceeded,
    ServerError,
    ServiceError,
    UnsupportedFormat,
)
from recibo.extract.document import limits
from recibo.lib import ids
from recibo.schemas.actor import Actor, ClientInfo, MailSender, Member
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.permissions import Permission
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.receipts import FILENAME
from recibo.schemas.states import FileProblem, MailOutcome, Role
from recibo.services.reading.extraction import Extraction, Upload
from recibo.services.receipt_mail import addresses, messages, received_mails
from recibo.services.receipt_mail.messages import DamagedMailError, Document, Head
from recibo.services.receipt_mail.received_mails import Received
from recibo.store import scope
from recibo.store.db import Database, ReadSession
from recibo.store.tables import Membership, Org, Receipt, ReceiptAddress, ReceiptTag, User

# The tags of a receipt that came by mail; the name of its file is another one.
_SENDER, _MAIL = "email_from", "email_id"
# A limit that ends within this time delays the mail; after a longer one the file is refused.
_WORTH_WAITING_S = 120
_MAX_TAG = 256
# A mail to more orgs than this is no mail with a receipt.
_MOST_ADDRESSES = 3


class TryAgainError(Exception):
    """The mail cannot be processed now; leave it unread."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How mails are sent to this installation."""

    #: The address to which organizations' tokens are added; empty if none takes receipts.
    base: str = ""
    #: The mail server whose checks of senders are believed; empty if none is.
    auth_server: str = ""


@dataclass(frozen=True, slots=True)
class _Mail:
    """A mail to one org."""

    id: str
    head: Head
    documents: Sequence[Document]
    #: Of the sender, the Message-ID and the documents; of a closed mail, all of its bytes.
    hash: str
    #: Why it has no documents.
    problem: MailOutcome | None


@dataclass(frozen=True, slots=True)
class Intake:
    """Takes mails in."""

    extraction: Extraction
    policy: Policy
    #: The folder of files while they are uploaded.
    spool: Path
    plans: Plans = SOLD

    async def take(self, raw_mail: RawMail) -> list[MailOutcome]:
        """Process a mail; return what became of it at each org, nothing if it is for none.

        Raises:
            TryAgainError: the service is busy, or a limit ends soon.
        """
        try:
            head = await asyncio.to_thread(messages.read_head, raw_mail.content)
        except DamagedMailError:
            return [MailOutcome.DAMAGED]
        found = [
            address
            for token in head.tokens(self.policy.base)[:_MOST_ADDRESSES]
            if (address := await self._address(token)) is not None
        ]
        if not found:
            return []
        closed = await asyncio.to_thread(_closed, head, raw_mail)
        actors = [await self._actor(address, closed) for address in found]
        # Strangers' mails are not taken apart: they could be made to take long.
        is_trusted = self._is_confirmed(head) and any(actors)
        mail = await asyncio.to_thread(_parsed, closed, raw_mail) if is_trusted else closed
        return [
            await self._take_for(address, actor, mail if actor is not None else closed)
            for address, actor in zip(found, actors, strict=True)
        ]

    async def _address(self, token: str) -> ReceiptAddress | None:
        async with self._database.read() as session:
            return await addresses.of_token(session, token)

    async def _take_for(
        self, address: ReceiptAddress, actor: Actor | None, mail: _Mail
    ) -> MailOutcome:
        async with self._database.read() as session:
            org_id = OrgId(address.org_id)
            known = await received_mails.outcome_of(session, org_id, mail.hash)
            if known is not None:
                return known
        outcome = self._refusal(actor, mail) or MailOutcome.RECEIVED
        files: list[Mapping[str, Any]] = []
        if actor is not None and outcome is MailOutcome.RECEIVED:
            files = [await self._file(actor, mail, place) for place in range(len(mail.documents))]
        received = Received(ids.new("rml"), org_id, mail.hash, mail.head, outcome, files)
        async with self._database.write() as session:
            await received_mails.record(session, received)
        return outcome

    def _refusal(self, actor: Actor | None, mail: _Mail) -> MailOutcome | None:
        if actor is None:
            return MailOutcome.FOREIGN
        if not self._is_confirmed(mail.head):
            return MailOutcome.UNCONFIRMED
        if isinstance(actor, Member) and not actor.may(Permission.RECEIPTS_WRITE):
            return MailOutcome.NOT_PERMITTED
        return mail.problem

    def _is_confirmed(self, head: Head) -> bool:
        return not self.policy.auth_server or head.is_from_sender(self.policy.auth_server)

    async def _actor(self, address: ReceiptAddress, mail: _Mail) -> Member | MailSender | None:
        """Return whom the mail is from: a member, or a sender that the org allowed."""
        org_id, sender = OrgId(address.org_id), mail.head.sender
        async with self._database.read() as session:
            row = (await session.execute(_org_and_member(org_id, sender))).one()
        plan = self.plans.of(row.plan, row.agreed)
        visit = ClientInfo(request_id=mail.id, is_limited_by_ip=False)
        if row.role is not None:
            return Member(
                org_id,
                plan,
                visit,
                UserId(row.user_id),
                Role(row.role),
                viewers_write=bool(row.viewers_write),
            )
        if addresses.is_allowed(address.senders, sender):
            return MailSender(org_id, plan, visit, address.id)
        return None

    async def _file(self, actor: Actor, mail: _Mail, place: int) -> Mapping[str, Any]:
        """Make a receipt of a document; return what the mail's row has of it."""
        document = mail.documents[place]
        file = {"name": document.name, "receipt_id": None, "is_known": False, "problem": None}
        if place >= messages.MAX_DOCUMENTS:
            return {**file, "problem": FileProblem.TOO_MANY}
        try:
            receipt_id, is_known = await self._submit(actor, mail, document)
        except RateLimitExceeded as e:
            if (e.retry_after or 0) <= _WORTH_WAITING_S:
                raise TryAgainError from e
            return {**file, "problem": FileProblem.OVER_QUOTA}
        except ServerError as e:
            raise TryAgainError from e
        except ServiceError as e:
            return {**file, "problem": e.code}
        return {**file, "receipt_id": receipt_id, "is_known": is_known}

    async def _submit(self, actor: Actor, mail: _Mail, document: Document) -> tuple[str, bool]:
        async with self._database.read() as session:
            earlier = await _receipt_of(session, actor, mail, document)
        if earlier is not None:
            return earlier, False
        if not document.is_supported:
            raise UnsupportedFormat
        if len(document.content) > limits.MAX_BYTES:
            raise FileTooLarge
        with tempfile.NamedTemporaryFile(dir=self.spool) as spooled:
            path = Path(spooled.name)
            await asyncio.to_thread(path.write_bytes, document.content)
            upload = Upload(
                path=path,
                sha256=document.sha256,
                size=len(document.content),
                media_type=document.media_type,
                metadata=_tags(mail, document),
            )
            async with self.extraction.submitted(actor, upload) as submitted:
                return submitted.receipt_id, submitted.is_replay

    @property
    def _database(self) -> Database:
        return self.extraction.database


def _closed(head: Head, raw_mail: RawMail) -> _Mail:
    """Return a mail that is not taken apart."""
    content = hashlib.sha256(raw_mail.content).hexdigest()
    hash_ = _hash(head.sender, head.message_id, content)
    return _Mail(id=ids.new("rml"), head=head, documents=[], hash=hash_, problem=None)


def _parsed(mail: _Mail, raw_mail: RawMail) -> _Mail:
    """Take a mail apart."""
    documents: list[Document] = []
    problem = None
    if raw_mail.is_cut:
        problem = MailOutcome.TOO_LARGE
    else:
        try:
            documents = messages.read_documents(raw_mail.content)
        except DamagedMailError:
            problem = MailOutcome.DAMAGED
        else:
            problem = None if documents else MailOutcome.EMPTY
    # Without a Message-ID, the bytes are the mail. Of another sender it is another mail, so that
    # a message with the id of another one does not replace it.
    name = mail.head.message_id or hashlib.sha256(raw_mail.content).hexdigest()
    hash_ = _hash(mail.head.sender, name, *sorted(one.sha256 for one in documents))
    return replace(mail, documents=documents, hash=hash_, problem=problem)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _org_and_member(org_id: OrgId, sender: str) -> Select[Any]:
    """Select the limits of an org and, if the sender is one, the member.

    A member counts whose address is confirmed: replies go there.
    """
    is_member = (
        (User.email == sender) & User.disabled_at.is_(None) & User.email_verified_at.is_not(None)
    )
    member = (
        select(Membership.user_id, Membership.role, Membership.org_id)
        .join(User, User.id == Membership.user_id)
        .where(is_member, Membership.org_id == org_id)
        .subquery()
    )
    return (
        select(Org.plan, Org.agreed, Org.viewers_write, member.c.user_id, member.c.role)
        .outerjoin(member, member.c.org_id == Org.id)
        .where(Org.id == org_id)
    )


async def _receipt_of(
    session: ReadSession, actor: Actor, mail: _Mail, document: Document
) -> str | None:
    """Return the receipt that this document of this mail already became."""
    query = (
        scope.of(actor, Receipt)
        .join(ReceiptTag, ReceiptTag.receipt_id == Receipt.id)
        .where(
            ReceiptTag.org_id == actor.org_id,
            ReceiptTag.key == _MAIL,
            ReceiptTag.value == _mail_tag(mail),
            Receipt.file_sha256 == document.sha256,
        )
        .with_only_columns(Receipt.id)
        .limit(1)
    )
    return (await session.execute(query)).scalar_one_or_none()


def _tags(mail: _Mail, document: Document) -> Mapping[str, str]:
    sender = mail.head.sender[:_MAX_TAG]
    return {FILENAME: document.name, _SENDER: sender, _MAIL: _mail_tag(mail)}


def _mail_tag(mail: _Mail) -> str:
    written = mail.head.message_id
    return written if 0 < len(written) <= _MAX_TAG else mail.hash
