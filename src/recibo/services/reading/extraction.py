"""Accept uploads: recognize repeated ones, store new ones, wait for the reading.

    upload -> known? -> slot? -> quota? -> valid? -> file stored -> rows committed -> task -> wait

A file is stored only after all checks have passed. An accepted upload is on disk and in the
database before its task is added, so a crash at any point loses nothing and bills nothing twice.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from sqlalchemy import ColumnElement

from recibo.adapters.reader import Failure, FailureKind, Reader
from recibo.errors import (
    DatabaseUnavailable,
    LowConfidence,
    NotFound,
    Overloaded,
    RateLimitExceeded,
    ServerError,
    ServiceError,
    UnsupportedFormat,
    ValidationFailed,
)
from recibo.extract.document.formats import Kind
from recibo.extract.model import Accuracy, DocumentType
from recibo.lib import clock, ids
from recibo.lib.keyed_lock import KeyedLock
from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.schemas.plans import SOLD, Plans
from recibo.schemas.receipts import Receipt
from recibo.schemas.states import AuditAction, FailureCode, ReceiptStatus, ResourceType
from recibo.services import audit
from recibo.services.reading import (
    fair_queue,
    idempotency,
    pending_counts,
    readings,
    receipts,
    upload_limits,
    usage,
)
from recibo.services.reading.fair_queue import Job
from recibo.services.reading.upload_limits import Arrivals
from recibo.store import scope, tables
from recibo.store.blobs import Blobs
from recibo.store.db import Database, Session
from recibo.store.pubsub import PubSub, Subscription
from recibo.store.semaphores import Semaphores
from recibo.store.worker_registry import WorkerRegistry

# A notification can be lost (another process, a crash), so waiters also query this often.
_POLL_SECONDS = 1.0
# A file that failed this often within a day is not read again.
_FAILURES_BEFORE_RECORD = 3
# How long an upload waits for other inspections of its org, which usually take about 10 ms each.
_INSPECTION_WAIT_SECONDS = 10.0
_INSPECTION_RETRY_SECONDS = 5

_ERRORS: Mapping[FailureCode, type[ServiceError]] = {
    FailureCode.VALIDATION_ERROR: ValidationFailed,
    FailureCode.UNSUPPORTED_FORMAT: UnsupportedFormat,
    FailureCode.LOW_CONFIDENCE: LowConfidence,
    FailureCode.SERVER_ERROR: ServerError,
}


class Enqueuer(Protocol):
    """Puts readings into the queue of the workers."""

    async def add_readings(self, jobs: Sequence[Job]) -> None:
        """Enqueue readings in this order; adding one twice has no effect."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file and how to read it."""

    #: A local file that exists as long as the request.
    path: Path
    sha256: str
    size: int
    #: As detected from the first bytes; None when only a decoder can detect it.
    media_type: str | None
    accuracy: Accuracy = Accuracy.STANDARD
    hint: DocumentType | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    webhook_url: str | None = None
    idempotency_key: str | None = None
    reread: bool = False
    #: Whether a decoder checked the file and found nothing to refuse.
    is_inspected: bool = False

    @property
    def fingerprint(self) -> idempotency.Fingerprint:
        """How a repeated upload is recognized."""
        return idempotency.Fingerprint(self.sha256, self.idempotency_key)


@dataclass(frozen=True, slots=True)
class Submitted:
    """The receipt that an upload belongs to."""

    receipt_id: ReceiptId
    is_replay: bool
    #: To the change of a receipt that was pending when this began; None if it may be read already.
    subscription: Subscription | None = None


@dataclass(frozen=True, slots=True)
class Capacity:
    """How fast this installation reads, and how long an upload may wait for its reading."""

    workers: WorkerRegistry
    max_queue_seconds: float


@dataclass(frozen=True, slots=True)
class Extraction:
    """Accepts uploads and waits for their readings."""

    database: Database
    blobs: Blobs
    pubsub: PubSub
    reader: Reader
    carrier: Enqueuer
    capacity: Capacity
    slots: Semaphores
    #: How long an upload may wait for its reading.
    wait_seconds: float
    #: Limits uploads before their bodies are read.
    arrivals: Arrivals
    #: The limits of each plan.
    plans: Plans = SOLD
    #: Allows one inspection at a time for each org.
    inspections: KeyedLock = field(default_factory=KeyedLock)

    @asynccontextmanager
    async def submitted(self, actor: Actor, upload: Upload) -> AsyncIterator[Submitted]:
        """Yield the receipt of an upload: the earlier one of a repeated upload, or a new one.

        A new upload holds a slot until the block ends; a repeated one holds none.

        Raises:
            Conflict: the Idempotency-Key was used with another file.
            RateLimitExceeded: too many are in flight, or the month's quota is used up.
            ValidationFailed, UnsupportedFormat, LowConfidence: the file cannot be read.
            Overloaded: the queue is too long.
        """
        async with AsyncExitStack() as slot:
            yield await self._submit(actor, upload, slot)

    async def _submit(self, actor: Actor, upload: Upload, slot: AsyncExitStack) -> Submitted:
        if upload.media_type is None:
            upload = await self._with_decoded_type(actor, upload)
        while (known := await self._known(actor, upload)) is None:
            # Simultaneous copies wait for the first of them and need no slot.
            async with upload_limits.turn(self.slots, actor, upload.fingerprint) as is_ours:
                if not is_ours:
                    continue
                try:
                    return await self._accept(actor, upload, slot)
                except idempotency.AlreadyKnownError:
                    # If the other upload has failed since, this one is new after all.
                    continue
                except (RateLimitExceeded, Overloaded):
                    # A copy of this upload may have taken the last slot a moment ago.
                    known = await self._known(actor, upload)
                    if known is None:
                        raise
                    return known
        return await self._read_again(actor, upload, known, slot)

    @asynccontextmanager
    async def again(
        self, actor: Actor, receipt_id: str, accuracy: Accuracy
    ) -> AsyncIterator[Submitted]:
        """Read a stored file again as if it were uploaded with this accuracy; yield the receipt.

        A completed receipt keeps its id and is read only at a higher accuracy; a failed one becomes
        a new upload. A new reading holds a slot until the block ends; a replay holds none.

        Raises:
            NotFound: there is no such receipt, or its file is gone.
            RateLimitExceeded, Overloaded: as for an upload.
        """
        async with self.database.read() as session:
            row = await receipts.row_of(session, actor, receipt_id)
        known = Submitted(ReceiptId(row.id), is_replay=True)
        async with AsyncExitStack() as slot, self.blobs.local_file(known.receipt_id) as path:
            if path is None:
                message = "The file of this receipt is gone."
                raise NotFound(message)
            upload = _stored(row, path, accuracy)
            if row.status == ReceiptStatus.FAILED:
                yield await self._submit(actor, upload, slot)
            else:
                yield await self._read_again(actor, upload, known, slot)

    async def outcome(self, actor: Actor, submitted: Submitted, *, wait_seconds: float) -> Receipt:
        """Return the receipt once it is read, or its current state after the wait.

        Raises:
            LowConfidence, ServerError, ValidationFailed: the reading failed; the error names the
                stored receipt.
        """
        if submitted.subscription is not None:
            started = time.monotonic()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(
                    submitted.subscription.wait(), min(wait_seconds, _POLL_SECONDS)
                )
            wait_seconds -= time.monotonic() - started
        receipt = await self.wait(actor, submitted.receipt_id, wait_seconds=wait_seconds)
        if receipt.failure is not None:
            error = _ERRORS[receipt.failure.code]
            raise error(receipt.failure.message, receipt_id=receipt.id)
        return receipt

    async def wait(
        self,
        actor: Actor,
        receipt_id: str,
        *,
        wait_seconds: float,
        include: frozenset[str] = frozenset(),
    ) -> Receipt:
        """Return a receipt when no reading of it is pending, or when the wait times out."""
        deadline = time.monotonic() + wait_seconds
        with self.pubsub.subscribe(ReceiptId(receipt_id)) as place:
            while True:
                row = await receipts.fetch(self.database, actor, receipt_id)
                left = deadline - time.monotonic()
                if row.pending_accuracy is None or left <= 0:
                    return await self._rendered(row, actor, include)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(place.wait(), min(left, _POLL_SECONDS))

    async def _rendered(
        self, row: tables.Receipt, actor: Actor, include: frozenset[str]
    ) -> Receipt:
        if not include and scope.sees_whole_org(actor):
            return receipts.shape(row)
        async with self.database.read() as session:
            return await receipts.render(session, row, actor=actor, include=include)

    async def _known(self, actor: Actor, upload: Upload) -> Submitted | None:
        found = await idempotency.find(self.database, actor, upload.fingerprint)
        if found is None:
            failed = await readings.failures_of(
                self.database, actor, upload.sha256, upload.accuracy
            )
            is_hopeless = len(failed) >= _FAILURES_BEFORE_RECORD
            return Submitted(failed[0], is_replay=True) if is_hopeless else None
        known = found.receipt_id
        if not found.is_key_bound:
            async with self.database.write() as session:
                is_bound = await idempotency.bind_key(session, actor, upload.fingerprint, known)
            if not is_bound:
                return await self._known(actor, upload)
        return Submitted(known, is_replay=True)

    async def _read_again(
        self, actor: Actor, upload: Upload, known: Submitted, slot: AsyncExitStack
    ) -> Submitted:
        """Read a known receipt again if requested and if the accuracy would be higher.

        A new reading holds a slot.
        """
        while await self._may_reread(actor, upload, known.receipt_id):
            # Simultaneous requests for the same reading wait for the first and need no slot.
            async with upload_limits.turn(self.slots, actor, upload.fingerprint) as is_ours:
                if not is_ours:
                    continue
                try:
                    return await self._enqueue_reread_in_slot(actor, upload, known, slot)
                except (RateLimitExceeded, Overloaded):
                    # The same reading, enqueued a moment ago, may hold the slot.
                    if await self._may_reread(actor, upload, known.receipt_id):
                        raise
        return known

    async def _enqueue_reread_in_slot(
        self, actor: Actor, upload: Upload, known: Submitted, slot: AsyncExitStack
    ) -> Submitted:
        async with AsyncExitStack() as taken:
            await taken.enter_async_context(upload_limits.slot(self.slots, actor))
            await self._refuse_if_overloaded(actor)
            pending = await self._order_again(actor, upload, known.receipt_id)
            if pending is None:
                return known
            await self._enqueue(actor, Job(known.receipt_id, upload.accuracy), pending)
            await slot.enter_async_context(taken.pop_all())
            return Submitted(known.receipt_id, is_replay=False)

    async def _may_reread(self, actor: Actor, upload: Upload, receipt_id: ReceiptId) -> bool:
        if not upload.reread or upload.accuracy is not Accuracy.HIGH:
            return False
        query = scope.of(actor, tables.Receipt).where(*_is_readable_again(receipt_id))
        async with self.database.read() as session:
            return (await session.execute(query)).scalar_one_or_none() is not None

    async def _order_again(self, actor: Actor, upload: Upload, receipt_id: ReceiptId) -> int | None:
        """Make a reading at high accuracy pending, unless another upload just did.

        Returns how many readings of the org are pending now; None if another upload did. Its event
        is sent to the URL that this upload names, not to that of the first.
        """
        statement = (
            scope.updating(actor, tables.Receipt)
            .where(*_is_readable_again(receipt_id))
            .values(
                pending_accuracy=Accuracy.HIGH,
                attempt=0,
                claimed_at=None,
                lease_expires_at=None,
                rereads=tables.Receipt.rereads + 1,
                webhook_url=upload.webhook_url,
            )
            .returning(tables.Receipt.id)
        )
        async with self.database.write() as session:
            if (await session.execute(statement)).scalar_one_or_none() is None:
                return None
            resource = (ResourceType.RECEIPT, receipt_id)
            audit.record(session, actor, AuditAction.RECEIPT_REREAD, resource=resource)
            return await pending_counts.add(session, actor.org_id)

    async def _accept(self, actor: Actor, upload: Upload, slot: AsyncExitStack) -> Submitted:
        async with AsyncExitStack() as taken:
            await taken.enter_async_context(upload_limits.slot(self.slots, actor))
            await self._refuse_if_overloaded(actor, quota_counts=True)
            await self._refuse_if_invalid(actor, upload)
            submitted = await self._store(actor, upload, taken)
            # An accepted upload keeps its slot; a refused one frees it.
            await slot.enter_async_context(taken.pop_all())
            return submitted

    async def _refuse_if_overloaded(self, actor: Actor, *, quota_counts: bool = False) -> None:
        if quota_counts:
            await usage.refuse_over_quota(self.database, actor)
        ahead = await pending_counts.ahead_of(self.database, actor.org_id, plans=self.plans)
        if not ahead:
            return
        stats = await self.capacity.workers.combined_stats()
        expected = ahead * stats.mean_seconds / stats.readers
        if expected > self.capacity.max_queue_seconds:
            over = expected - self.capacity.max_queue_seconds
            raise Overloaded(retry_after=max(1, int(over)))

    async def _with_decoded_type(self, actor: Actor, upload: Upload) -> Upload:
        seen = await self._inspect(actor, upload)
        if isinstance(seen, Failure):
            # The type is unknown, so any failure of the decoders means an unsupported format.
            raise UnsupportedFormat
        return replace(upload, media_type=seen.mime, is_inspected=True)

    async def _refuse_if_invalid(self, actor: Actor, upload: Upload) -> None:
        """Refuse an encrypted or too large file before it is stored.

        A file that cannot be decoded is stored, and its reading fails: it may be a document.
        """
        if upload.is_inspected:
            return
        seen = await self._inspect(actor, upload)
        if isinstance(seen, Failure) and seen.kind is FailureKind.INVALID_DOCUMENT:
            raise ValidationFailed.of("file", seen.message)

    async def _inspect(self, actor: Actor, upload: Upload) -> Kind | Failure:
        """Inspect an upload, one at a time for each org, because files may be slow to open.

        Raises:
            Overloaded: too many uploads of the org are waiting.
        """
        async with AsyncExitStack() as turn:
            try:
                async with asyncio.timeout(_INSPECTION_WAIT_SECONDS):
                    await turn.enter_async_context(self.inspections.hold(actor.org_id))
            except TimeoutError:
                raise Overloaded(retry_after=_INSPECTION_RETRY_SECONDS) from None
            return await self.reader.inspect(upload.path)

    async def _store(self, actor: Actor, upload: Upload, slot: AsyncExitStack) -> Submitted:
        receipt_id = ReceiptId(ids.new("rcp"))
        with upload.path.open("rb") as file:
            await self.blobs.put(receipt_id, file)
        try:
            async with self.database.write() as session:
                pending = await self._record(session, actor, upload, receipt_id)
        except DatabaseUnavailable:
            # The transaction may be committed, and only the response lost.
            raise
        except (idempotency.AlreadyKnownError, ServiceError):
            # Delete the file only if the row is surely missing; otherwise the sweep decides.
            await self.blobs.delete(receipt_id)
            raise
        subscription = slot.enter_context(self.pubsub.subscribe(receipt_id))
        await self._enqueue(actor, Job(receipt_id, upload.accuracy), pending)
        return Submitted(receipt_id, is_replay=False, subscription=subscription)

    async def _enqueue(self, actor: Actor, job: Job, pending: int) -> None:
        """Enqueue a reading; if its org has enough in the queue, a periodic job does it later.

        `pending` is how many of the org were pending when this one was stored, itself included.
        """
        if pending > 1:
            async with self.database.read() as session:
                is_next = await fair_queue.is_eligible(
                    session, actor.org_id, job.receipt_id, plan=actor.plan.name
                )
            if not is_next:
                return
        await self.carrier.add_readings([job])

    async def _record(
        self, session: Session, actor: Actor, upload: Upload, receipt_id: ReceiptId
    ) -> int:
        """Store an upload; return how many readings of the org are pending now."""
        row = _row(actor, upload, receipt_id)
        session.add(row)
        audit.record(
            session,
            actor,
            AuditAction.RECEIPT_CREATED,
            resource=(ResourceType.RECEIPT, receipt_id),
            after={"accuracy": upload.accuracy, "media_type": upload.media_type},
        )
        # The rows below refer to the receipt.
        await session.flush()
        # Before the quota: all but one of many simultaneous copies are replays and cost nothing.
        await idempotency.claim(session, actor, upload.fingerprint, receipt_id)
        await usage.hold(session, actor, row.quota_month)
        for key, value in upload.metadata.items():
            session.add(
                tables.ReceiptTag(receipt_id=receipt_id, org_id=actor.org_id, key=key, value=value)
            )
        return await pending_counts.add(session, actor.org_id)


def _is_readable_again(receipt_id: ReceiptId) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions of a receipt that has no reading at high accuracy, done or pending.

    A receipt whose rereads did not improve it is not read again.
    """
    return (
        tables.Receipt.id == receipt_id,
        tables.Receipt.status == ReceiptStatus.COMPLETED,
        tables.Receipt.accuracy == Accuracy.STANDARD,
        tables.Receipt.pending_accuracy.is_(None),
        tables.Receipt.rereads < readings.MAX_REREADS,
        tables.Receipt.deleted_at.is_(None),
    )


def _stored(row: tables.Receipt, path: Path, accuracy: Accuracy) -> Upload:
    """Return the upload of a receipt; its event goes to the same URL again."""
    return Upload(
        path=path,
        sha256=row.file_sha256,
        size=row.file_size,
        media_type=row.media_type,
        accuracy=accuracy,
        hint=DocumentType(row.hint) if row.hint else None,
        metadata=row.tags,
        webhook_url=row.webhook_url,
        reread=True,
    )


def _row(actor: Actor, upload: Upload, receipt_id: ReceiptId) -> tables.Receipt:
    now = clock.now()
    return tables.Receipt(
        id=receipt_id,
        org_id=actor.org_id,
        status=ReceiptStatus.PENDING,
        created_at=now,
        updated_at=now,
        created_by=actor.created_by,
        file_sha256=upload.sha256,
        file_size=upload.size,
        media_type=upload.media_type,
        hint=upload.hint,
        webhook_url=upload.webhook_url,
        tags=dict(upload.metadata),
        accuracy=upload.accuracy,
        pending_accuracy=upload.accuracy,
        attempt=0,
        quota_month=usage.month_of(now),
    )
