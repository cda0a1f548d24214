"""The form of a receipt: what was typed becomes a correction with only the changed fields."""

import dataclasses
import datetime as dt
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from recibo.errors import Detail, ValidationFailed
from recibo.lib import money
from recibo.portal import amount_inputs
from recibo.portal.translations import gettext_noop
from recibo.schemas import receipts as shapes
from recibo.schemas.corrections import Correction
from recibo.schemas.receipts import Receipt


@dataclass(frozen=True, slots=True)
class Table:
    """The inputs of a list of a receipt: one row for each entry, named `item-0-name`."""

    #: The field of the receipt.
    field: str
    prefix: str
    #: In the order of the table.
    columns: tuple[str, ...]
    amounts: frozenset[str]
    #: What an entry without a value in a column has there.
    blank: Mapping[str, str | None]
    entry: type[BaseModel]
    #: What a new entry has in columns that are not shown.
    fresh: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def name(self, number: int, column: str) -> str:
        """Return the name of an input."""
        return f"{self.prefix}-{number}-{column}"

    def entries(self, receipt: Receipt) -> Sequence[BaseModel]:
        """Return the entries of a receipt."""
        found: Sequence[BaseModel] = getattr(receipt, self.field)
        return found


TABLES = (
    Table(
        "line_items", "item",
        ("name", "qty", "unit_price", "total", "code", "unit", "tax_rate", "discount"),
        frozenset({"qty", "unit_price", "total", "tax_rate", "discount"}), {"name": ""},
        shapes.LineItem,
    ),
    Table(
        "taxes", "tax", ("name", "rate", "base", "amount"),
        frozenset({"rate", "base", "amount"}), {}, shapes.TaxLine, {"informational": False},
    ),
    Table(
        "payments", "payment", ("method", "amount", "tendered", "last4"),
        frozenset({"amount", "tendered"}), {"method": "other"}, shapes.Payment,
    ),
)  # fmt: skip
_BY_PREFIX = {table.prefix: table for table in TABLES}
AMOUNTS = shapes.AMOUNTS
_TEXTS = (
    "type", "category", "merchant_name", "merchant_tax_id", "document_number", "document_key",
    "currency", "merchant_address", "customer_name", "customer_tax_id", "due_date", *AMOUNTS,
)  # fmt: skip
#: The key of a value that a button sets, with its field: `total=41.37`.
_EXACT = "exact"
_THREE_DECIMALS = 3
#: In place of an invalid amount: no figure, and not blank either.
_UNKNOWN = "?"
_MOMENT = ("issued_date", "issued_time", "issued_offset")
_CELL = re.compile(r"([a-z]+)-(\d{1,4})-([a-z0-9_]+)", re.ASCII)
_ROW = re.compile(r"([a-z]+)-(\d{1,4})", re.ASCII)
# People type the punctuation of tax ids and keys as it is printed.
_PUNCTUATION = re.compile(r"[\s./-]")
_BARE = ("merchant_tax_id", "customer_tax_id", "document_key")
_FIGURE = re.compile(r"-?\d{1,12}(\.\d{1,4})?", re.ASCII)
#: What may have any decimals: no sums of money.
_FREE = ("-qty", "-unit_price", "-rate", "-tax_rate")
_VERSION = re.compile(r"\d{1,9}", re.ASCII)

_WRONG_AMOUNT = gettext_noop("must be a number, such as 1234.50")
_TWO_WAYS = gettext_noop(
    "can be read in two ways: write it without separators of thousands and with two decimals, "
    "such as 1234.50"
)
_TOO_EXACT = gettext_noop("must not have more decimals than the currency")
_WRONG_TAX_ID = gettext_noop("must be letters and digits only, at most 40")
_NO_NAME = gettext_noop("must say what was bought")
_NEGATIVE = gettext_noop("must not be negative")
_TOO_HIGH = gettext_noop("must be at most 1000 percent")
#: What Recibo refuses below zero.
_POSITIVE = ("discount", "rate", "tax_rate")
_CELL_AMOUNTS = [column for table in TABLES for column in table.amounts]
_WRONG: Mapping[str, str] = {
    **dict.fromkeys((*AMOUNTS, *_CELL_AMOUNTS), _WRONG_AMOUNT),
    **dict.fromkeys(("merchant_tax_id", "customer_tax_id"), _WRONG_TAX_ID),
    "due_date": gettext_noop("must be a date"),
    "last4": gettext_noop("must be four digits"),
    "document_key": gettext_noop(
        "must be the access key of a fiscal document: 44 or 50 characters"
    ),
    "currency": gettext_noop("must be an ISO 4217 code, such as BRL"),
    "issued_at": gettext_noop(
        "must be a date with a time and an offset, such as 2026-03-14, 08:17:42, -03:00"
    ),
    **dict.fromkeys(("name", "code", "unit"), gettext_noop("must be a text of one line")),
    "line_items": gettext_noop("may be at most 1000"),
    **dict.fromkeys(("taxes", "payments"), gettext_noop("may be at most 100")),
}


def values_of(receipt: Receipt) -> dict[str, str]:
    """Return the values of the form's fields by their names, as they are shown."""
    return {
        name: amount_inputs.shown(value) if _is_amount(name) else value
        for name, value in _stored(receipt).items()
    }


def _stored(receipt: Receipt) -> dict[str, str]:
    values = {name: _line(getattr(receipt, name)) for name in _TEXTS}
    values["version"] = str(receipt.version)
    values |= dict(zip(_MOMENT, _parts(receipt.issued_at), strict=True))
    for table in TABLES:
        for number, entry in enumerate(table.entries(receipt)):
            values |= {
                table.name(number, column): _line(getattr(entry, column))
                for column in table.columns
            }
    return values


def pressed(typed: Mapping[str, str]) -> dict[str, str]:
    """Return what was typed, changed by the button that was pressed.

    `use` holds a field and its new value, `add` a cell of a new row: `item-2-total=0.90`,
    `remove` a row of a table: `item-0`.
    """
    values = dict(typed)
    cell, _, amount = values.pop("add", "").partition("=")
    if _CELL.fullmatch(cell) and not values.get(cell):
        values[cell] = amount
    name, found, value = values.pop("use", "").partition("=")
    if found and name == "issued_at":
        values |= dict(zip(_MOMENT, _parts(value), strict=True))
    elif found and name in _TEXTS:
        values[name] = amount_inputs.shown(value) if name in AMOUNTS else value
        # It is no typed figure, so nothing is to be guessed.
        values[_EXACT] = f"{name}={value}"
    removed = _ROW.fullmatch(values.pop("remove", ""))
    if removed and removed[1] in _BY_PREFIX:
        table = _BY_PREFIX[removed[1]]
        values |= {table.name(int(removed[2]), column): "" for column in table.columns}
    return values


def row_counts(values: Mapping[str, str]) -> dict[str, int]:
    """Return how many rows the table of each list has, with blank ones between them."""
    counts = {}
    for table in TABLES:
        filled = [number for number, _, value in _cells(table, values) if value]
        counts[table.field] = max(filled, default=-1) + 1
    return counts


def inputs(values: Mapping[str, str]) -> set[str]:
    """Return the names under which a form with these values shows errors."""
    counts = row_counts(values)
    cells = {
        table.name(number, column)
        for table in TABLES
        for number in range(counts[table.field] + 1)
        for column in table.columns
    }
    return {*_TEXTS, "issued_at", *counts, *cells}


def correction(
    receipt: Receipt, typed: Mapping[str, str], *, approved: bool | None = None
) -> Correction:
    """Return how a form differs from a receipt.

    Raises:
        ValidationFailed: a value is invalid; its details name the inputs.
    """
    version = typed.get("version", "")
    if not _VERSION.fullmatch(version):
        raise ValidationFailed(
            gettext_noop("The form arrived damaged or incomplete. Open the page again.")
        )
    typed, wrong = _in_api_notation(receipt, typed)
    given: dict[str, Any] = {"version": int(version), **dict(_changed(receipt, typed))}
    if approved is not None:
        given["approved"] = approved
    for table in TABLES:
        rows = _rows(table, typed)
        before = [_cells_of(table, entry) for entry in table.entries(receipt)]
        if any(_cells(table, typed)) and list(rows.values()) != before:
            given[table.field] = [
                {**_details_of(table, receipt, number), **row} for number, row in rows.items()
            ]
    found = None
    try:
        found = Correction.model_validate(given)
    except ValidationError as e:
        also = (_detail(one, typed) for one in e.errors())
        wrong += [one for one in also if one.field not in {known.field for known in wrong}]
    if found is None or wrong:
        message = "; ".join(f"{one.field}: {one.message}" for one in wrong)
        raise ValidationFailed(message, details=tuple(wrong))
    return found


def wrong(receipt: Receipt, typed: Mapping[str, str]) -> tuple[Detail, ...]:
    """Return what is wrong with the values of a form, by the names of its inputs."""
    try:
        correction(receipt, typed)
    except ValidationFailed as e:
        return e.details
    return ()


def with_amounts(receipt: Receipt, typed: Mapping[str, str], *, wrong: Collection[str]) -> Receipt:
    """Return a receipt with the amounts of a form, to add them up.

    What is no figure is left out, and so are the inputs with errors, `wrong`.
    """
    values = {**_in_api_notation(receipt, typed)[0], **dict.fromkeys(wrong, _UNKNOWN)}
    changed: dict[str, Any] = {
        name: values[name] if _is_figure(values[name]) else None
        for name in AMOUNTS
        if name in values
    }
    for table in TABLES:
        changed[table.field] = [
            _unchecked(table, {**table.fresh, **_details_of(table, receipt, number), **row})
            for number, row in _rows(table, values).items()
        ]
    return receipt.model_copy(update=changed)


def differences(receipt: Receipt, typed: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names of inputs whose typed value is not that of the receipt, with that value."""
    values = values_of(receipt)
    cells = (
        table.name(number, column) for table in TABLES for number, column, _ in _cells(table, typed)
    )
    names = (*_TEXTS, *_MOMENT, *cells)
    return [
        (name, typed[name])
        for name in names
        if name in typed and _line(typed[name]) != values.get(name, "")
    ]


def is_of_line(name: str) -> bool:
    """Return whether an input is of a line of a list: `item-0-name`."""
    return _CELL.fullmatch(name) is not None


def _in_api_notation(
    receipt: Receipt, typed: Mapping[str, str]
) -> tuple[dict[str, str], list[Detail]]:
    """Return a form with its amounts as in the API, and which ones cannot be read.

    What was not touched keeps its digits.
    """
    stored = _stored(receipt)
    currency = typed.get("currency", receipt.currency or "").upper()
    exact, _, figure = typed.get(_EXACT, "").partition("=")
    # A page from before an update lacks inputs; what they would show stays as it is.
    rows = {name.rpartition("-")[0] for name in typed if _CELL.fullmatch(name)}
    values = {name: one for name, one in stored.items() if name.rpartition("-")[0] in rows}
    values.update(typed)
    wrong: list[Detail] = []
    for name in filter(_is_amount, typed):
        text = _line(typed[name])
        if name == exact and text == amount_inputs.shown(figure):
            values[name] = figure
        elif name in stored and text == amount_inputs.shown(stored[name]):
            values[name] = stored[name]
        else:
            try:
                values[name] = amount_inputs.parsed(
                    text, may_have_three_decimals=_may_have_three_decimals(name, currency)
                )
            except amount_inputs.AmbiguousAmountError:
                wrong.append(Detail(name, _TWO_WAYS))
                continue
            if _is_too_exact(name, values[name], currency):
                wrong.append(Detail(name, _TOO_EXACT))
    return values, wrong


def _unchecked(table: Table, values: Mapping[str, Any]) -> BaseModel:
    figures = {name: values[name] if _is_figure(values[name]) else None for name in table.amounts}
    given: dict[str, Any] = {**values, **figures}
    return table.entry.model_construct(**given)


def _is_figure(text: str | None) -> bool:
    return bool(text and _FIGURE.fullmatch(text))


def _is_amount(name: str) -> bool:
    cell = _CELL.fullmatch(name)
    table = _BY_PREFIX.get(cell[1]) if cell else None
    return name in AMOUNTS or bool(cell and table and cell[3] in table.amounts)


def _may_have_three_decimals(name: str, currency: str) -> bool:
    """Return whether a quantity, a price of a unit, a rate or the currency has them."""
    return name.endswith(_FREE) or money.minor_digits(currency) == _THREE_DECIMALS


def _is_too_exact(name: str, figure: str, currency: str) -> bool:
    """Return whether a sum of money has decimals that no one can pay."""
    if name.endswith(_FREE) or currency not in money.CURRENCIES or not _is_figure(figure):
        return False
    decimals = figure.partition(".")[2].rstrip("0")
    return len(decimals) > money.minor_digits(currency)


def _changed(receipt: Receipt, typed: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    before = _stored(receipt)
    for name in _TEXTS:
        value = _line(typed.get(name, before[name]))
        if value == before[name]:
            continue
        if name in _BARE:
            value = _PUNCTUATION.sub("", value)
        yield name, (value.upper() if name == "currency" else value) or None
    parts = [_line(typed.get(name, before[name])) for name in _MOMENT]
    if parts != [before[name] for name in _MOMENT]:
        yield "issued_at", _moment(*parts)


def _moment(date: str, time: str, offset: str) -> str | None:
    return f"{date}T{time or '00:00:00'}{offset or '+00:00'}" if date else None


def _parts(issued_at: str | None) -> tuple[str, str, str]:
    """Return the date, the time and the UTC offset of a timestamp."""
    if issued_at is None:
        return "", "", ""
    try:
        moment = dt.datetime.fromisoformat(issued_at)
    except ValueError:
        # Only a forged button has such a value; it is refused as a date.
        return issued_at, "", ""
    time = moment.time().isoformat()
    return moment.date().isoformat(), time, moment.isoformat().partition(f"T{time}")[2]


def _cells(table: Table, typed: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    for name, value in typed.items():
        found = _CELL.fullmatch(name)
        if found and found[1] == table.prefix and found[3] in table.columns:
            yield int(found[2]), found[3], _line(value)


def _rows(table: Table, typed: Mapping[str, str]) -> dict[int, dict[str, str | None]]:
    """Return the rows of a table by their numbers in the form, without blank ones."""
    rows: dict[int, dict[str, str | None]] = {}
    for number, column, value in _cells(table, typed):
        rows.setdefault(number, dict.fromkeys(table.columns))[column] = value or None
    return {
        number: _filled(table, row) for number, row in sorted(rows.items()) if any(row.values())
    }


def _cells_of(table: Table, entry: BaseModel) -> dict[str, str | None]:
    return _filled(table, {name: _line(getattr(entry, name)) or None for name in table.columns})


def _filled(table: Table, row: Mapping[str, str | None]) -> dict[str, str | None]:
    return {column: value or table.blank.get(column) for column, value in row.items()}


def _details_of(table: Table, receipt: Receipt, number: int) -> dict[str, Any]:
    """Return what a table does not show of an entry."""
    entries = table.entries(receipt)
    if number >= len(entries):
        return {}
    return entries[number].model_dump(exclude=set(table.columns))


def _line(text: object) -> str:
    """Return a value as the input of a browser holds it: one line, without space around it."""
    return "" if text is None else re.sub(r"[\r\n]", "", str(text)).strip()


def _detail(error: ErrorDetails, typed: Mapping[str, str]) -> Detail:
    """Return an error with the name of the input that it is about."""
    path = error["loc"]
    name, column = str(path[0]), str(path[-1])
    table = next((one for one in TABLES if one.field == name), None)
    if table and len(path) > 1:
        number = list(_rows(table, typed))[int(path[1])]
        name = table.name(number, column)
    if table and table.prefix == "item" and column == "name" and error["input"] in ("", None):
        return Detail(name, _NO_NAME)
    if error["type"].endswith("too_long") and isinstance(error["input"], str):
        return Detail(name, "is too long")
    if column in _POSITIVE and _is_figure(error["input"]):
        return Detail(name, _NEGATIVE if error["input"].startswith("-") else _TOO_HIGH)
    return Detail(name, _WRONG.get(column, "is not valid"))
