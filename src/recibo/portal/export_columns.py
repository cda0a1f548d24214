"""The columns of exported tables in the reader's language."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from babel import numbers

from recibo.extract.model import Accuracy, Category, PaymentMethod
from recibo.portal import field_labels, names
from recibo.portal.translations import LazyText, gettext, lazy_gettext, lazy_pgettext, locale
from recibo.schemas.receipts import FILENAME
from recibo.schemas.states import ReceiptStatus, ReviewStatus
from recibo.services.reading.export_looks import Look
from recibo.services.reading.exports import Rows

_HEADINGS: Mapping[str, LazyText] = {
    **field_labels.FIELDS,
    "id": lazy_gettext("Receipt ID"),
    "status": lazy_gettext("Reading status"),
    "review": lazy_gettext("Review status"),
    "corrected_fields": lazy_gettext("Corrected fields"),
    "duplicates": lazy_gettext("Duplicates"),
    "metadata": lazy_gettext("Tags"),
    "accuracy": lazy_gettext("Accuracy"),
    "created_by": lazy_gettext("Uploaded by"),
    "version": lazy_gettext("Version"),
    # Spreadsheets know no offsets. "Issued" is the time as printed.
    "created_at": lazy_gettext("Uploaded (UTC)"),
    "updated_at": lazy_gettext("Last change (UTC)"),
    "name": lazy_gettext("Description"),
    "qty": lazy_gettext("Quantity"),
    "unit_price": lazy_gettext("Unit price"),
    "code": lazy_gettext("Article number"),
    "unit": lazy_gettext("Unit"),
    "tax_rate": lazy_gettext("Tax rate in percent"),
}
_OF_ITEMS: Mapping[str, LazyText] = {"total": lazy_gettext("Item total")}
_STATES: Mapping[str, LazyText] = {
    ReceiptStatus.PENDING: lazy_pgettext("status", "Reading"),
    ReceiptStatus.COMPLETED: lazy_pgettext("status", "Read"),
    ReceiptStatus.FAILED: lazy_pgettext("status", "Failed"),
}
_REVIEWS: Mapping[str, LazyText] = {
    ReviewStatus.NEEDS_REVIEW: lazy_pgettext("status", "To review"),
    ReviewStatus.READY: lazy_pgettext("status", "Ready"),
    ReviewStatus.APPROVED: lazy_pgettext("status", "Approved"),
}


def separator() -> str:
    """Return what is between the cells of a CSV file that a spreadsheet opens.

    Where a comma begins the decimals, spreadsheets expect semicolons.
    """
    return ";" if numbers.get_decimal_symbol(locale()) == "," else ","


def look(rows: Rows, makers: Mapping[str, str]) -> Look:
    """Return how a table looks that a spreadsheet of the reader's language opens.

    Args:
        rows: What a row is.
        makers: The names of who uploaded receipts, by their ids.
    """
    headings = _HEADINGS if rows is Rows.RECEIPTS else {**_HEADINGS, **_OF_ITEMS}
    decimal = numbers.get_decimal_symbol(locale())
    return Look(
        {column: str(heading) for column, heading in headings.items()},
        {
            "status": {value: str(name) for value, name in _STATES.items()},
            "review": {value: str(name) for value, name in _REVIEWS.items()},
            "category": {one.value: names.category(one) for one in Category},
            "type": {one: str(name) for one, name in names.DOCUMENT_TYPES.items()},
            "accuracy": {one.value: names.accuracy(one) for one in Accuracy},
            "created_by": makers,
        },
        {
            "corrected_fields": _fields(_HEADINGS),
            "metadata": _tags(),
            "taxes": _taxes(decimal),
            "payments": _payments(decimal),
        },
        separator=separator(),
        decimal=decimal,
        is_for_people=True,
    )


# The file is written after the request, when the language of the reader is no longer known: the
# texts of cells are translated here.


def _fields(fields: Mapping[str, LazyText]) -> Callable[[Sequence[str]], str]:
    translated = {name: str(text) for name, text in fields.items()}
    return lambda chosen: ", ".join(translated.get(name, name) for name in chosen)


def _tags() -> Callable[[Mapping[str, str]], str]:
    keys = {FILENAME: gettext("File name")}
    return lambda tags: "; ".join(f"{keys.get(key, key)}: {value}" for key, value in tags.items())


def _taxes(decimal: str) -> Callable[[Sequence[Mapping[str, Any]]], str]:
    unnamed = gettext("Tax")

    def tax(line: Mapping[str, Any]) -> str:
        rate = line["rate"] and f"{line['rate']} %".replace(".", decimal)
        amount = line["amount"] and line["amount"].replace(".", decimal)
        return " ".join(filter(None, (line["name"] or unnamed, rate, amount)))

    return lambda lines: "; ".join(map(tax, lines))


def _payments(decimal: str) -> Callable[[Sequence[Mapping[str, Any]]], str]:
    methods = {one.value: names.payment_method(one) for one in PaymentMethod}

    def payment(line: Mapping[str, Any]) -> str:
        card = line["last4"] and f"*{line['last4']}"
        amount = line["amount"] and line["amount"].replace(".", decimal)
        return " ".join(filter(None, (methods[line["method"]], card, amount)))

    return lambda lines: "; ".join(map(payment, lines))
