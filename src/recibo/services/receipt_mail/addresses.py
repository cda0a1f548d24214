"""The address that an org's receipts are mailed to: `local+TOKEN@domain`."""

import secrets
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import select

from recibo.errors import NotFound, ValidationFailed
from recibo.lib import clock, emails, ids, tokens
from recibo.lib.keyring import Keyring
from recibo.schemas.actor import Member
from recibo.schemas.ids import MAIL_ADDRESS, OrgId
from recibo.schemas.languages import Language
from recibo.schemas.permissions import Permission
from recibo.schemas.states import AuditAction, ResourceType
from recibo.services import audit
from recibo.services.identity import orgs
from recibo.store import scope
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Org, ReceiptAddress

#: How many senders an org may allow, apart from its members.
MOST_SENDERS = 50
# Mail programs and servers do not keep the case of an address. 100 bits cannot be guessed.
_ALPHABET = string.ascii_lowercase + "234567"
_TOKEN_LENGTH = 20
_SHOWN = 4
_NONE = "The organization has no address for receipts."


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an org."""

    id: str
    org_id: OrgId
    token: str
    senders: tuple[str, ...]

    def written(self, base: str) -> str:
        """Return the address below that of the installation."""
        local, _, domain = base.partition("@")
        return f"{local}+{self.token}@{domain}"


async def get(session: ReadSession, keyring: Keyring, actor: Member) -> Address | None:
    """Return the address of the actor's org, if it has one."""
    row = (await session.execute(scope.of(actor, ReceiptAddress))).scalar_one_or_none()
    if row is None:
        return None
    token = keyring.unseal(row.sealed_token, bound_to=row.id)
    return Address(row.id, OrgId(row.org_id), token, tuple(row.senders))


async def of_token(session: ReadSession, token: str) -> ReceiptAddress | None:
    """Return the address with a token, unless its org was deleted."""
    query = (
        select(ReceiptAddress)
        .join(Org, Org.id == ReceiptAddress.org_id)
        .where(ReceiptAddress.token_hash == tokens.fingerprint(token), Org.deleted_at.is_(None))
    )
    return (await session.execute(query)).scalar_one_or_none()


async def create(session: Session, keyring: Keyring, actor: Member) -> None:
    """Give the org an address, or another one; the earlier one stops working.

    Raises:
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await _locked(session, actor)
    row = await _row(session, actor)
    before = _hint(keyring, row)
    if row is None:
        row = ReceiptAddress(
            id=ids.new(MAIL_ADDRESS),
            org_id=actor.org_id,
            senders=[],
            language=actor.visit.language or Language.ENGLISH,
            created_at=clock.now(),
        )
        session.add(row)
    token = "".join(secrets.choice(_ALPHABET) for _ in range(_TOKEN_LENGTH))
    row.token_hash = tokens.fingerprint(token)
    row.sealed_token = keyring.seal(token, bound_to=row.id)
    after = {"receipt_address": token[-_SHOWN:]}
    _note(session, actor, before={"receipt_address": before}, after=after)


async def remove(session: Session, keyring: Keyring, actor: Member) -> None:
    """Take the address away from the org; mails to it are ignored.

    Raises:
        InsufficientScope: the actor no longer has the permission.
    """
    actor = await _locked(session, actor)
    row = await _row(session, actor)
    if row is not None:
        before = _hint(keyring, row)
        await session.delete(row)
        _note(session, actor, before={"receipt_address": before}, after={"receipt_address": ""})


async def allow(session: Session, actor: Member, senders: Iterable[str]) -> None:
    """Set who else may send receipts than members: addresses, or `@domain` for all of a domain.

    Raises:
        ValidationFailed: one is no address, or there are too many.
        NotFound: the org has no address.
        InsufficientScope: the actor no longer has the permission.
    """
    wanted = list(dict.fromkeys(_checked(one) for one in senders))
    if len(wanted) > MOST_SENDERS:
        raise ValidationFailed.of("senders", f"may have at most {MOST_SENDERS} lines")
    actor = await _locked(session, actor)
    row = await _row(session, actor)
    if row is None:
        raise NotFound(_NONE)
    before = {"allowed_senders": row.senders}
    row.senders = wanted
    _note(session, actor, before=before, after={"allowed_senders": wanted})


def is_allowed(senders: Iterable[str], sender: str) -> bool:
    """Return whether a list has the address of a sender, or its domain."""
    return not {sender, f"@{sender.rpartition('@')[2]}"}.isdisjoint(senders)


async def _locked(session: Session, actor: Member) -> Member:
    await orgs.lock(session, actor.org_id)
    return await orgs.still(session, actor, Permission.ORG_WRITE)


async def _row(session: Session, actor: Member) -> ReceiptAddress | None:
    return (await session.execute(scope.of(actor, ReceiptAddress))).scalar_one_or_none()


def _hint(keyring: Keyring, row: ReceiptAddress | None) -> str:
    """Return the end of the token, which the audit log may have."""
    return "" if row is None else keyring.unseal(row.sealed_token, bound_to=row.id)[-_SHOWN:]


def _checked(text: str) -> str:
    is_domain = text.startswith("@")
    try:
        parsed = emails.parse(f"all{text}" if is_domain else text, is_production=False)
    except emails.BadEmailError:
        message = f"contains a line that is no address: {text[:80]}"
        raise ValidationFailed.of("senders", message) from None
    return parsed.removeprefix("all") if is_domain else parsed


def _note(
    session: Session, actor: Member, *, before: Mapping[str, object], after: Mapping[str, object]
) -> None:
    if before != after:
        audit.record(
            session,
            actor,
            AuditAction.ORG_UPDATED,
            resource=(ResourceType.ORG, actor.org_id),
            before=before,
            after=after,
        )
