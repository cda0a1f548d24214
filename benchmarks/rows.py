"""Receipts by the thousand, as rows and without their files, and what analytics keep of them."""

import datetime as dt
import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sqlalchemy import Select, SQLColumnExpression, delete, func, insert, select, text

from benchmarks import copied_rows
from recibo.extract.model import Accuracy, Category, DocumentType
from recibo.lib import clock, search_text
from recibo.schemas.receipts import LineItem, Reading
from recibo.schemas.states import FailureCode, ReceiptStatus, ReviewStatus
from recibo.store import tables
from recibo.store.db import Database, Session

#: What few receipts have; all of these are among the oldest ones, so that each size of the table
#: holds the same, ever farther down.
RARE_TAG = ("project", "apollo")
RARE_TYPE = DocumentType.NFSE
RARE_DAY = dt.date(2019, 5, 17)
RARE_WORD = "saxophone"
RARE_CATEGORY = Category.TAXES
RARE_CURRENCY = "ISK"
#: Above all usual totals.
RARE_TOTAL = Decimal("4321.09")
#: On every receipt.
COMMON_WORDS = ("total", "tax", "cash", "change", "date", "thank", "you")
_OLDEST = 10_000
_RARE = 150

_BATCH = 5_000
_FIRST_DAY = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
#: The receipts are spread over this many days, in random order.
_DAYS = 900
#: Receipts come in twice a minute, a million within the year that analytics look back on.
_YEAR = dt.timedelta(days=364)
_PACE = dt.timedelta(seconds=30)
# A million receipts name nearly all of them.
_MERCHANTS = 50_000
_CATEGORIES = [one for one in (*Category, None) if one is not Category.TAXES]
_USUAL_TYPES = [kind for kind in DocumentType if kind is not RARE_TYPE]


async def fill(url: str, size: int, *, originals: int = _OLDEST) -> None:
    """Add receipts to the one org that there is until it has so many, and total them.

    Those after the originals are copied by the database.
    """
    began = clock.now().replace(hour=0, minute=0, second=0, microsecond=0) - _YEAR
    database = Database(url)
    try:
        async with database.read() as session:
            org_id = (await session.execute(select(tables.Org.id))).scalar_one()
            count = (await session.execute(select(func.count(tables.Receipt.id)))).scalar_one()
        if count >= size:
            return
        first = range(count, min(size, originals))
        for start in first[::_BATCH]:
            numbers = range(start, min(start + _BATCH, first.stop))
            await _add(database, org_id, numbers, began)
        copies = range(max(count, originals), size)
        if copies:
            usual_words = _usual_words(org_id)
            await copied_rows.copy(
                url, copies, originals=originals, began=began, usual_words=usual_words
            )
        async with database.write() as session:
            await _total(session, org_id)
            if not database.is_sqlite:
                # PostgreSQL analyzes its tables later; SQLite never does.
                await session.execute(text("ANALYZE"))
    finally:
        await database.close()


async def _add(database: Database, org_id: str, numbers: range, began: dt.datetime) -> None:
    tags = [_tag(org_id, number) for number in numbers if _is_rare(number)]
    async with database.write() as session:
        rows = [_receipt(org_id, number, began + number * _PACE) for number in numbers]
        await session.execute(insert(tables.Receipt), rows)
        words = [_words(org_id, number) for number in numbers if not _is_failed(number)]
        await session.execute(insert(tables.ReceiptWords), words)
        if tags:
            await session.execute(insert(tables.ReceiptTag), tags)


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


def _merchant(number: int) -> str:
    # A few have most receipts and most a few, as shops have; a prime scatters them.
    share = number * 7919 % 1_000_003 / 1_000_003
    return f"MERCHANT {int(_MERCHANTS**share)}"


def _receipt(org_id: str, number: int, created_at: dt.datetime) -> dict[str, Any]:
    is_failed = _is_failed(number)
    is_approved = not is_failed and _review_status(number) is ReviewStatus.APPROVED
    issued_on = _day(number)
    kind = RARE_TYPE if _is_rare(number) else _USUAL_TYPES[number % len(_USUAL_TYPES)]
    # A prime scatters the totals, too.
    total = RARE_TOTAL if _is_rare(number) else Decimal(number * 7919 % 100_000) / 100
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
        "category": (RARE_CATEGORY if _is_rare(number) else _CATEGORIES[number % len(_CATEGORIES)]),
        "merchant_name": _merchant(number),
        "merchant_key": search_text.key(_merchant(number)),
        "currency": RARE_CURRENCY if _is_rare(number) else "EUR",
        "total": total,
        "confidence": 0.3 if _is_rare(number) else 0.95,
        "doubts": [],
        "duplicates": [receipt_id(number + 1)] if _is_rare(number) else None,
        "failure_code": FailureCode.LOW_CONFIDENCE if is_failed else None,
        "review_status": None if is_failed else _review_status(number),
        "approved_by": "key_of_the_bench" if is_approved else None,
        "approved_at": created_at if is_approved else None,
        "issued_on": issued_on,
        "issued_at": dt.datetime.combine(issued_on, dt.time(12), dt.UTC),
    }


def _review_status(number: int) -> ReviewStatus:
    return ReviewStatus.NEEDS_REVIEW if _is_rare(number) else ReviewStatus.APPROVED


def _words(org_id: str, number: int) -> dict[str, Any]:
    """Return the words of a receipt: as many as a page has, some of them on every receipt."""
    scattered = [f"word{number * prime % 20_011}" for prime in copied_rows.PRIMES]
    rare = [RARE_WORD] if _is_rare(number) else []
    words = [*_usual_words(org_id).split(), *scattered, *rare]
    words += ["merchant", _merchant(number).split()[1], f"number{number}"]
    return {"receipt_id": receipt_id(number), "words": " ".join(dict.fromkeys(words))}


def _usual_words(org_id: str) -> str:
    return " ".join((org_id.replace("org_", "_"), *COMMON_WORDS))


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


async def _total(session: Session, org_id: str) -> None:
    """Recompute the totals from the receipts in one pass; the service updates them one by one."""
    for table, rows in (
        (tables.UsageDay, await _usage_days(session, org_id)),
        (tables.CategoryTotal, await _category_totals(session, org_id)),
        (tables.MerchantTotal, await _merchant_totals(session, org_id)),
        (tables.MerchantMonth, await _merchant_months(session, org_id)),
        (tables.SpendMonth, await _spend_months(session, org_id)),
    ):
        await session.execute(delete(table).where(table.org_id == org_id))
        for start in range(0, len(rows), _BATCH):
            await session.execute(insert(table), rows[start : start + _BATCH])


async def _usage_days(session: Session, org_id: str) -> list[dict[str, Any]]:
    # Databases differ in date functions, and there are few times.
    query = _completed(org_id).with_only_columns(tables.Receipt.created_at)
    days = Counter([time.date() for time in (await session.execute(query)).scalars()])
    return [{"org_id": org_id, "day": day, "count": count} for day, count in days.items()]


async def _category_totals(session: Session, org_id: str) -> list[dict[str, Any]]:
    column = tables.Receipt.category
    query = _completed(org_id).where(column.is_not(None)).group_by(column)
    counted = await session.execute(query.with_only_columns(column, func.count()))
    return [
        {"org_id": org_id, "category": category, "receipts": count} for category, count in counted
    ]


async def _merchant_totals(session: Session, org_id: str) -> list[dict[str, Any]]:
    column = tables.Receipt.merchant_name
    query = _completed(org_id).where(column.is_not(None)).group_by(column)
    spent = func.sum(tables.Receipt.total)
    counted = await session.execute(query.with_only_columns(column, func.count(), spent))
    return [
        {
            "org_id": org_id,
            "merchant_hash": hashlib.sha256(merchant.encode()).hexdigest(),
            "merchant": merchant,
            "receipts": count,
            "total_spent": total,
        }
        for merchant, count, total in counted
    ]


async def _merchant_months(session: Session, org_id: str) -> list[dict[str, Any]]:
    receipt = tables.Receipt
    keys = {"currency": receipt.currency, "merchant_key": receipt.merchant_key}
    named = _completed(org_id).where(receipt.merchant_key.is_not(None))
    return await _months(session, org_id, named, keys)


async def _spend_months(session: Session, org_id: str) -> list[dict[str, Any]]:
    receipt = tables.Receipt
    # What these lack is the empty text in a rollup.
    names = ("category", "review_status")
    keys = {name: func.coalesce(getattr(receipt, name), "") for name in names}
    return await _months(
        session, org_id, _completed(org_id), {"currency": receipt.currency, **keys}
    )


async def _months(
    session: Session, org_id: str, query: Select[Any], keys: Mapping[str, SQLColumnExpression[Any]]
) -> list[dict[str, Any]]:
    """Return how many receipts each month has, and their totals, for each value of the keys."""
    receipt = tables.Receipt
    columns = (receipt.issued_on, *keys.values())
    dated = query.where(receipt.currency.is_not(None), receipt.issued_on.is_not(None))
    spent = func.coalesce(func.sum(receipt.total), 0, type_=receipt.total.type)
    days = await session.execute(
        dated.group_by(*columns).with_only_columns(*columns, func.count(), spent)
    )
    months: dict[tuple[Any, ...], list[Any]] = defaultdict(lambda: [0, Decimal(0)])
    for day, *values, count, total in days:
        sums = months[day.replace(day=1), *values]
        sums[0] += count
        sums[1] += total
    return [
        {
            "org_id": org_id,
            "month": month,
            **dict(zip(keys, values, strict=True)),
            "receipts": count,
            "total_spent": total,
        }
        for (month, *values), (count, total) in months.items()
    ]


def _completed(org_id: str) -> Select[tuple[tables.Receipt]]:
    return select(tables.Receipt).where(
        tables.Receipt.org_id == org_id, tables.Receipt.status == ReceiptStatus.COMPLETED
    )
