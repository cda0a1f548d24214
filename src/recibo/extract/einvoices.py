"""Reads e-invoices in XML: Factur-X and ZUGFeRD 2 (CII), ZUGFeRD 1, and XRechnung (CII or UBL).

Where each field stands is in `data/einvoices.toml`. A value that is not valid is left out like one
that is missing: then the page has it.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from recibo.extract import resources
from recibo.extract.model import (
    Details,
    DocumentType,
    Extracted,
    LineItem,
    Moment,
    Receipt,
    Source,
    TaxLine,
)
from recibo.extract.text import tables, timestamps

T = TypeVar("T")

#: The values of an e-invoice are as certain as a person's typing.
CERTAIN = 0.99

# More is an attack: the largest public samples have 30,000 elements and a depth of 12.
_MAX_ELEMENTS, _MAX_DEPTH = 200_000, 100
_MAX_TEXT = 255

_AMOUNT = re.compile(r"[+-]?\d{1,12}(\.\d{1,10})?", re.ASCII)
_DAY = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:$|T|[Z+-]|\d{4})", re.ASCII)
_NOT_OF_TAX_IDS = re.compile(r"[^0-9A-Za-z]")
_ENCODINGS = ("UTF-8", "UTF-16", "US-ASCII", "ISO-8859-1", "ISO-8859-15", "WINDOWS-1252")
# The schemes of numbers for value-added tax, in CII and UBL.
_VAT_SCHEMES = frozenset({"VA", "VAT"})
# Lines that group others, or explain one, have no amount of their own.
_NOT_SOLD = frozenset({"GROUP", "INFORMATION"})
_PRICE_DIGITS = 2
# The price of one where the price of several is given.
_FINEST = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class EInvoice:
    """What an e-invoice says."""

    #: A value is None, and a list empty, if it is missing.
    receipt: Receipt
    moment: Extracted[Moment] | None
    #: All tax numbers of the seller, letters and digits.
    seller_tax_ids: frozenset[str]


class _TooLargeError(ValueError):
    """The file has more elements than an invoice needs."""


def load() -> None:
    """Load what reading an e-invoice needs: its table, and how the usual encodings are decoded."""
    _syntaxes()
    for encoding in _ENCODINGS:
        find([f'<?xml version="1.0" encoding="{encoding}"?><e/>'.encode(encoding)])


def find(files: Iterable[bytes]) -> EInvoice | None:
    """Return the first e-invoice among XML files, None if there is none that can be read."""
    for file in files:
        try:
            root = _parse(file)
        except (ParseError, DefusedXmlException, ValueError, LookupError):
            continue
        for syntax in _syntaxes().values():
            if root.tag in syntax["roots"]:
                return _read(_Node(_simplified(root, syntax)), syntax)
    return None


def _parse(file: bytes) -> Element:
    """Parse XML; definitions of entities and document types are refused."""
    parser = DefusedXMLParser(target=_Builder(), forbid_dtd=True)
    parser.feed(file)
    root: Element = parser.close()
    return root


class _Builder(TreeBuilder):
    """Builds a tree of limited size."""

    def __init__(self) -> None:
        super().__init__()
        self._count = self._depth = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self._count += 1
        self._depth += 1
        if self._count > _MAX_ELEMENTS or self._depth > _MAX_DEPTH:
            raise _TooLargeError
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(tag)


@cache
def _syntaxes() -> Mapping[str, Mapping[str, Any]]:
    return resources.table("einvoices.toml")


def _simplified(root: Element, syntax: Mapping[str, Any]) -> Element:
    """Take the namespaces of a syntax off the names of elements; others have no simple name."""
    known, renamed = frozenset(syntax["namespaces"]), syntax["renamed"]
    for element in root.iter():
        namespace, _, name = element.tag.lstrip("{").rpartition("}")
        element.tag = renamed.get(name, name) if namespace in known else f"{{{namespace}}}{name}"
    return root


@dataclass(frozen=True, slots=True)
class _Node:
    """An element, asked by paths as in `data/einvoices.toml`."""

    element: Element

    def texts(self, paths: Sequence[str]) -> Iterator[str]:
        """Yield the texts at any of the paths, in order, as one line each."""
        for path in paths:
            where, _, attribute = path.partition("@")
            for found in self.element.findall(where):
                text = found.get(attribute) if attribute else found.text
                line = " ".join((text or "").split())
                if line:
                    yield line

    def text(self, paths: Sequence[str]) -> str | None:
        """Return the first text."""
        return next(self.texts(paths), None)

    def all(self, path: str) -> list["_Node"]:
        """Return the elements at a path."""
        return [_Node(found) for found in self.element.findall(path)]

    def first(self, path: str) -> "_Node":
        """Return the first element at a path; one without content if there is none."""
        found = self.element.find(path)
        return _Node(Element("missing") if found is None else found)


def _read(root: _Node, syntax: Mapping[str, Any]) -> EInvoice:
    header, parties = syntax["header"], syntax["parties"]
    currency = _found(root, header["currency"], _currency)
    code = currency.value if currency else ""
    amounts = _Amounts(root.first(syntax["amounts"]["at"]), syntax["amounts"], code)
    seller, buyer = (root.first(parties[side]) for side in ("seller", "buyer"))
    address = _address(seller.first(parties["address"]), parties)
    details = Details(
        merchant_address=_certain(address, address) if address else None,
        customer_name=_found(buyer, parties["name"], _text),
        customer_tax_id=_tax_id(buyer, parties),
        due_date=_due_date(root, header["due_date"]),
        discount=_positive(amounts.of("discount")),
        rounding=amounts.of("rounding"),
        taxes=tuple(_taxes(root, syntax["taxes"])),
    )
    receipt = Receipt(
        type=_certain(DocumentType.INVOICE, root.element.tag),
        merchant_name=_found(seller, parties["name"], _text),
        merchant_tax_id=_tax_id(seller, parties),
        total=amounts.of("total"),
        subtotal=amounts.of("subtotal"),
        tax=amounts.of("tax"),
        currency=currency,
        document_number=_found(root, header["document_number"], _text),
        line_items=tuple(_items(root, syntax["items"])),
        details=details,
    )
    country = seller.first(parties["address"]).text(parties["country"])
    moment = _found(root, header["issued_at"], lambda text: _moment(text, country))
    return EInvoice(receipt, moment, frozenset(_tax_ids(seller, parties)))


def _certain(value: T, text: str) -> Extracted[T]:
    return Extracted(value, CERTAIN, text, source=Source.EMBEDDED)


def _found(node: _Node, paths: Sequence[str], parse: Callable[[str], T | None]) -> Any:
    """Return the first valid value at any of the paths."""
    for text in node.texts(paths):
        value = parse(text)
        if value is not None:
            return _certain(value, text)
    return None


def _text(text: str) -> str | None:
    return text if len(text) <= _MAX_TEXT else None


def _trimmed(number: Decimal | None, digits: int = 0) -> Decimal | None:
    """Return a number without zeros at its end, but with so many decimal digits."""
    if number is None:
        return None
    short = number.normalize()
    least = Decimal(1).scaleb(-digits)
    return short.quantize(least) if short == short.quantize(least) else short


def _currency(text: str) -> str | None:
    return text if text in tables.currencies() else None


def _decimal(text: str) -> Decimal | None:
    return Decimal(text) if _AMOUNT.fullmatch(text) else None


def _day(text: str) -> dt.date | None:
    found = _DAY.match(text)
    try:
        return dt.date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _moment(text: str, country: str | None) -> Moment | None:
    day = _day(text)
    if day is None:
        return None
    known = tables.countries().get((country or "").upper())
    if known is None or known.zone is None:
        return Moment(day)
    midnight = dt.datetime.combine(day, dt.time(0), timestamps.zone(known.zone))
    return Moment(day, None, midnight.utcoffset())


def _due_date(root: _Node, paths: Sequence[str]) -> Extracted[dt.date] | None:
    """Return the last due date: an invoice may be due in parts."""
    days = [(day, text) for text in root.texts(paths) if (day := _day(text))]
    return _certain(*max(days)) if days else None


@dataclass(frozen=True, slots=True)
class _Amounts:
    """The sums of an invoice."""

    node: _Node
    paths: Mapping[str, str]
    currency: str

    def of(self, name: str) -> Extracted[Decimal] | None:
        """Return an amount in the currency of the invoice: its tax may be given in two."""
        found = self.node.all(self.paths[name])
        own = [one for one in found if one.element.get("currencyID") in (self.currency, None)]
        is_plain = len({one.element.get("currencyID") for one in found}) == 1
        for one in own or (found if is_plain else []):
            if (text := one.text(["."])) and (value := _decimal(text)) is not None:
                return _certain(value, text)
        return None


def _positive(amount: Extracted[Decimal] | None) -> Extracted[Decimal] | None:
    return amount if amount and amount.value > 0 else None


def _tax_ids(party: _Node, paths: Mapping[str, Any]) -> list[str]:
    """Return the tax numbers of a party, that for value-added tax first."""
    numbers = [
        (one.text(paths["scheme"]) not in _VAT_SCHEMES, _NOT_OF_TAX_IDS.sub("", text).upper())
        for one in party.all(paths["registration"])
        if (text := one.text(paths["tax_id"])) and len(text) <= _MAX_TEXT
    ]
    return [number for _, number in sorted(numbers, key=lambda one: one[0]) if number]


def _tax_id(party: _Node, paths: Mapping[str, Any]) -> Extracted[str] | None:
    found = _tax_ids(party, paths)
    return _certain(found[0], found[0]) if found else None


def _address(address: _Node, paths: Mapping[str, Any]) -> str:
    place = " ".join(filter(None, (address.text(paths["postcode"]), address.text(paths["city"]))))
    streets = [text for path in paths["streets"] for text in address.texts([path])]
    parts = [*streets, place, address.text(paths["region"]), address.text(paths["country"])]
    line = ", ".join(part for part in parts if part)
    # A country alone is no address.
    return line if (streets or place) and len(line) <= _MAX_TEXT else ""


def _taxes(root: _Node, paths: Mapping[str, Any]) -> Iterator[Extracted[TaxLine]]:
    for node in root.all(paths["at"]):
        rate, base, amount = (_number(node, paths[name]) for name in ("rate", "base", "amount"))
        rate = _trimmed(rate)
        if rate is not None or amount is not None:
            name = node.text(paths["name"])
            yield _certain(TaxLine(name, rate, base, amount), f"{name} {rate}% {amount}")


def _items(root: _Node, paths: Mapping[str, Any]) -> Iterator[Extracted[LineItem]]:
    for node in root.all(paths["at"]):
        name = node.text(paths["name"])
        if name is None or node.text(paths["status"]) in _NOT_SOLD:
            continue
        item = LineItem(
            name=name[:_MAX_TEXT],
            qty=_trimmed(_number(node, paths["qty"])),
            unit_price=_unit_price(node, paths),
            total=_number(node, paths["total"]),
            code=node.text(paths["code"]),
            unit=node.text(paths["unit"]),
            tax_rate=_trimmed(_number(node, paths["tax_rate"])),
            discount=_allowances(node, paths),
        )
        yield _certain(item, name)


def _unit_price(node: _Node, paths: Mapping[str, Any]) -> Decimal | None:
    price, count = _number(node, paths["price"]), _number(node, paths["price_quantity"])
    if price is None or not count or count == 1:
        return _trimmed(price, _PRICE_DIGITS)
    return _trimmed((price / count).quantize(_FINEST), _PRICE_DIGITS)


def _allowances(node: _Node, paths: Mapping[str, Any]) -> Decimal | None:
    """Return what is taken off the price of a line, None if nothing is."""
    amounts = [
        _number(one, paths["allowance"])
        for one in node.all(paths["allowances"])
        if (one.text(paths["is_charge"]) or "").lower() != "true"
    ]
    return sum((amount for amount in amounts if amount), Decimal(0)) or None


def _number(node: _Node, paths: Sequence[str]) -> Decimal | None:
    text = node.text(paths)
    return _decimal(text) if text else None
