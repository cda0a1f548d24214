"""Receipts by the thousand, as rows and without their files."""

import datetime as dt
from decimal import Decimal
from typing import Any

from sqlalchemy import func, insert, select, text

from recibo.extract.model import Accuracy, Category, DocumentType
from recibo.shapes.receipts import LineItem, Reading
from recibo.shapes.states import ReceiptStatus
from recibo.store import tables
from recibo.store.db import Database

#: What few receipts have; all of these are among the oldest ones, so that each size of the table
#: holds the same, ever farther down.
RARE_TAG = ("project", "apollo")
RARE_TYPE = DocumentType.NFSE
RARE_DAY = dt.date(2019, 5, 17)
_OLDEST = 10_000
_RARE = 150

_BATCH = 5_000
_FIRST_DAY = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
#: The papers are of so many days, in no order.
_DAYS = 900
_USUAL_TYPES = [kind for kind in DocumentType if kind is not RARE_TYPE]


async def fill(database: Database, size: int) -> None:
    """Add receipts to the one org that there is until it has so many."""
    async with database.read() as session:
        org_id = (await session.execute(select(tables.Org.id))).scalar_one()
        count = (await session.execute(select(func.count(tables.Receipt.id)))).scalar_one()
    for start in range(count, size, _BATCH):
        numbers = range(start, min(start + _BATCH, size))
        tags = [_tag(org_id, number) for number in numbers if _is_rare(number)]
        async with database.write() as session:
            rows = [_receipt(org_id, number) for number in numbers]
            await session.execute(insert(tables.Receipt), rows)
            if tags:
                await session.execute(insert(tables.ReceiptTag), tags)
    if not database.is_sqlite:
        # PostgreSQL looks at its tables by itself, but not this minute; SQLite never does.
        async with database.write() as session:
            await session.execute(text("ANALYZE"))


def receipt_id(number: int) -> str:
    """Return the id of the receipt that was added as this one, counted from 0."""
    return f"rcp_{number:032x}"


def _is_rare(number: int) -> bool:
    return number < _OLDEST and number % _RARE == 0


def _is_failed(number: int) -> bool:
    return number < _OLDEST and number % _RARE == 1


def _day(number: int) -> dt.date:
    # A prime scatters the days over the receipts.
    usual = (_FIRST_DAY + dt.timedelta(days=number * 7919 % _DAYS)).date()
    return RARE_DAY if _is_rare(number) else usual


def _receipt(org_id: str, number: int) -> dict[str, Any]:
    created_at = _FIRST_DAY + dt.timedelta(seconds=30 * number)
    is_failed = _is_failed(number)
    issued_on = _day(number)
    kind = RARE_TYPE if _is_rare(number) else _USUAL_TYPES[number % len(_USUAL_TYPES)]
    total = Decimal(number % 100_000) / 100
    return {
        "id": receipt_id(number),
        "org_id": org_id,
        "status": ReceiptStatus.FAILED if is_failed else ReceiptStatus.COMPLETED,
        "created_at": created_at,
        "updated_at": created_at,
        "created_by": "key_of_the_bench",
        "file_sha256": f"{number:064x}",
        "file_size": 500_000,
        "media_type": "image/jpeg",
        "tags": dict([RARE_TAG]) if _is_rare(number) else {},
        "accuracy": Accuracy.STANDARD,
        "attempt": 1,
        "quota_month": f"{created_at:%Y-%m}",
        "reading": None if is_failed else _reading(kind, total, issued_on),
        "type": kind,
        "category": Category.GROCERIES,
        "merchant_name": f"MERCHANT {number % 500}",
        "currency": "EUR",
        "total": total,
        "issued_on": issued_on,
        "issued_at": dt.datetime.combine(issued_on, dt.time(12), dt.UTC),
    }


def _reading(kind: DocumentType, total: Decimal, issued_on: dt.date) -> dict[str, Any]:
    item = LineItem(name="One of ten things", qty="1", unit_price="1.10", total="1.10")
    reading = Reading(
        type=kind,
        merchant_name="MERCHANT",
        merchant_tax_id="DE123456789",
        issued_at=f"{issued_on}T12:00:00+00:00",
        total=f"{total:.2f}",
        subtotal=f"{total:.2f}",
        tax="0.00",
        currency="EUR",
        document_number="12345",
        document_key=None,
        line_items=(item,) * 10,
        confidence=0.95,
        category=Category.GROCERIES,
    )
    return reading.model_dump(mode="json")


def _tag(org_id: str, number: int) -> dict[str, str]:
    key, value = RARE_TAG
    return {"receipt_id": receipt_id(number), "org_id": org_id, "key": key, "value": value}
