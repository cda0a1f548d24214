"""Finds the rows with the name of an item: above its amount, below it, or around its row."""

import functools
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from recibo.extract.fields.items import item_name, terminators
from recibo.extract.fields.items.details import Detail, Labelled
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout.rows import Row, is_under
from recibo.extract.text import lexicon

#: The most rows of a name.
_LONGEST_NAME = 3
#: The most rows in which a name is searched.
_MOST_ROWS = 20
#: An index begins at most at this position of its row.
_INDEX_PLACE = 3
#: The fewest rows that show how a document is printed.
_FEWEST = 2
# Shorter words in capitals begin names.
_SHORT_UNIT = 2
#: If no quantity is smaller, the column contains rates or codes.
_LEAST = 3
# `Anytime Day Return   1`: a name and a quantity, nothing else.
_COUNT_AT_END = re.compile(r"(?P<name>[^\t:]*[^\W\d][^\t:]*)\t\s*(?P<qty>[1-9])\s*")
#: Letters that OCR reads for a one.
_ONES = "lI|"
# A tax code, perhaps with its rate, after the quantity: `F1`, `01T18,00%`.
_TAXED = r"(?:\s+[0-9]{0,2}[A-Z]{1,2}[0-9]{0,2}(?:[.,][0-9]{2})?%?)?"


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of items on a receipt."""

    #: The largest distance of rows of one item, pixels.
    reach: float
    are_names_below: bool
    #: Whether the first numbers of the rows are quantities, not an index or parts of names.
    has_quantities: bool
    #: Whether a number between name and total is a quantity.
    has_quantities_after_names: bool
    #: Whether they are an index: 1, 2, 3 and so on.
    are_indexed: bool
    #: Whether there is a heading of quantities, of which OCR may have missed some.
    is_headed_qty: bool
    #: Whether a unit follows most of the quantities before names: `2 stk Brunost`.
    have_pieces: bool
    #: Whether most rows begin with an article code, so that short numbers are codes too.
    have_codes: bool
    #: Whether every row begins with a code of letters and digits.
    have_mixed_codes: bool
    #: The left edge of the leftmost item, pixels.
    edge: float


@dataclass
class Entry:
    """An item and the rows near it."""

    priced: Priced
    above: list[Row] = field(default_factory=list)
    below: list[Row] = field(default_factory=list)
    detail: Detail | None = None
    #: The rows with its quantity and price, but for its own.
    detail_rows: tuple[Row, ...] = ()
    #: The quantity and the unit price of the detail.
    qty_and_price: tuple[Decimal, Decimal | None] | None = None
    #: The numbers below it that are labelled as a quantity, and the number of articles if certain.
    counts: list[Labelled] = field(default_factory=list)
    count: Decimal | None = None
    #: Whether the detail is above the amount.
    is_detail_above: bool = False
    #: The row above with the name of the same article.
    last: Row | None = None
    #: Whether the rows below may be the name of the next item.
    is_before_name: bool = False

    @property
    def uppermost(self) -> Row:
        """The row of the amount, or of the detail above it."""
        if self.last:
            return self.last
        return self.detail.row if self.detail and self.is_detail_above else self.priced.row


def above(entry: Entry, reach: float) -> list[Row]:
    """Return the rows above an amount with its name: those from its code on, else one."""
    named: list[Row] = []
    # A detail may be between the name and the amount.
    lower = entry.uppermost
    for row in entry.above[: -_MOST_ROWS - 1 : -1]:
        is_moment = named and item_name.has_hour(row.text) and not _is_dated_name(row)
        if is_moment or not are_near(row, lower, reach) or _is_separator(row):
            break
        named.insert(0, row)
        lower = row
        bare = row.text if item_name.has_hour(row.text) else item_name.strip_code(row.text)
        if bare != row.text and item_name.is_name(bare) and len(named) <= _LONGEST_NAME:
            return named
    names = [row for row in named if item_name.is_name(row.text)]
    if counted := _counted(names):
        return [counted]
    # A size in brackets belongs to the name above it.
    has_size = bool(names) and names[-1].text.startswith("(") and names[-1].text.endswith(")")
    return names[-2:] if has_size else _joined(names)


def _is_dated_name(row: Row) -> bool:
    """Return whether a name is behind its day: `14/03 WASH & FOLD`."""
    return item_name.is_name(item_name.strip_code(row.text))


def _counted(names: Sequence[Row]) -> Row | None:
    """Return the row with a quantity above the one next to the amount, which is then a note on it.

    Anytime Day Return     1
    MAN to LDS  Valid 26-NOV-26
                      38.70
    """
    if len(names) < _FEWEST:
        return None
    upper, lower = names[-2:]
    is_counted = split_count(upper.text) is not None and split_count(lower.text) is None
    return upper if is_counted else None


def split_count(text: str) -> tuple[Decimal, str] | None:
    """Return a quantity in the column behind a name, and the name."""
    match = _COUNT_AT_END.fullmatch(text)
    return (Decimal(match["qty"]), match["name"]) if match else None


def _is_separator(row: Row) -> bool:
    """Return whether a row is a total or the like: with columns or numbers, or only its label."""
    is_separate = "\t" in row.text or bool(row.numbers)
    is_end = terminators.meaning(row) is Meaning.END
    return is_end and (is_separate or terminators.ends_list(row, has_amount=False))


def _joined(rows: Sequence[Row]) -> list[Row]:
    """Return the last row of a name with the rows above that it continues."""
    name = list(rows[-1:])
    for upper, lower in zip(rows[-2::-1], rows[::-1], strict=False):
        # A charge's label alone is not an item: `BUFFET SELF` and `SERVICE KG` below it.
        is_rest = terminators.meaning(lower) is not None
        if not is_rest and not item_name.continues(upper.text, lower.text):
            break
        name.insert(0, upper)
    return name


def whole_name(entry: Entry, layout: Layout) -> Priced:
    """Return an amount with its name, completed from the rows around it."""
    reach, edge = layout.reach, layout.edge
    read = entry.priced
    before: list[Row] = []
    first, lower = read.words, read.row
    for row in entry.above[: -_MOST_ROWS - 1 : -1]:
        is_of_name = are_near(row, lower, reach) and item_name.is_name(row.text)
        # A row with a quantity is a dish with a priced extra below it.
        is_head = not before and item_name.leading_qty(row.text) is None
        is_broken = item_name.continues(row.text, first) or (is_head and is_under(row, lower, edge))
        if not (is_of_name and is_broken):
            break
        before.insert(0, row)
        first, lower = row.text, row
    after: list[Row] = []
    last, upper = read.words, read.row
    for row in entry.below[:_MOST_ROWS]:
        is_separate = not are_near(upper, row, reach) or terminators.meaning(row) is not None
        is_wrapped = upper is read.row and not entry.is_before_name and _is_wrapped(read, row)
        if is_separate or not (item_name.continues(last, row.text) or is_wrapped):
            break
        after.append(row)
        last, upper = f"{last} {row.text}", row
    parts = [*(row.text for row in before), read.words, *(row.text for row in after)]
    return replace(read, words=" ".join(parts), name_rows=(*before, *after))


def _is_wrapped(read: Priced, row: Row) -> bool:
    """Return whether a row continues a name in whose row its first word has no room.

    Names in capitals are cut, not wrapped, and the row below is something else, unless it begins
    where the name begins, behind a code or a quantity.
    """
    is_priced = "\t" in row.text or any(figure.is_money for figure in row.numbers)
    is_bare = not is_priced and ":" not in row.text and item_name.is_name(row.text)
    if not is_bare or item_name.is_choice(row.text) or row.text.isupper() != read.words.isupper():
        return False
    left = read.row.line.box.x0
    if read.words.isupper():
        name = item_name.strip_code(without_qty(read))
        left = read.row.x_at(read.row.text.find(name))
        if left - read.row.line.box.x0 < row.height:
            return False
    is_at_edge = abs(row.line.box.x0 - left) <= row.height
    last = len(read.words.rstrip())
    room = read.row.x_at(last + 1) - read.row.x_at(last)
    return is_at_edge and room < row.line.words[0].box.width + row.height


def below(entry: Entry, reach: float) -> list[Row]:
    """Return the row below an amount if it has its name."""
    row = entry.below[0] if entry.below else None
    is_named = row and are_near(entry.priced.row, row, reach) and item_name.is_name(row.text)
    return [row] if row and is_named else []


def are_near(upper: Row, lower: Row, reach: float) -> bool:
    """Return whether a row is near enough below another to belong to the same item."""
    return upper.line.page == lower.line.page and distance(upper, lower) <= reach


def distance(upper: Row, lower: Row) -> float:
    """Return how far a row is below another, pixels across the slope of their text.

    On a slanted page an amount at the right is nearer to the name below it than to its own.
    """
    words = (*upper.line.words, *lower.line.words)
    slope = sum(word.slope * word.box.width for word in words)
    slope /= sum(word.box.width for word in words) or 1
    above, below = upper.line.box, lower.line.box
    return below.y_center - above.y_center - slope * (below.x_center - above.x_center)


def after_name(read: Priced) -> tuple[Decimal, str] | None:
    """Return a quantity after a name, and the name."""
    before = read.row.text[: read.total_figure.start]
    match = _after_name().search(before)
    name = item_name.without_day(before[: match.start()]) if match else ""
    if match is None or not item_name.is_name(name):
        return None
    printed = match["column"] or match["measured"] or match["times"]
    return Decimal("1" if printed in _ONES else printed), name


def is_multiplied(read: Priced) -> bool:
    """Return whether a sign marks the quantity after a name, so that it needs no other row like it.

    In `Yaourt X16` the sign is part of the name.
    """
    match = _after_name().search(read.row.text[: read.total_figure.start])
    if match is None or match["times"] is None:
        return False
    # Nothing is called `x1`.
    return match["times"] == "1" or " " in match[0].strip()


@functools.cache
def _after_name() -> re.Pattern[str]:
    """`Latte  2  9.00`, `Brezel x3  4,50`, `Pano  1un F1 6,99`: between name and total."""
    return re.compile(
        rf"(?:\t\s*(?P<column>[1-9][0-9]{{0,2}}|[{_ONES}](?=\w))(?:\s?(?i:{lexicon.units()}))?{_TAXED}"
        # With a unit and a tax code, no gap is needed: `VASSOURA 1UN F1 15,90`.
        rf"|\s(?P<measured>[1-9][0-9]{{0,2}})\s?(?i:{lexicon.units()})\s[A-Z]{{1,2}}[0-9]{{1,2}}"
        r"|\s[xX×]\s?(?P<times>[1-9][0-9]?))[\s$€£¥]*$"
    )


def follow_names(reads: Sequence[Priced]) -> bool:
    """Return whether nearly all rows without a unit price have a quantity after the name."""
    bare = [read for read in reads if read.has_name and not read.factors and read.total > 0]
    found = [counted[0] for read in bare if (counted := after_name(read))]
    others = sum(read.factors is not None for read in reads)
    is_usual = bool(found) and len(found) * 4 >= len(bare) * 3 and len(found) + others >= _FEWEST
    return is_usual and (others > 0 or min(found) < _LEAST)


def precede_names(reads: Sequence[Priced]) -> bool:
    """Return whether most rows with a name have a number before it."""
    named = [read for read in reads if read.has_name]
    counted = [read for read in named if is_counted(read)]
    if not counted:
        return False
    return len(counted) * 2 >= len(named) or _are_outdented(
        counted, [read for read in named if read not in counted]
    )


def have_pieces(reads: Sequence[Priced]) -> bool:
    """Return whether a unit follows most quantities before names; a single one is no name.

    A beer of `St. Pauli` is, but `2 st Kaffe` is not.
    """
    named = [read for read in reads if read.has_name and is_counted(read)]
    names = [without_qty(read) for read in named]
    units = [name for name in names if item_name.without_piece(name) != name]
    capitals = [name.split()[0].strip(".") for name in units if name[:1].isupper()]
    # `St Emilion`
    are_sure = not capitals or (len(units) >= _FEWEST and min(map(len, capitals)) > _SHORT_UNIT)
    return are_sure and len(units) * 2 >= len(names)


def without_qty(read: Priced) -> str:
    """Return the words of a row without the quantity before them."""
    leading = None if read.factors else item_name.leading_qty(read.words)
    return leading[1] if leading else read.words


def _are_outdented(counted: Sequence[Priced], others: Sequence[Priced]) -> bool:
    """Return whether the numbers are left of the edge at which all names begin."""
    edge = statistics.median(read.row.line.box.x0 for read in others)
    return all(
        leading is not None
        and abs(read.row.x_at(read.row.text.find(leading[1])) - edge) <= read.row.height
        and read.row.line.box.x0 < edge - read.row.height / 2
        for read in counted
        for leading in [item_name.leading_qty(read.words)]
    )


def is_counted(read: Priced) -> bool:
    """Return whether a quantity, or a similar number, is before a name."""
    if read.factors:
        return read.factors.qty_figure.start < _INDEX_PLACE
    return item_name.leading_qty(read.words) is not None
