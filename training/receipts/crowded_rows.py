"""More layouts of items, and the rows between them: departments, modifiers, notes.

Real tills print an article number before or below a name, the price and the quantity behind it, a
column of tax rates, names cut and abbreviated to a few letters.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from training.receipts import item_rows
from training.receipts.baskets import Bought
from training.receipts.countries import countries
from training.receipts.item_rows import Desk, Listed, Way
from training.receipts.strips import Cell, Row
from training.receipts.truth import TruthItem

# The letters of a name that is abbreviated.
_SHORTEST, _LONGEST = 10, 18
_VOWELS = frozenset("AEIOUaeiouÄÖÜäöüÉÈÊéèêÁÍÓÚáíóúÃÕãõ")


@dataclass(frozen=True, slots=True)
class Crowd:
    """What one till prints around its items."""

    has_departments: bool
    has_modifiers: bool
    has_notes: bool
    #: Whether names are repeated below in another language.
    is_bilingual: bool
    #: Whether the sign of a discount is behind it.
    is_sign_behind: bool
    #: Printed before each name, such as `* `.
    mark: str


def crowd(rng: random.Random, kind: str) -> Crowd:
    """Return what a till of a shop or a restaurant prints."""
    is_bill = kind == "restaurant"
    return Crowd(
        has_departments=not is_bill and rng.random() < 0.4,
        has_modifiers=is_bill and rng.random() < 0.7,
        has_notes=not is_bill and rng.random() < 0.5,
        is_bilingual=rng.random() < 0.2,
        is_sign_behind=rng.random() < 0.35,
        mark=rng.choice(("* ", "*", "# ")) if rng.random() < 0.08 else "",
    )


def abbreviated(rng: random.Random, basket: Sequence[Bought]) -> tuple[Bought, ...]:
    """Return the basket with names of few letters, as a till with little room prints them."""
    room = rng.randint(_SHORTEST, _LONGEST)
    without_vowels = rng.random() < 0.5
    return tuple(
        replace(bought, name=_short(bought.name.upper(), room, without_vowels=without_vowels))
        for bought in basket
    )


def with_extras(rng: random.Random, desk: Desk, basket: Sequence[Bought]) -> tuple[Bought, ...]:
    """Return the basket with extras below some dishes, most of them free."""
    country, found = desk.country, []
    for bought in basket:
        found.append(bought)
        while rng.random() < 0.3:
            extra = rng.choice(country.products["extras"])
            found.append(
                Bought(
                    f"{_INDENT}{extra.name}",
                    Decimal(1),
                    country.rounded(extra.price),
                    country.rounded(extra.price),
                    bought.rate,
                )
            )
    return tuple(found)


_INDENT = "  "


def listed(
    rng: random.Random, desk: Desk, way: str, basket: Sequence[Bought], around: Crowd
) -> tuple[Listed, ...]:
    """Return the items of a basket, and the rows between them."""
    departments, found = desk.country.asides["departments"], []
    for place, bought in enumerate(basket):
        if around.has_departments and (not place or rng.random() < 0.25):
            found.append(_plain(rng.choice(departments)))
        if bought.name.startswith(_INDENT):
            found.append(_extra(desk, bought))
            continue
        found.append(_marked(WAYS[way](desk, bought), around.mark))
        found += _below(rng, desk, bought, around)
    return tuple(found)


def _below(rng: random.Random, desk: Desk, bought: Bought, around: Crowd) -> list[Listed]:
    """Return the rows that follow an item: its name again, a wish, a note, a discount."""
    asides, found = desk.country.asides, []
    if around.is_bilingual:
        found.append(_plain(f"  {rng.choice(_other_names(desk))}"))
    if around.has_modifiers and rng.random() < 0.3:
        found.append(_plain(f"    {rng.choice(asides['modifiers'])}"))
    if around.has_notes and rng.random() < 0.35:
        note, before = rng.choice(asides["notes"]), desk.country.rounded(bought.price * 5 / 4)
        found.append(_plain(f"  {note} {desk.figure(before) if rng.random() < 0.5 else ''}"))
    if bought.discount:
        name = rng.choice(desk.country.labels["discount"])
        off = desk.figure(bought.discount)
        row = Row(f"  {name}", f"{off}-" if around.is_sign_behind else f"-{off}")
        found.append(Listed((row,), TruthItem(name, None, None, str(-bought.discount))))
    return found


def _other_names(desk: Desk) -> list[str]:
    """Return names of products in another language."""
    other = "fr-FR" if desk.country.tag[:2] in {"en", "nl"} else "en-GB"
    return [product.name for product in countries()[other].products["restaurant"]]


def _plain(text: str) -> Listed:
    return Listed((Row(text.rstrip()),), None)


def _extra(desk: Desk, bought: Bought) -> Listed:
    name = bought.name.strip()
    row = Row(f"{_INDENT * 2}{name}", desk.amount(bought))
    return Listed((row,), TruthItem(name, None, None, str(bought.total)))


def _marked(listing: Listed, mark: str) -> Listed:
    first, *more = listing.rows
    if not mark or not first.left:
        return listing
    return Listed((replace(first, left=f"{mark}{first.left}"), *more), listing.truth)


def _short(name: str, room: int, *, without_vowels: bool) -> str:
    if without_vowels and len(name) > room:
        words = name.split()
        name = " ".join(_consonants(word) if len(word) > len("PAIN") else word for word in words)
    return name[:room].rstrip(" .,&")


def _consonants(word: str) -> str:
    return word[0] + "".join(sign for sign in word[1:] if sign not in _VOWELS)


def _priced_inline(desk: Desk, bought: Bought) -> Listed:
    """`NAME  1,15 x 2  2,30`, without quantity and price if the quantity is one."""
    if bought.qty == 1 or bought.unit:
        return item_rows.WAYS["below"](desk, bought)
    figures = f"{desk.figure(bought.price)}{desk.times}{desk.quantity(bought)}"
    name = desk.strip.cut(bought.name, desk.strip.columns - len(figures) - 15)
    cell = Cell(figures, desk.strip.columns - 12, "right")
    row = Row(name, desk.amount(bought), cells=(cell,))
    return Listed((row,), item_rows.truth(bought, (name,), "qp"))


def _all_inline(desk: Desk, bought: Bought) -> Listed:
    """`NAME  2 x1,15 2,30`, on two rows if there is no room."""
    figures = f"{desk.quantity(bought)}{desk.times.rstrip()}{desk.figure(bought.price)}"
    right = f"{figures} {desk.amount(bought)}"
    name = desk.strip.cut(bought.name, desk.strip.columns - 2)
    if desk.strip.columns_of(f"{name} {right}") < desk.strip.columns:
        rows: tuple[Row, ...] = (Row(name, right),)
    else:
        rows = (Row(name), Row("", right))
    return Listed(rows, item_rows.truth(bought, (name,), "qp"))


def _code_before(desk: Desk, bought: Bought) -> Listed:
    """`7033062846 NAME  2,30`, and quantity and price below if the quantity is not one."""
    code = _code(bought, 10)
    name = desk.strip.cut(bought.name, desk.strip.columns - len(code) - 13)
    row = Row(f"{code} {name}", desk.amount(bought))
    if bought.qty == 1:
        return Listed((row,), item_rows.truth(bought, (name,), ""))
    return Listed((row, Row(item_rows.times(desk, bought))), item_rows.truth(bought, (name,), "qp"))


def _code_below(desk: Desk, bought: Bought) -> Listed:
    """The name, then `9074624  2 X 1,15  2,30`."""
    names = desk.names(bought.name, desk.strip.columns - 4)
    figures = f"{_code(bought, 7)}{item_rows.times(desk, bought, '  ')}"
    rows = (*(Row(name) for name in names), Row(figures, desk.amount(bought)))
    return Listed(rows, item_rows.truth(bought, names, "qp"))


def _rated(desk: Desk, bought: Bought) -> Listed:
    """`NAME  15%  2,30`, and quantity and price below if the quantity is not one."""
    rate = f"{bought.rate.normalize():f}%"
    name = desk.strip.cut(bought.name, desk.strip.columns - 19)
    cell = Cell(rate, desk.strip.columns - 11, "right")
    row = Row(name, desk.amount(bought), cells=(cell,))
    if bought.qty == 1:
        return Listed((row,), item_rows.truth(bought, (name,), ""))
    return Listed((row, Row(item_rows.times(desk, bought))), item_rows.truth(bought, (name,), "qp"))


def _counted_behind(desk: Desk, bought: Bought) -> Listed:
    """`NAME x 2  2,30`: the name may take two rows."""
    count = f" x {desk.quantity(bought)}"
    names = desk.names(bought.name, desk.strip.columns - 18)
    *first, last = names
    rows = (*(Row(name) for name in first), Row(f"{last}{count}", desk.amount(bought)))
    return Listed(rows, item_rows.truth(bought, names, "q"))


def _amount_first_row(desk: Desk, bought: Bought) -> Listed:
    """`2 NAME  2,30`, and the rest of the name below."""
    names = desk.strip.wrapped(bought.name, max(14, desk.strip.columns * 0.45))
    first, *more = names
    rows = [Row(f"{desk.quantity(bought)} {first}", desk.amount(bought))]
    rows += [Row(f"  {name}") for name in more]
    return Listed(tuple(rows), item_rows.truth(bought, names, "q"))


def _code(bought: Bought, digits: int) -> str:
    """Return an article number: the same for the same name."""
    mixed = sum(ord(sign) * 7919**place for place, sign in enumerate(bought.name, 1))
    return f"{mixed % 10**digits:0{digits}d}"


#: All layouts by name, those of item_rows.py and these.
WAYS: dict[str, Way] = {
    **item_rows.WAYS,
    "priced inline": _priced_inline,
    "all inline": _all_inline,
    "code before": _code_before,
    "code below": _code_below,
    "rated": _rated,
    "counted behind": _counted_behind,
    "amount first": _amount_first_row,
}
