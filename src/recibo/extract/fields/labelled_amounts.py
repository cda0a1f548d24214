"""Assigns a role to each amount by its label: total, tax, cash ..."""

import bisect
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from itertools import combinations, groupby

from recibo.extract.layout import stacked
from recibo.extract.layout.rows import Row, money_labels
from recibo.extract.model import Box, Extracted
from recibo.extract.text import lexicon
from recibo.extract.text.numbers import MINUS, Number
from recibo.extract.text.phrases import Phrase

# A label is at most this far above an amount that is on a separate line, in line heights.
_NEAR = 1.6

# A row with only amounts has no words except currency symbols and tax codes.
_LONGEST_MARK, _MOST_LETTERS = 3, 4

# The largest tax as a share of the amount paid.
_MOST_TAX = Decimal("0.45")
# A tax is between these shares of the sum it is levied on.
_RATES = (Decimal("0.01"), Decimal("0.2"))
# "18%", "20%", "22%", with one or two rows each.
_MOST_ROWS = 9


class Role(StrEnum):
    """The role of an amount, given by its labels."""

    PAYABLE = "payable"
    TOTAL = "total"
    SUM = "sum"
    SUBTOTAL = "subtotal"
    TAX = "tax"
    CASH = "cash"
    CHANGE = "change"
    CARD = "card"
    ROUNDING = "rounding"
    DISCOUNT = "discount"
    CHARGE = "charge"
    COUNT = "count"
    NONE = "none"


# The role of an amount with several labels. The first match counts: all labels of the first set
# are present, none of the second. A single label decides alone.
_READINGS: tuple[tuple[set[str], set[str], Role], ...] = (
    ({"discount", "payable"}, {"excluding"}, Role.PAYABLE),
    ({"discount", "total", "including"}, {"excluding"}, Role.PAYABLE),
    ({"discount", "total", "excluding"}, set(), Role.SUBTOTAL),
    # `Less: Round Off  (-)0.14`
    ({"discount", "rounding"}, {"total", "subtotal"}, Role.ROUNDING),
    ({"discount"}, {"subtotal"}, Role.DISCOUNT),
    ({"rounding", "payable"}, set(), Role.PAYABLE),
    ({"rounding", "total", "including"}, set(), Role.PAYABLE),
    ({"rounding", "subtotal"}, set(), Role.SUBTOTAL),
    ({"rounding"}, set(), Role.ROUNDING),
    ({"payable", "excluding"}, set(), Role.SUBTOTAL),
    ({"total", "excluding"}, set(), Role.SUBTOTAL),
    ({"sum", "excluding"}, set(), Role.SUBTOTAL),
    ({"payable"}, {"change", "count"}, Role.PAYABLE),
    ({"total", "tax", "including"}, {"change", "cash", "count"}, Role.TOTAL),
    ({"sum", "tax", "including"}, {"change", "cash", "count"}, Role.TOTAL),
    ({"subtotal"}, set(), Role.SUBTOTAL),
    ({"change"}, set(), Role.CHANGE),
)
_SUMS = (Role.PAYABLE, Role.TOTAL, Role.SUM, Role.SUBTOTAL, Role.TAX)
_TOTALS = (Role.PAYABLE, Role.TOTAL)
_ITEM_SUMS = (*_TOTALS, Role.SUM)
# The roles of amounts between a sum before tax and the total, and their greatest number.
_ON_TOP = (Role.TAX, Role.CHARGE, Role.ROUNDING, Role.DISCOUNT)
_FAR = 8
_PAIR = 2
# The roles of amounts that make up a total, and the most of them that are added up.
_PARTS = (*_SUMS, *_ON_TOP)
_MOST_PARTS = 5
_CENT = Decimal("0.01")
# A tax is rounded for each item, so its rate is off by so many percent of it.
_OFF_OF_RATE = 1
_PAYMENTS = {Role.CARD, Role.CASH}
# `não incide ISS (item 3.01 da LC 116/2003)`
_OF_A_LAW = re.compile(r"(?:\(|\bdo |\bno )(?:sub)?item\s$|\bart(?:igo|\.?)\s$", re.IGNORECASE)
_LAW_LETTERS = 12
# `Cupom FOME15  - R$ 15,00`
_MINUS_APART = re.compile(rf"\s[{MINUS}]\s\D{{0,4}}$")
_MODIFIERS = {"excluding", "including", "no_label"}
# Of an exchange rate.
_DECIMALS_OF_RATE = 3
# So many rates, amounts and sums are compared.
_MOST_RATES, _MOST_AMOUNTS, _MOST_SUMS = 2, 8, 40


@dataclass(frozen=True, slots=True)
class Entry:
    """An amount and its role."""

    amount: Number
    role: Role
    row: Row
    #: The number of amounts between it and its label: 0 if it is next to the label.
    distance: int = 0
    #: Whether the label is in the row above.
    is_below: bool = False

    def box(self) -> Box:
        """Return the box of the amount on its page."""
        return self.row.box(self.amount.start, self.amount.end)

    def found(self, confidence: float) -> Extracted[Decimal]:
        """Return the amount with its evidence."""
        return Extracted(
            self.amount.value, confidence, self.row.text, self.row.line.page, self.box()
        )


def entries(rows: Sequence[Row]) -> tuple[Entry, ...]:
    """Return all amounts of the document in reading order, each with its role."""
    found: list[Entry] = []
    offered = suggestions(rows) | _savings(rows) | _conversions(rows)
    for row in rows:
        above = rows[row.index - 1] if row.index else None
        own = list(_of_row(row, above))
        if row.index in offered:
            own = [replace(entry, role=Role.COUNT) for entry in own]
        elif own and _is_subtracted(own[-1]):
            rates = [replace(entry, role=Role.NONE) for entry in own[:-1]]
            own = [*rates, replace(own[-1], role=Role.DISCOUNT)]
        found.extend(own)
    signed = _with_signs_of_payments(tuple(_with_signs_of_totals(found)))
    paid = _with_discounts(tuple(_with_split_totals(signed)))
    named = _with_rated_taxes(tuple(_with_rounded_totals(paid)))
    return tuple(_with_net_totals(tuple(_with_sensible_taxes(named))))


def _conversions(rows: Sequence[Row]) -> frozenset[int]:
    """Return the rows with a total in another currency: `Total EUR (Kurs 0.9300)  153.33`."""
    totals = [row for row in rows if role_of([label.kind for label in row.labels]) in _TOTALS]
    sums = [amount.value for row in totals for amount in row.amounts if row.is_money(amount)]
    known = list(dict.fromkeys(sums))[:_MOST_SUMS]
    return frozenset(row.index for row in totals if _is_converted(row, known))


def _is_converted(row: Row, sums: Sequence[Decimal]) -> bool:
    rates = [each.value for each in row.amounts if each.decimals >= _DECIMALS_OF_RATE]
    return any(
        abs(other * rate - amount.value) <= _CENT or abs(other - amount.value * rate) <= _CENT
        for rate in rates[:_MOST_RATES]
        for amount in row.amounts[:_MOST_AMOUNTS]
        if row.is_money(amount) and amount.value != rate
        for other in sums
        if other != amount.value
    )


def role_of(kinds: Sequence[str]) -> Role:
    """Return the role of an amount with labels of these kinds, from left to right."""
    present = set(kinds)
    for needed, barred, role in _READINGS:
        if needed <= present and not barred & present:
            return role
    plain = [kind for kind in kinds if kind not in _MODIFIERS]
    return Role(plain[-1]) if plain else Role.NONE


def _with_signs_of_totals(found: Sequence[Entry]) -> Iterator[Entry]:
    """Make totals positive whose minus was misread: those that add up without it."""
    parts: list[Decimal] = []
    for entry in found:
        value = entry.amount.value
        is_misread = entry.role in _TOTALS and value < 0 and _adds_up(-value, parts)
        yield _positive(entry) if is_misread else entry
        if entry.role in _PARTS and value > 0 and value not in parts:
            parts = [*parts, value][-_MOST_PARTS:]


def _adds_up(total: Decimal, parts: Sequence[Decimal]) -> bool:
    """Return whether some of the sums and taxes above make a total."""
    return any(
        sum(chosen) == total
        for count in range(2, len(parts) + 1)
        for chosen in combinations(parts, count)
    )


def _positive(entry: Entry) -> Entry:
    return replace(entry, amount=replace(entry.amount, readings=(abs(entry.amount.value),)))


def _with_signs_of_payments(found: Sequence[Entry]) -> list[Entry]:
    """Make payments positive that are printed as credits: "VISA 687.15-"."""
    if any(entry.role in (*_TOTALS, Role.SUBTOTAL) and entry.amount.value < 0 for entry in found):
        return list(found)
    return [_positive(entry) if entry.role in (Role.CARD, Role.CASH) else entry for entry in found]


def _with_net_totals(found: Sequence[Entry]) -> Iterator[Entry]:
    """Make a total a subtotal if it adds up to another total with the taxes right below it."""
    for index, entry in enumerate(found):
        if entry.role in _ITEM_SUMS and _adds_up_to_next(entry, found[index + 1 : index + _FAR]):
            yield replace(entry, role=Role.SUBTOTAL)
        else:
            yield entry


def _adds_up_to_next(net: Entry, below: Sequence[Entry]) -> bool:
    """Return whether the sum plus a tax and other additions is the next total below."""
    extra, has_tax = Decimal(0), False
    for entry in below:
        value = entry.amount.value
        if entry.role in _TOTALS:
            return has_tax and abs(net.amount.value + extra - value) <= _CENT
        if entry.role not in _ON_TOP or entry.distance:
            return False
        has_tax |= entry.role is Role.TAX and value > _CENT
        extra += -abs(value) if entry.role is Role.DISCOUNT else value
    return False


def _with_split_totals(found: Sequence[Entry]) -> Iterator[Entry]:
    """Make the totals of a row a sum and its tax if both add up to another total.

    `Total  91,93  15,65` below a total of 107,58, or with that total behind them.
    """
    totals = {entry.amount.value for entry in found if entry.role in _TOTALS}
    for _, entries_of in groupby(found, key=lambda entry: entry.row.index):
        own = list(entries_of)
        are_totals = all(entry.role in _TOTALS for entry in own)
        if are_totals and _is_split([entry.amount.value for entry in own], totals):
            own[:2] = replace(own[0], role=Role.SUBTOTAL), replace(own[1], role=Role.TAX)
        yield from own


def _is_split(values: Sequence[Decimal], totals: Collection[Decimal]) -> bool:
    if not _PAIR <= len(values) <= _PAIR + 1:
        return False
    net, tax, *rest = values
    whole = net + tax
    is_tax = 0 < tax < whole * _MOST_TAX
    return is_tax and (rest == [whole] or (not rest and whole in totals))


def _with_discounts(found: Sequence[Entry]) -> list[Entry]:
    """Make an amount a discount that leads from a sum to the next one, and that sum a subtotal.

    `VALOR 26,00`, `DESC 6,00`, `VALOR PAGO 20,00`.
    """
    named = list(found)
    for index, (whole, less, rest) in enumerate(zip(found, found[1:], found[2:], strict=False)):
        left = whole.amount.value - abs(less.amount.value)
        if less.amount.value and left == rest.amount.value and _is_discount(whole, less, rest):
            named[index] = replace(whole, role=Role.SUBTOTAL)
            named[index + 1] = replace(less, role=Role.DISCOUNT)
            is_named = rest.role is not Role.SUM
            named[index + 2] = rest if is_named else replace(rest, role=Role.PAYABLE)
    return named


def _is_discount(whole: Entry, less: Entry, rest: Entry) -> bool:
    """Return whether what is between two sums is a discount, not a voucher above a payment."""
    if whole.row.index >= rest.row.index or whole.role not in _ITEM_SUMS:
        return False
    if rest.role in _ITEM_SUMS:
        return less.role in (Role.DISCOUNT, Role.NONE)
    return rest.role in _PAYMENTS and less.role is Role.DISCOUNT and whole.role is not Role.PAYABLE


def _is_subtracted(entry: Entry) -> bool:
    """Return whether a row begins with a word for a discount and has a minus before its amount."""
    if entry.role not in (Role.NONE, Role.CARD, Role.CASH) or not entry.row.is_money(entry.amount):
        return False
    text = entry.row.text
    words = lexicon.wordbook("discount_word").find(text)
    begins = bool(words) and not any(map(str.isalnum, text[: words[0].start]))
    return begins and (
        entry.amount.value < 0 or bool(_MINUS_APART.search(text[: entry.amount.start]))
    )


def _with_rounded_totals(found: Sequence[Entry]) -> Iterator[Entry]:
    """Make a total a subtotal if a rounding leads from it to the amount payable below it."""
    steps = {one.amount.value for one in found if one.role is Role.ROUNDING and one.amount.value}
    payable = [one for one in found if one.role is Role.PAYABLE] if steps else []
    for entry in found:
        is_before = entry.role is Role.TOTAL and any(
            entry.amount.value + step == one.amount.value for one in payable for step in steps
        )
        yield replace(entry, role=Role.SUBTOTAL) if is_before else entry


def _with_rated_taxes(found: Sequence[Entry]) -> Sequence[Entry]:
    """Make amounts taxes whose rates lead from a subtotal to its total: `INC 8%  13.778`."""
    named = list(found)
    for index, net in enumerate(found):
        if net.role is Role.SUBTOTAL:
            for place in _rated_below(found, index):
                named[place] = replace(found[place], role=Role.TAX)
    return named


def _rated_below(found: Sequence[Entry], index: int) -> Sequence[int]:
    """Return the places of the taxes that are added to a subtotal, if their sum is the total."""
    net = found[index].amount.value
    places: list[int] = []
    whole = net
    for place in range(index + 1, min(index + _FAR, len(found))):
        entry = found[place]
        if entry.role in _TOTALS:
            return places if whole == entry.amount.value else ()
        if not entry.row.is_money(entry.amount):
            continue
        if entry.role is not Role.TAX and not _is_rated(entry, net):
            return ()
        places.append(place)
        whole += entry.amount.value
    return ()


def _is_rated(entry: Entry, net: Decimal) -> bool:
    """Return whether an unlabelled amount is that of the only rate in its row."""
    rates = [amount.value for amount in entry.row.amounts if amount.is_percent]
    off = abs(net * sum(rates) - entry.amount.value * 100)
    is_bare = entry.role is Role.NONE and len(rates) == 1
    if is_bare and lexicon.wordbook("service_charge", "tip").find(entry.row.text):
        return False
    return is_bare and off <= entry.amount.value * _OFF_OF_RATE


def _with_sensible_taxes(found: Sequence[Entry]) -> Iterator[Entry]:
    """Distinguish "total including tax" from "total tax" by the size of the amount."""
    sums = sorted(
        entry.amount.value
        for entry in found
        if entry.role in _SUMS and entry.row.is_money(entry.amount)
    )
    most = sums[-1] if sums else Decimal(0)
    # `Net 12.75 VAT 2.55`
    taxed = {entry.row.index for entry in found if entry.role is Role.TAX}
    for entry in found:
        kinds = {label.kind for label in entry.row.labels}
        if "tax" not in kinds or not kinds & {"total", "payable", "including"}:
            yield entry
        elif entry.role is Role.TAX and abs(entry.amount.value) > most * _MOST_TAX:
            yield replace(entry, role=Role.TOTAL)
        elif (
            entry.role in _TOTALS
            and entry.row.index not in taxed
            and _is_tax_on_any(entry.amount.value, sums)
        ):
            yield replace(entry, role=Role.TAX)
        else:
            yield entry


def _is_tax_on_any(tax: Decimal, sums: Sequence[Decimal]) -> bool:
    """Return whether `tax` is a plausible tax on one of the sums, which are sorted."""
    low, high = _RATES
    index = bisect.bisect_right(sums, tax / high)
    return index < len(sums) and low * sums[index] < tax


def _of_row(row: Row, above: Row | None) -> Iterator[Entry]:
    kinds: list[str] = []
    is_fresh = True
    distance = 0
    heading = above if above and not row.labels and _is_label_for(above, row) else None
    elements: list[Phrase | Number] = [*row.labels, *row.amounts]
    gaps = [end for end, _ in stacked.gaps(row)] if len(row.labels) > 1 else []
    last = 0
    for element in sorted(elements, key=lambda element: element.start):
        if isinstance(element, Phrase):
            is_apart = any(last <= gap < element.start for gap in gaps)
            kinds = kinds if is_fresh and not is_apart else []
            last = element.end
            kinds.append(element.kind)
            is_fresh, distance = True, 0
            continue
        near = row.text[max(0, element.start - _LAW_LETTERS) : element.start]
        if element.is_percent or _OF_A_LAW.search(near):
            continue
        if heading:
            kinds = list(_heading_kinds(element, row, heading))
        role = role_of(kinds)
        amount = _with_missing_point(element, row) if role is Role.ROUNDING else element
        yield Entry(amount, role, row, distance, is_below=heading is not None)
        is_fresh = False
        distance += heading is None


def _with_missing_point(amount: Number, row: Row) -> Number:
    """Return a rounding amount with its missing decimal point: "002" is 0.02."""
    printed = row.text[amount.start : amount.end].strip(MINUS)
    if not printed.startswith("0") or len(printed) != row.minor + 1 or not printed.isdigit():
        return amount
    return replace(amount, readings=(amount.value.scaleb(-row.minor),), decimals=row.minor)


def _is_label_for(above: Row, row: Row) -> bool:
    """Return whether the row above has only labels and is close enough to this row."""
    has_amounts = any(not amount.is_percent for amount in above.amounts)
    if has_amounts or not above.labels or above.line.page != row.line.page:
        return False
    gap = row.line.box.y0 - above.line.box.y1
    return gap < _NEAR * row.line.box.height and _is_amounts_alone(row)


def _is_amounts_alone(row: Row) -> bool:
    words = re.findall(r"[^\W\d_]+", row.text)
    is_short = sum(map(len, words)) <= _MOST_LETTERS
    return bool(row.amounts) and is_short and all(len(word) <= _LONGEST_MARK for word in words)


def _heading_kinds(amount: Number, row: Row, above: Row) -> tuple[str, ...]:
    """Return the kinds of the labels in the cell of `above` that is nearest to an amount.

    Headings and amounts are left-aligned, right-aligned or centered: the nearest edge counts.
    """
    box = row.box(amount.start, amount.end)
    headings = [cell for cell in above.cells() if money_labels(cell.text)]
    nearest = min(headings, key=lambda cell: _distance(cell.box, box), default=None)
    return tuple(label.kind for label in money_labels(nearest.text)) if nearest else ()


def _distance(heading: Box, amount: Box) -> float:
    return min(
        abs(heading.x0 - amount.x0),
        abs(heading.x1 - amount.x1),
        abs(heading.x_center - amount.x_center),
    )


def suggestions(rows: Sequence[Row]) -> frozenset[int]:
    """Return the indexes of the rows with a suggested tip, the total with it, or a condition."""
    found: set[int] = set()
    for row in rows:
        if _is_offer(row) or lexicon.wordbook("conditional").find(row.text):
            found.add(row.index)
        if lexicon.wordbook("suggested").find(row.text) and not _is_added(row, rows):
            found.add(row.index)
            found.update(_below(row, rows))
    return frozenset(found)


def _is_added(row: Row, rows: Sequence[Row]) -> bool:
    """Return whether the amount of a row and the sum above it make the sum below, which is paid."""
    near = [_last_money(one) for one in rows[max(row.index - 1, 0) : row.index + 2]]
    if len(near) <= _PAIR or None in near:
        return False
    sums = [value for value in near if value is not None]
    return sum(sums[:_PAIR]) == sums[_PAIR] and any(
        _last_money(one) == sums[_PAIR] and {label.kind for label in one.labels} & _PAYMENTS
        for one in rows[row.index + _PAIR :]
    )


def _last_money(row: Row) -> Decimal | None:
    return next((each.value for each in row.amounts[::-1] if row.is_money(each)), None)


def _savings(rows: Sequence[Row]) -> frozenset[int]:
    """Return the indexes of the rows that repeat discounts with their sum: "YOUR SAVINGS"."""
    found: set[int] = set()
    for heading in rows:
        if heading.amounts or not lexicon.wordbook("discount_sum").is_all(heading.text):
            continue
        parts = Decimal(0)
        for row in rows[heading.index + 1 : heading.index + 1 + _MOST_ROWS]:
            values = [amount.value for amount in row.amounts if row.is_money(amount)]
            if len(values) != 1:
                break
            is_total = any(label.kind == Role.TOTAL for label in row.labels)
            if is_total and parts and abs(values[0]) == abs(parts):
                found.update(range(heading.index + 1, row.index + 1))
                break
            parts += values[0]
    return frozenset(found)


def _is_offer(row: Row) -> bool:
    """Return whether a row has a percentage, its tip and total: "20% (Tip 2 Total 12)"."""
    kinds = {label.kind for label in row.labels}
    return _has_share(row) and {"charge", "total"} <= kinds


def _below(heading: Row, rows: Sequence[Row]) -> list[int]:
    """Return the rows right below a heading that each begin with a share of the bill."""
    found = []
    for row in rows[heading.index + 1 : heading.index + 1 + _MOST_ROWS]:
        if not _has_share(row):
            break
        found.append(row.index)
    return found


def _has_share(row: Row) -> bool:
    return any(amount.is_percent for amount in row.amounts)
