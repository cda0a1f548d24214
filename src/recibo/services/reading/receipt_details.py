"""A receipt with its document, as the portal shows it: more than the API returns."""

from dataclasses import dataclass
from typing import Any

from recibo.adapters.reader_process.failures import OUT_OF_MEMORY, TIMED_OUT
from recibo.extract.errors import Blank, Damaged, UnknownScript
from recibo.extract.model import Accuracy
from recibo.schemas import stored
from recibo.schemas.actor import Actor
from recibo.schemas.receipts import Evidence, PageSize, Reading, Receipt
from recibo.schemas.states import FailureCode, ReceiptStatus
from recibo.services.reading import readings, receipts, stored_readings
from recibo.store import tables
from recibo.store.db import ReadSession

# The message of a failure after which no further reading can help.
_DAMAGED = Damaged.__doc__
# The messages of failures after which high accuracy cannot help: it finds the same, or is slower.
_BEYOND_HIGH = tuple(
    str(one) for one in (_DAMAGED, Blank.__doc__, UnknownScript.__doc__, TIMED_OUT, OUT_OF_MEMORY)
)


@dataclass(frozen=True, slots=True)
class Change:
    """A field that a reading at high accuracy changed, as the API shows it."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Gain:
    """What a reading at high accuracy improved; no changes when it was free and in vain."""

    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class ReceiptDetails:
    """A receipt, its file, and what becomes of it."""

    receipt: Receipt
    #: None before it is read.
    evidence: Evidence | None
    #: The pages to which boxes refer; empty before it is read, and for readings of old releases.
    pages: tuple[PageSize, ...]
    #: What the machine read; None before it is read.
    machine: Reading | None
    #: The receipts that look like the same document.
    duplicates: tuple[Receipt, ...]
    media_type: str
    file_size: int
    #: Whether a reading is pending, the first or another.
    is_in_work: bool
    #: Whether it can be read again at high accuracy, under its own id.
    is_readable_again: bool
    #: Whether its file cannot be opened, so that no further reading can help.
    is_damaged: bool
    #: What the last reading at high accuracy changed; None when there was none.
    gain: Gain | None


def is_worth_high(receipt: Receipt) -> bool:
    """Return whether high accuracy may read what failed."""
    failure = receipt.failure
    return (
        failure is not None
        and failure.code is FailureCode.LOW_CONFIDENCE
        and receipt.accuracy is Accuracy.STANDARD
        and not failure.message.startswith(_BEYOND_HIGH)
    )


def has_picture(receipt: Receipt) -> bool:
    """Return whether the pages can be drawn: those of what was read, or was read in vain."""
    failure = receipt.failure
    if failure is None:
        return receipt.status is ReceiptStatus.COMPLETED
    return failure.code is FailureCode.LOW_CONFIDENCE and failure.message != _DAMAGED


async def get(session: ReadSession, actor: Actor, receipt_id: str) -> ReceiptDetails:
    """Return a receipt of the actor's org with its document; raises NotFound for other ids."""
    row = await receipts.row_of(session, actor, receipt_id)
    read = await session.get(tables.Evidence, row.id)
    return ReceiptDetails(
        receipt=receipts.shape(row),
        evidence=Evidence.model_validate(stored.load(Evidence, read.evidence)) if read else None,
        pages=tuple(PageSize.model_validate(one) for one in (read and read.pages) or ()),
        machine=stored_readings.of_machine(row) if row.reading else None,
        duplicates=await _duplicates(session, actor, row),
        media_type=row.media_type,
        file_size=row.file_size,
        is_in_work=row.pending_accuracy is not None,
        is_readable_again=_is_readable_again(row),
        is_damaged=row.failure_message == _DAMAGED,
        gain=_gain(row),
    )


async def _duplicates(
    session: ReadSession, actor: Actor, row: tables.Receipt
) -> tuple[Receipt, ...]:
    found = receipts.live(actor).where(tables.Receipt.id.in_(row.duplicates or ()))
    rows = (await session.execute(found.order_by(tables.Receipt.id))).scalars()
    return tuple(receipts.shape(one) for one in rows)


def _gain(row: tables.Receipt) -> Gain | None:
    if row.status != ReceiptStatus.COMPLETED or row.pending_accuracy is not None:
        return None
    if row.reread_changes:
        changes = [Change(name, *values) for name, values in row.reread_changes.items()]
        return Gain(tuple(changes))
    is_confirmed = row.accuracy == Accuracy.HIGH and row.rereads > 0
    is_in_vain = row.accuracy == Accuracy.STANDARD and row.rereads >= readings.MAX_REREADS
    return Gain() if is_confirmed or is_in_vain else None


def _is_readable_again(row: tables.Receipt) -> bool:
    is_read = row.status == ReceiptStatus.COMPLETED and row.pending_accuracy is None
    return is_read and row.accuracy == Accuracy.STANDARD and row.rereads < readings.MAX_REREADS
