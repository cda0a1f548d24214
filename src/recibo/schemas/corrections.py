"""Corrections of a receipt, validated: what a person may change."""

import datetime as dt
import re
from decimal import Decimal
from typing import Annotated, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
)

from recibo.extract.brazil import access_keys
from recibo.extract.model import Category, DocumentType, PaymentMethod
from recibo.lib import money
from recibo.schemas.metadata import checked as checked_metadata

# Of more digits than these, no database stores an exact amount.
_AMOUNT = re.compile(r"-?\d{1,12}(\.\d{1,4})?", re.ASCII)
_TAX_ID = re.compile(r"[0-9A-Za-z]{1,40}", re.ASCII)
# Controls, separators of lines, changes of the direction of writing, and halves of surrogate pairs.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_VISIBLE = re.compile(r"[^\s\u200b-\u200d\ufeff]")
# Programs write whole seconds with a fraction, too; documents have none.
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.0{1,9})?)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_LAST4 = re.compile(r"\d{4}", re.ASCII)
_MAX_NAME, _MAX_NUMBER, _MAX_ITEMS = 255, 64, 1000
_MAX_TAXES, _MAX_PAYMENTS = 100, 100
_MAX_RATE = 1000


def _line(text: str) -> str:
    if _CONTROL.search(text) or not _VISIBLE.search(text):
        raise ValueError("must be one line of text, not blank; null clears the field")
    return text.strip()


def _amount(text: str) -> str:
    if not _AMOUNT.fullmatch(text):
        raise ValueError('must be a decimal in a string, such as "42.59"')
    return money.as_printed(Decimal(text))


def _tax_id(text: str) -> str:
    if not _TAX_ID.fullmatch(text):
        raise ValueError("must be letters and digits only, at most 40")
    return text.upper()


def _document_key(text: str) -> str:
    # Its check digit may be wrong: documents are printed with such keys, too.
    if access_keys.parse(text) is None:
        raise ValueError("is not the access key of a fiscal document: 44 or 50 characters")
    return text


def _currency(text: str) -> str:
    if text not in money.CURRENCIES:
        raise ValueError("must be an ISO 4217 code, such as BRL")
    return text


def _moment(text: str) -> str:
    problem = "must be an ISO 8601 timestamp with its offset, such as 2026-03-14T08:17:42-03:00"
    if not _TIMESTAMP.fullmatch(text):
        raise ValueError(problem)
    try:
        moment = dt.datetime.fromisoformat(text)
        # Both databases store times in UTC.
        moment.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise ValueError(problem) from None
    return moment.isoformat()


def _day(text: str) -> str:
    problem = "must be a date such as 2026-04-13"
    if not _DAY.fullmatch(text):
        raise ValueError(problem)
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(problem) from None


def _positive(text: str) -> str:
    if text.startswith("-"):
        raise ValueError("must not be negative")
    return text


def _rate(text: str) -> str:
    if Decimal(text) > _MAX_RATE:
        raise ValueError(f"must be a percentage up to {_MAX_RATE}")
    return text


def _last4(text: str) -> str:
    if not _LAST4.fullmatch(text):
        raise ValueError("must be four digits")
    return text


def _given(value: object) -> object:
    if value is None:
        raise ValueError("cannot be null; leave it out to keep it")
    return value


_Line: TypeAlias = Annotated[StrictStr, AfterValidator(_line)]
_Amount: TypeAlias = Annotated[
    StrictStr, AfterValidator(_amount), Field(description="A decimal in a string.")
]
_Positive: TypeAlias = Annotated[_Amount, AfterValidator(_positive)]
_Rate: TypeAlias = Annotated[_Positive, AfterValidator(_rate), Field(description="In percent.")]
_Name: TypeAlias = Annotated[_Line, Field(max_length=_MAX_NAME)]
_Code: TypeAlias = Annotated[_Line, Field(max_length=_MAX_NUMBER)]


class LineItemCorrection(BaseModel):
    """One line of what was bought."""

    name: _Name
    qty: _Amount | None = None
    unit_price: _Amount | None = None
    total: _Amount | None = None
    code: _Code | None = None
    unit: _Code | None = None
    tax_rate: _Rate | None = None
    discount: _Positive | None = None


class TaxCorrection(BaseModel):
    """One tax at one rate."""

    name: _Name | None = None
    rate: _Rate | None = None
    base: _Amount | None = None
    amount: _Amount | None = None
    informational: StrictBool = False


class PaymentCorrection(BaseModel):
    """One payment."""

    method: PaymentMethod
    amount: _Amount | None = None
    tendered: _Amount | None = None
    last4: Annotated[StrictStr, AfterValidator(_last4)] | None = None


class Correction(BaseModel):
    """Changes to a receipt; what is left out stays as it is, and `null` clears a field."""

    type: Annotated[DocumentType | None, BeforeValidator(_given)] = None
    merchant_name: _Name | None = None
    merchant_tax_id: Annotated[StrictStr, AfterValidator(_tax_id)] | None = None
    issued_at: Annotated[StrictStr, AfterValidator(_moment)] | None = Field(
        default=None, description="ISO 8601 with the UTC offset."
    )
    total: _Amount | None = None
    subtotal: _Amount | None = None
    tax: _Amount | None = None
    currency: Annotated[StrictStr, AfterValidator(_currency)] | None = None
    document_number: _Code | None = None
    document_key: Annotated[StrictStr, AfterValidator(_document_key)] | None = None
    line_items: Annotated[list[LineItemCorrection] | None, BeforeValidator(_given)] = Field(
        default=None, max_length=_MAX_ITEMS, description="The whole list; `[]` clears it."
    )
    merchant_address: _Name | None = None
    customer_name: _Name | None = None
    customer_tax_id: Annotated[StrictStr, AfterValidator(_tax_id)] | None = None
    due_date: Annotated[StrictStr, AfterValidator(_day)] | None = Field(
        default=None, description="`YYYY-MM-DD`."
    )
    discount: _Positive | None = None
    tip: _Amount | None = None
    service_charge: _Amount | None = None
    rounding: _Amount | None = None
    taxes: Annotated[list[TaxCorrection] | None, BeforeValidator(_given)] = Field(
        default=None, max_length=_MAX_TAXES, description="The whole list; `[]` clears it."
    )
    payments: Annotated[list[PaymentCorrection] | None, BeforeValidator(_given)] = Field(
        default=None, max_length=_MAX_PAYMENTS, description="The whole list; `[]` clears it."
    )
    category: Category | None = None
    metadata: Annotated[
        dict[StrictStr, StrictStr] | None,
        BeforeValidator(_given),
        AfterValidator(checked_metadata),
    ] = Field(default=None, description="Replaces all entries; `{}` removes them.")
    approved: Annotated[StrictBool | None, BeforeValidator(_given)] = Field(
        default=None,
        description="`true` approves the receipt, `false` withdraws the approval.",
    )
    version: Annotated[StrictInt | None, BeforeValidator(_given)] = Field(
        default=None, description="The `version` that is corrected; refused if it is another one."
    )
