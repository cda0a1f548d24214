"""What names the goods of a roll: rows above their amount, below it, or going on from its row."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from recibo.extract.fields.items import item_name, terminators
from recibo.extract.fields.items.details import Detail
from recibo.extract.fields.items.priced_row import Priced
from recibo.extract.fields.items.terminators import Meaning
from recibo.extract.layout.item_rows import Row, is_under

#: No name goes over more rows than this.
_LONGEST_NAME = 3
#: Nor is one looked for in more rows.
_MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class Manner:
    """How a roll sets its goods."""

    #: Rows of one item stand at most this far apart, pixels.
    reach: float
    are_names_below: bool
    #: Whether the first figures of the rows are quantities, neither counts nor parts of names.
    has_quantities: bool
    #: Whether a figure between name and total is a quantity.
    has_quantities_behind: bool
    #: Whether they count the goods: 1, 2, 3 and so on.
    are_indexed: bool
    #: Whether a heading tells of quantities, of which the reader may have lost some.
    is_headed_qty: bool
    #: Whether most rows begin with the code of the article, so that short ones are codes too.
    have_codes: bool
    #: Where the goods that stand furthest left begin, pixels.
    edge: float


@dataclass
class Entry:
    """Goods being gathered."""

    priced: Priced
    above: list[Row] = field(default_factory=list)
    below: list[Row] = field(default_factory=list)
    detail: Detail | None = None
    #: The quantity and the unit price of the detail.
    made: tuple[Decimal, Decimal | None] | None = None
    #: Whether the detail stands above the amount.
    is_led: bool = False
    #: The row of the same article above, which was named there.
    last: Row | None = None
    #: Whether the rows below may name the next goods.
    is_before_name: bool = False

    @property
    def uppermost(self) -> Row:
        """The row of the amount, or of the detail above it."""
        if self.last:
            return self.last
        return self.detail.row if self.detail and self.is_led else self.priced.row


def above(entry: Entry, reach: float) -> list[Row]:
    """Return the rows above an amount that name the goods: those from its code on, else one."""
    named: list[Row] = []
    # How the total came about may stand between the name and the total.
    lower = entry.uppermost
    for row in entry.above[: -_MOST_ROWS - 1 : -1]:
        if not are_near(row, lower, reach) or _parts_off(row):
            break
        named.insert(0, row)
        lower = row
        bare = item_name.strip_code(row.text)
        if bare != row.text and item_name.is_name(bare) and len(named) <= _LONGEST_NAME:
            return named
    names = [row for row in named if item_name.is_name(row.text)]
    # A size in brackets goes with the name above it.
    has_size = bool(names) and names[-1].text.startswith("(") and names[-1].text.endswith(")")
    return names[-2:] if has_size else _broken(names)


def _parts_off(row: Row) -> bool:
    """Tell whether a row is about money: with columns or figures, or a total's bare label."""
    is_apart = "\t" in row.text or bool(row.figures)
    is_end = terminators.meaning(row) is Meaning.END
    return is_end and (is_apart or terminators.ends_list(row, has_amount=False))


def _broken(rows: Sequence[Row]) -> list[Row]:
    """Return the last row of a name with those above it that it goes on from."""
    name = list(rows[-1:])
    for upper, lower in zip(rows[-2::-1], rows[::-1], strict=False):
        # No goods have the name of a charge alone: `BUFFET SELF` and `SERVICE KG` below it.
        is_rest = terminators.meaning(lower) is not None
        if not is_rest and not item_name.goes_on(upper.text, lower.text):
            break
        name.insert(0, upper)
    return name


def unbroken(entry: Entry, manner: Manner) -> Priced:
    """Return an amount beside its name with the rest of the name from the rows around it."""
    reach, edge = manner.reach, manner.edge
    read = entry.priced
    before: list[Row] = []
    first, lower = read.words, read.row
    for row in entry.above[: -_MOST_ROWS - 1 : -1]:
        is_of_name = are_near(row, lower, reach) and item_name.is_name(row.text)
        # What has a quantity of its own is a dish, with a priced addition under it.
        is_head = not before and item_name.leading_qty(row.text) is None
        is_broken = item_name.goes_on(row.text, first) or (is_head and is_under(row, lower, edge))
        if not (is_of_name and is_broken):
            break
        before.insert(0, row)
        first, lower = row.text, row
    behind: list[Row] = []
    last, upper = read.words, read.row
    for row in entry.below[:_MOST_ROWS]:
        is_apart = not are_near(upper, row, reach) or terminators.meaning(row) is not None
        is_wrapped = upper is read.row and not entry.is_before_name and _is_wrapped(read, row)
        if is_apart or not (item_name.goes_on(last, row.text) or is_wrapped):
            break
        behind.append(row)
        last, upper = f"{last} {row.text}", row
    parts = [*(row.text for row in before), read.words, *(row.text for row in behind)]
    return replace(read, words=" ".join(parts)) if before or behind else read


def _is_wrapped(read: Priced, row: Row) -> bool:
    """Tell whether a row goes on with a name that left no room for its first word.

    Names all in capitals are cut by tills, not wrapped, and what stands below is something else.
    """
    is_priced = "\t" in row.text or any(figure.is_money for figure in row.figures)
    is_bare = not is_priced and item_name.is_name(row.text)
    if not is_bare or read.words.isupper() or row.text.isupper() != read.words.isupper():
        return False
    is_at_edge = abs(row.line.box.x0 - read.row.line.box.x0) <= row.height
    last = len(read.words.rstrip())
    room = read.row.x_at(last + 1) - read.row.x_at(last)
    return is_at_edge and room < row.line.words[0].box.width + row.height


def below(entry: Entry, reach: float) -> list[Row]:
    """Return the row below an amount if it names the goods."""
    row = entry.below[0] if entry.below else None
    is_named = row and are_near(entry.priced.row, row, reach) and item_name.is_name(row.text)
    return [row] if row and is_named else []


def are_near(upper: Row, lower: Row, reach: float) -> bool:
    """Tell whether a row stands close enough below another to be of the same item."""
    distance = lower.line.box.y_centre - upper.line.box.y_centre
    return upper.line.page == lower.line.page and distance <= reach
