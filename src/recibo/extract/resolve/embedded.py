"""Merges what an e-invoice in a PDF says with what its pages show.

The e-invoice decides. A field that it lacks comes from the pages, and so does the box of a value on
which both agree. Where the pages have another value, and that of the e-invoice is nowhere on them,
they contradict each other: then the value of the page is kept as an alternative.
"""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeVar

from recibo.extract.einvoices import EInvoice
from recibo.extract.model import (
    Alternative,
    Details,
    Extracted,
    LineItem,
    Moment,
    Receipt,
    TaxLine,
)
from recibo.extract.text import dates, folding, numbers

T = TypeVar("T")

# A value that was read with less confidence contradicts nothing.
_LEAST = 0.7
# The confidence in a value that the page contradicts.
_CONTRADICTED = 0.9
_OTHER = re.compile(r"[^0-9a-z]")


def merged(page: Receipt, invoice: EInvoice) -> Receipt:
    """Return the receipt of an e-invoice, completed by that of its pages."""
    known = invoice.receipt
    printed = _Printed(page.texts)
    tax_id = page.merchant_tax_id
    is_of_seller = tax_id is not None and tax_id.value in invoice.seller_tax_ids
    return replace(
        page,
        type=known.type,
        merchant_name=_merged(known.merchant_name, page.merchant_name, printed.has_text),
        merchant_tax_id=_merged(
            known.merchant_tax_id, tax_id, lambda one: is_of_seller or printed.has_text(one)
        ),
        issued_at=_issued_at(invoice.moment, page.issued_at, printed),
        total=_merged(known.total, page.total, printed.has_amount),
        subtotal=_merged(known.subtotal, page.subtotal, printed.has_amount),
        tax=_merged(known.tax, page.tax, printed.has_amount),
        currency=_merged(known.currency, page.currency, printed.has_text),
        document_number=_merged(known.document_number, page.document_number, printed.has_text),
        line_items=_line_items(known.line_items, page.line_items, printed),
        details=_details(known.details, page.details, printed),
    )


def _details(known: Details, page: Details, printed: "_Printed") -> Details:
    return replace(
        page,
        merchant_address=known.merchant_address or page.merchant_address,
        customer_name=_merged(known.customer_name, page.customer_name, printed.has_text),
        customer_tax_id=_merged(known.customer_tax_id, page.customer_tax_id, printed.has_text),
        due_date=_merged(known.due_date, page.due_date, printed.has_day),
        discount=_merged(known.discount, page.discount, printed.has_amount),
        rounding=_merged(known.rounding, page.rounding, printed.has_amount),
        taxes=_taxes(known.taxes, page.taxes, printed),
    )


class _Printed:
    """What is anywhere on the pages."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._lines = [line for text in texts for line in text.split("\n")]

    def has_text(self, value: str) -> bool:
        """Return whether the letters and digits of a value are on the pages, in this order."""
        return _normalized(value) in self._text

    def has_amount(self, value: Decimal) -> bool:
        """Return whether an amount is on the pages, with any sign."""
        return abs(value) in self._amounts

    def has_day(self, value: dt.date) -> bool:
        """Return whether a date is on the pages."""
        return value in self._days

    @cached_property
    def _text(self) -> str:
        return _normalized("".join(self._lines))

    @cached_property
    def _amounts(self) -> set[Decimal]:
        return {abs(found.value) for line in self._lines for found in numbers.amounts(line)}

    @cached_property
    def _days(self) -> set[dt.date]:
        # Numeric dates in any order: what is printed may be this day.
        found = (dates.days(line, [order]) for line in self._lines for order in dates.ORDERS)
        return {day.date for days in found for day in days}


def _merged(
    embedded: Extracted[T] | None, read: Extracted[T] | None, is_printed: Callable[[T], bool]
) -> Extracted[T] | None:
    """Return the embedded value, with the box of the page or what the page says instead."""
    if embedded is None or read is None:
        return embedded or read
    if read.value == embedded.value:
        return _placed(embedded, read)
    if read.confidence < _LEAST or is_printed(embedded.value):
        return embedded
    others = (Alternative(read.value, read.confidence),)
    return replace(embedded, confidence=_CONTRADICTED, alternatives=others)


def _placed(embedded: Extracted[T], read: Extracted[Any]) -> Extracted[T]:
    """Return the embedded value with the place of the one that was read."""
    return replace(embedded, text=read.text, page=read.page, box=read.box, whole_box=read.whole_box)


def _issued_at(
    embedded: Extracted[Moment] | None, read: Extracted[Moment] | None, printed: _Printed
) -> Extracted[Moment] | None:
    """Return the embedded day, with the time of the page if it is of that day."""
    if embedded and read and embedded.value.date == read.value.date:
        return _placed(replace(embedded, value=read.value), read)
    return _merged(embedded, read, lambda moment: printed.has_day(moment.date))


def _line_items(
    embedded: Sequence[Extracted[LineItem]], read: Sequence[Extracted[LineItem]], printed: _Printed
) -> tuple[Extracted[LineItem], ...]:
    """Return the embedded items, each with the place of its row on the pages.

    They are compared one by one if there are as many, else those of the same name.
    """
    if not embedded:
        return tuple(read)
    if [item.value.total for item in embedded] == [item.value.total for item in read]:
        return tuple(_placed(*pair) for pair in zip(embedded, read, strict=True))
    named = {_normalized(item.value.name): item for item in reversed(read)}
    same: Sequence[Extracted[LineItem] | None] = (
        read
        if len(read) == len(embedded)
        else [named.get(_normalized(item.value.name)) for item in embedded]
    )
    return tuple(
        _compared(*pair, _item_total, printed) for pair in zip(embedded, same, strict=True)
    )


def _taxes(
    embedded: Sequence[Extracted[TaxLine]], read: Sequence[Extracted[TaxLine]], printed: _Printed
) -> tuple[Extracted[TaxLine], ...]:
    """Return the embedded taxes, compared with those of the pages at the same rate."""
    if not embedded:
        return tuple(read)
    rated = {tax.value.rate: tax for tax in reversed(read)}
    return tuple(
        _compared(tax, rated.get(tax.value.rate), _tax_amount, printed) for tax in embedded
    )


def _compared(
    embedded: Extracted[T],
    read: Extracted[T] | None,
    amount_of: Callable[[T], Decimal | None],
    printed: _Printed,
) -> Extracted[T]:
    """Return an entry of a list, with that of the page as alternative if their amounts differ."""
    known, other = amount_of(embedded.value), read and amount_of(read.value)
    if read is None or known is None or other is None:
        return embedded
    if known == other:
        return _placed(embedded, read)
    if read.confidence < _LEAST or printed.has_amount(known):
        return embedded
    others = (Alternative(read.value, read.confidence),)
    return replace(embedded, confidence=_CONTRADICTED, alternatives=others)


def _item_total(item: LineItem) -> Decimal | None:
    return item.total


def _tax_amount(tax: TaxLine) -> Decimal | None:
    return tax.amount


def _normalized(text: str) -> str:
    return _OTHER.sub("", folding.fold(folding.without_accents(text)))
