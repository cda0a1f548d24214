"""What requests take: the filters of lists and exports, and the changes of a correction."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypedDict, Union

from pydantic_core import to_jsonable_python

if TYPE_CHECKING:
    from recibo_client import models

Amount = Union[Decimal, str]
Moment = Union[dt.datetime, str]
Day = Union[dt.date, dt.datetime, str]


class Filters(TypedDict, total=False):
    """The filters of lists and exports. A receipt must match all.

    Attributes:
        q: Words, or beginnings of words, in the merchant, the numbers, the items or the text.
        after: Issued on or after: a date, as printed on the document, or a time with its offset.
        before: Issued strictly before.
        merchant: The whole name, without regard to case, accents and punctuation.
        min_total: At least this total.
        max_total: At most this total.
        max_confidence: At most this confidence.
        duplicates: True: only receipts with duplicates.
        metadata: Only receipts with these values under these keys.
    """

    q: str
    after: Day
    before: Day
    type: models.DocumentType
    status: models.ReceiptStatus
    review: models.ReviewStatus
    merchant: str
    currency: str
    category: models.Category
    min_total: Amount | int
    max_total: Amount | int
    max_confidence: float
    duplicates: bool
    metadata: Mapping[str, str]


class Correction(TypedDict, total=False):
    """The changes of a receipt. None clears a field; what is left out stays as it is.

    Attributes:
        issued_at: With its UTC offset.
        line_items: The whole list; `[]` clears it. So do `taxes` and `payments`.
        metadata: Replaces all entries.
        approved: True approves the receipt, False withdraws the approval.
        version: The version that you have seen: if the receipt has another one, nothing is
            changed, and the error is ConflictError.
    """

    type: models.DocumentType
    merchant_name: str | None
    merchant_tax_id: str | None
    issued_at: Moment | None
    total: Amount | None
    subtotal: Amount | None
    tax: Amount | None
    currency: str | None
    document_number: str | None
    document_key: str | None
    line_items: Sequence[models.LineItem | Mapping[str, Any]]
    merchant_address: str | None
    customer_name: str | None
    customer_tax_id: str | None
    due_date: dt.date | str | None
    discount: Amount | None
    tip: Amount | None
    service_charge: Amount | None
    rounding: Amount | None
    taxes: Sequence[models.TaxLine | Mapping[str, Any]]
    payments: Sequence[models.Payment | Mapping[str, Any]]
    category: models.Category | None
    metadata: Mapping[str, str]
    approved: bool
    version: int


def query(filters: Filters, **others: Any) -> dict[str, str]:
    """Return the query parameters of filters; others that are None are left out."""
    # The API ignores parameters that it does not know, so a slip would list everything.
    _refuse_unknown(filters, Filters)
    given: dict[str, Any] = {**filters, **others}
    tags = given.pop("metadata", None) or {}
    named = {name: _text(value) for name, value in given.items() if value is not None}
    return {**named, **{f"metadata.{key}": value for key, value in tags.items()}}


def form(**fields: Any) -> dict[str, str]:
    """Return the fields of a form; those that are None are left out."""
    return {
        name: json.dumps(dict(value)) if isinstance(value, Mapping) else _text(value)
        for name, value in fields.items()
        if value is not None
    }


def body(correction: Correction) -> dict[str, Any]:
    """Return the JSON of a correction: decimals as strings, times in ISO 8601."""
    _refuse_unknown(correction, Correction)
    changes: dict[str, Any] = to_jsonable_python(dict(correction))
    return changes


def _refuse_unknown(given: Mapping[str, object], known: type) -> None:
    unknown = sorted(set(given) - set(known.__annotations__))
    if unknown:
        message = f"There is no {unknown[0]!r}, only {', '.join(known.__annotations__)}."
        raise TypeError(message)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, dt.date) else str(value)
