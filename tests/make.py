"""Rows and files with defaults."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from recibo.extract.model import Accuracy, DocumentType, Extracted, Moment, Receipt
from recibo.lib import clock, ids
from recibo.schemas.actor import Actor, ClientInfo, KeyActor, Member
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.plans import PLANS, PlanName
from recibo.schemas.sessions import TokenResponse
from recibo.schemas.states import KeyKind, ReceiptStatus, Role, Scope, SignInMethod
from recibo.services.identity import keys, sessions
from recibo.services.identity.identity import Identity
from recibo.services.reading.extraction import Upload
from recibo.store import tables
from recibo.store.db import Database

JPEG_HEAD = b"\xff\xd8\xff\xe0"
BOTH = (Scope.READ, Scope.WRITE)
VISIT = ClientInfo(request_id="req_test")


def jpeg(text: str) -> bytes:
    """Return bytes that start like a JPEG; they cannot be decoded."""
    return JPEG_HEAD + text.encode()


def reading(
    merchant: str = "Padaria Aurora",
    *,
    confidence: float = 0.9,
    issued: Moment | None = None,
    total: str | None = None,
    type_: DocumentType = DocumentType.RECEIPT,
) -> Receipt:
    """Return an extracted receipt."""
    return Receipt(
        type=Extracted(type_, 1.0, "type"),
        merchant_name=Extracted(merchant, 0.9, merchant),
        issued_at=Extracted(issued, 0.9, "issued") if issued else None,
        total=Extracted(Decimal(total), 0.9, "total") if total else None,
        currency=Extracted("BRL", 0.9, "R$") if total else None,
        confidence=confidence,
        texts=(f"{merchant}\npage one",),
    )


async def org(database: Database, *, plan: PlanName = PlanName.SCALE) -> OrgId:
    """Add an org and return its id."""
    org_id = ids.new("org")
    async with database.write() as session:
        session.add(
            tables.Org(
                id=org_id,
                name=org_id,
                slug=org_id,
                billing_email="billing@recibo.test",
                plan=plan,
                created_at=clock.now(),
            )
        )
    return OrgId(org_id)


async def key(
    database: Database,
    org_id: OrgId,
    *,
    scopes: Sequence[Scope] = BOTH,
    expires_at: dt.datetime | None = None,
) -> str:
    """Add a key to an org and return its secret."""
    async with database.write() as session:
        wanted = keys.NewKey("test", scopes=scopes, expires_at=expires_at)
        return keys.create(session, org_id, wanted)


async def publishable_key(database: Database, org_id: OrgId) -> str:
    """Add a publishable key to an org and return its secret."""
    async with database.write() as session:
        return keys.create(session, org_id, keys.NewKey("site", KeyKind.PUBLISHABLE))


async def session(
    identity: Identity,
    org_id: OrgId | None,
    *,
    role: Role = Role.OWNER,
    visit: ClientInfo = VISIT,
) -> TokenResponse:
    """Add a user with this role in an org and return the tokens of a session."""
    user = tables.User(
        id=(user_id := ids.new("usr")), email=f"{user_id}@recibo.test", created_at=clock.now()
    )
    async with identity.database.write() as session_:
        session_.add(user)
        # The membership refers to the user.
        await session_.flush()
        if org_id is not None:
            session_.add(
                tables.Membership(org_id=org_id, user_id=user_id, role=role, created_at=clock.now())
            )
        start = sessions.NewSession(SignInMethod.PASSWORD, org_id, visit)
        return await sessions.begin(session_, identity, user, start)


async def member(database: Database, org_id: OrgId, role: Role = Role.OWNER) -> Member:
    """Add a user with this role to an org and return the member as actor."""
    user_id = UserId(ids.new("usr"))
    now = clock.now()
    async with database.write() as session_:
        session_.add(tables.User(id=user_id, email=f"{user_id}@recibo.test", created_at=now))
        # The membership refers to the user.
        await session_.flush()
        session_.add(tables.Membership(org_id=org_id, user_id=user_id, role=role, created_at=now))
    return Member(org_id, PLANS[PlanName.SCALE], VISIT, user_id, role)


async def actor(database: Database, *, plan: PlanName = PlanName.SCALE) -> KeyActor:
    """Add an org with a key and return the key as actor."""
    return await actor_of(database, await key(database, await org(database, plan=plan)))


async def actor_of(database: Database, secret: str) -> KeyActor:
    """Return the key with this secret as actor."""
    return await keys.authenticate(database, secret, visit=VISIT)


def receipt(actor_: Actor) -> tables.Receipt:
    """Return the row of a pending receipt."""
    return receipt_of(actor_.org_id, created_by=actor_.created_by)


def receipt_of(org_id: str, *, created_by: str = "key_none") -> tables.Receipt:
    """Return the row of a pending receipt of an org."""
    return tables.Receipt(
        id=ids.new("rcp"),
        org_id=org_id,
        status=ReceiptStatus.PENDING,
        created_at=clock.now(),
        updated_at=clock.now(),
        created_by=created_by,
        file_sha256="",
        file_size=1,
        media_type="image/jpeg",
        tags={},
        accuracy=Accuracy.STANDARD,
        attempt=0,
        quota_month="2026-03",
    )


def upload(path: Path, *, accuracy: Accuracy = Accuracy.STANDARD, sha256: str = "") -> Upload:
    """Return an upload of a file."""
    return Upload(
        path=path,
        sha256=sha256 or path.name,
        size=path.stat().st_size,
        media_type="image/jpeg",
        accuracy=accuracy,
    )
