"""The context of name candidates on a page: addresses, labels, web addresses."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Self

from recibo.extract.fields.name_candidates import pieces_of
from recibo.extract.layout import name_stoplist
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box
from recibo.extract.text import dates, lexicon, tables
from recibo.extract.text.folding import fold, normalize
from recibo.extract.text.phrases import Phrasebook

# A unit of a building.
_UNIT = re.compile(r"[A-Z]{0,2}\d{1,4}[-/][A-Z\d]{1,5}\s?,")
_MENTION = re.compile(r"www|http|@|\.com|thank|merci|danke|gracias|grazie|obrigad", re.IGNORECASE)
_HOST = re.compile(r"(?<![\w.])(?:[\w-]+@)?(?:[\w-]+\.)+[A-Za-z]{2,6}(?![\w.]*@)")
_HOST_PARTS = frozenset({"www", "com", "net", "org", "co"})
_LEAST_CORE = 2
# A party's name is next to its label or below it, within this many line heights; further below if
# the label is a whole cell.
_BELOW_LABEL, _BELOW_HEADING = 2.5, 7.0
# The width of a column, in heights.
_COLUMN_WIDTH = 15
_INDENTED = 3
_OWNED_ROWS = 2


@dataclass(frozen=True, slots=True)
class Label:
    """A label of a party: "Bill to", "Seller"."""

    box: Box
    #: Whether it is all of its cell.
    is_heading: bool

    def applies_to(self, box: Box) -> bool:
        """Return whether `box` is right of the label or below it, not in a column before it."""
        height = self.box.height
        is_right = box.x1 > self.box.x0
        if self.is_heading:
            is_right = is_right and -_INDENTED * height < box.x0 - self.box.x0
            is_right = is_right and box.x0 - self.box.x0 < _COLUMN_WIDTH * height
        most = _BELOW_HEADING if self.is_heading else _BELOW_LABEL
        return is_right and -height / 2 < box.y0 - self.box.y0 < most * height


@dataclass(frozen=True, slots=True)
class Context:
    """The context of the candidates on a page."""

    rows: tuple[Row, ...]
    #: The index of the first row with a date, a number or amounts: the end of the head.
    body: int
    #: The median height of the rows, and the largest height among the rows of the head.
    height: float
    tallest: float
    #: The extent of the text.
    left: float
    right: float
    #: The letters of each row.
    letters: tuple[str, ...]
    #: The letters of the rows with web and mail addresses, thanks and greetings.
    echoes: str
    #: The names in web and mail addresses, as letters and as printed.
    domains: Mapping[str, str]
    #: The rows with parts of an address, and those with telephone or tax numbers.
    addresses: frozenset[int]
    contacts: frozenset[int]
    #: The labels "bill to" and the like, and "seller" and the like.
    billed: tuple["Label", ...]
    sellers: tuple["Label", ...]
    #: The rows below "owned by" and the like.
    owned: frozenset[int]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        """Return the context of a page's rows."""
        body = _body_start(rows)
        head = [row for row in rows if row.index <= body] or list(rows)
        return cls(
            rows=tuple(rows),
            body=body,
            height=median(row.line.box.height for row in rows) or 1,
            tallest=max(row.line.box.height for row in head),
            left=min(row.line.box.x0 for row in rows),
            right=max(row.line.box.x1 for row in rows),
            letters=tuple(normalize(row.text).letters for row in rows),
            echoes=" ".join(
                normalize(row.text).letters for row in rows if _MENTION.search(row.text)
            ),
            domains=dict(domain for row in rows for domain in _domains(row.text)),
            addresses=frozenset(row.index for row in rows if is_address(row.text)),
            contacts=frozenset(row.index for row in rows if book("contact").find(row.text)),
            billed=tuple(labels_of(rows, "billed", "billed_alone")),
            sellers=tuple(labels_of(rows, None, "seller")),
            owned=_owned(rows),
        )

    def position(self, row: Row) -> int:
        """Return the place of a row among those of its page."""
        return row.index - self.rows[0].index

    def below(self, row: Row, count: int) -> tuple[Row, ...]:
        """Return the next `count` rows."""
        start = self.position(row) + 1
        return self.rows[start : start + count]


def is_address(text: str) -> bool:
    """Return whether a text is part of an address."""
    words = book("address").find(text)
    is_listed = len(words) > 1 or (bool(words) and re.search(r"[\d,]", text) is not None)
    return (
        is_listed
        or re.match(r"\d+\s?,", text) is not None
        or _UNIT.match(text) is not None
        or _numbered_unit().match(text) is not None
        or _street().search(fold(text)) is not None
    )


@cache
def book(kind: str) -> Phrasebook:
    """Return the words of a kind."""
    return Phrasebook({kind: tables.merchants()[kind]}, joined=False)


def labels_of(rows: Sequence[Row], anywhere: str | None, alone: str) -> Iterator["Label"]:
    """Yield the labels of a party.

    Args:
        rows: The rows of a page.
        anywhere: The kind of labels that count at any place.
        alone: The kind of labels that count as the whole of a cell.
    """
    for row in rows:
        for piece in pieces_of(row):
            if any(book(kind).is_all(piece.text) for kind in (anywhere, alone) if kind):
                yield Label(piece.box, is_heading=True)
        # `VIA DO CLIENTE` says whose copy it is.
        is_labelled = anywhere is not None and not name_stoplist.are_labels(row.text)
        for label in book(anywhere).find(row.text) if anywhere and is_labelled else ():
            yield Label(row.box(label.start, label.end), is_heading=False)


@cache
def _street() -> re.Pattern[str]:
    """Return a pattern for a one-word street with its number: "Lindenweg 12"."""
    return re.compile(rf"[^\W\d]{{2}}(?:{'|'.join(tables.merchants()['street_ends'])})\.?\s+\d")


@cache
def _numbered_unit() -> re.Pattern[str]:
    """Return a pattern for a unit with its number before the rest: "Shop 14, Gandhi Market"."""
    units = "|".join(tables.merchants()["units"])
    return re.compile(rf"(?:{units})\W{{1,3}}\d{{1,4}}[A-Z]?\s?,", re.IGNORECASE)


def _body_start(rows: Sequence[Row]) -> int:
    priced = {row.index for row in rows if any(amount.is_money for amount in row.amounts)}
    for row in rows:
        kinds = lexicon.phrasebook("number", "date", "total").kinds(row.text)
        has_number = bool(kinds) and any(character.isdigit() for character in row.text)
        are_items = {row.index, row.index + 1} <= priced
        if dates.days(row.text) or has_number or len(row.amounts) > 1 or are_items:
            return row.index
    return rows[-1].index


def _domains(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names in the web and mail addresses of a text, as letters and as printed."""
    for match in _HOST.finditer(text):
        user, _, host = match.group().rpartition("@")
        parts = host.split(".")
        is_host = bool(user) or not _HOST_PARTS.isdisjoint(part.lower() for part in parts)
        if is_host or (len(parts[-1]) == _LEAST_CORE and parts[-1].islower()):
            for core in (user, max(parts[:-1], key=len)):
                if len(core) >= _LEAST_CORE:
                    yield normalize(core).letters, core


def _owned(rows: Sequence[Row]) -> frozenset[int]:
    bearing = [row.index for row in rows if book("owned").find(row.text)]
    return frozenset(index + step for index in bearing for step in range(_OWNED_ROWS))
