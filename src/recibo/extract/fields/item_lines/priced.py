"""One row of a roll read by itself: the goods' name, what they cost, and how many they are."""

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract.fields.item_lines import arithmetic
from recibo.extract.fields.item_lines.figures import Figure
from recibo.extract.fields.item_lines.rows import Row

#: Behind an amount there is room for a tax mark, a currency or a star, not for a sentence.
_LONGEST_TAIL = 6
#: Marks and units in columns of their own have at most so many letters.
_MARK_LETTERS = 3
#: A name has this many letters at least.
_LEAST_LETTERS = 2
# `2 x 1,29`, `0.535 kg @ 2.99/kg`, `3 @ 1.50 ea.`: how the total came about, on a row of its own.
_DETAIL = re.compile(
    r"^\W*(?P<qty>[0-9]+(?:[.,][0-9]+)?)\s*(?P<unit>[A-Za-z]{0,4}\.?)\s*(?:[x×X*@à]|\ba\b|\bX\b)\s*"
    r"(?:R?\$|[€£]|RM|EUR)?\s*(?P<price>[0-9]+(?:[.,][0-9]{1,4})?)\s*(?:[€$]|EUR)?\s*(?:/\s*\w+|ea\.?|each|per\s\w+)?\s*(?:EUR|€)?/?\w{0,3}\W*$"
)
_STAMP = re.compile(r"[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}|[0-9]{1,2}:[0-9]{2}(?![0-9])")
# Index and code in front of a name: `001 7891000 `, `2 `.
_INDEX = re.compile(r"^\W*(?P<index>[0-9]{1,3})(?=[\s).:\t-])[\s).:\t-]*")
# A padded index is one whatever the code behind it: `001 78 AGUA`.
_TIMES = re.compile(r"(?:[\s\t0-9](?:[xX]|UN|KG)?[xX×*]|@)[\s\t]?(?:R?\$|[€£])?[\s]?$")
_PADDED_INDEX = re.compile(r"^\W*0[0-9]{1,2}[\s\t]+(?:[0-9]{1,14}[\s\t]+)?(?=\D)")
_CODE = re.compile(
    r"^[\s\t#*-]*(?:[0-9]{4,14}|[0-9]{3,}(?=\t)|[A-Z]{0,3}-?[0-9]{3,}[A-Z0-9-]*(?=\t))(?=[\s\t]|$)[\s\t]*"
    r"|^[\s\t#*-]*[0-9]{6,14}(?=[^\W\d_])"
)
_LEADING_QTY = re.compile(
    r"^\W*(?P<qty>[1-9][0-9]{0,2}|[0-9]{1,3}[.,][0-9]{1,3})\s?(?:[xX×*]\s|[xX×](?=[A-Z])|\s|\t)\s*(?=\S)"
)
_UNITS = (
    r"(?:UN|UND|UNI|UNID|PC|P[CÇ]|PCT|P[CÇ]S|PCS|PÇ|EA|CX|KG|KGS|G|GR|L|LT|LTS|ML|M|MT|M2|M3|BD|CT|SC|RL"
    r"|GL|PR|PAR|DZ|FD|FR|PT|TB|SA|JG|KIT|LB|OZ|ST|STK|BOX|BTL|PKT|PACK|UNIT|NOS)\.?"
)
_UNIT = re.compile(rf"[\s\t]*(?:{_UNITS})?[\s\t]*[xX×*@(]?[\s\t$]*", re.IGNORECASE)
# What binds quantity and price: a unit of measure, a sign of multiplication, an opening bracket.
_BINDING = re.compile(
    rf"(?:[\s\t]+{_UNITS})?(?:[\s\t]+[x×X*@])?[\s\t]*(?:[x×X*@(à]|(?<=\s)a)?[\s\t$]*$"
)


@dataclass(frozen=True)
class Priced:
    """A row with a total."""

    row: Row
    total: Decimal
    total_figure: Figure
    factors: arithmetic.Factors | None
    #: What stands before quantity, price and total.
    words: str

    @property
    def has_name(self) -> bool:
        """Whether the goods are named on this row."""
        return is_name(strip_code(self.words))

    @property
    def is_product(self) -> bool:
        """Whether several units make the total; one unit at its own price proves nothing."""
        return self.factors is not None and self.factors.qty != 1


@dataclass(frozen=True, slots=True)
class Detail:
    """A row that only says how a total came about."""

    row: Row
    qty: Decimal
    unit_price: Decimal


def read(row: Row, *, minor: int = 2) -> Priced | None:
    """Read a row with a total at its end; None for others."""
    total = _total(row, minor)
    if total is None:
        return None
    before = [figure for figure in row.figures if figure.end <= total.start]
    value = total.readings[0]
    found = arithmetic.factors(before, value) if value else None
    return Priced(row, value, total, found, _words(row, total.start, found))


def of_total(row: Row, total: Decimal, *, at: Priced) -> Priced:
    """Read a row whose total stands on another one: name, and perhaps quantity and price."""
    found = arithmetic.factors(row.figures, total) if total else None
    words = row.text if found is None else _words(row, len(row.text), found)
    return replace(at, factors=at.factors or found, words=words)


def read_detail(row: Row) -> Detail | None:
    """Read `2 x 1,29` and the like."""
    match = _DETAIL.match(row.text)
    if match is None:
        return None
    qty, price = (Decimal(match[part].replace(",", ".")) for part in ("qty", "price"))
    return Detail(row, qty, price)


def strip_code(words: str) -> str:
    """Return a name without an index and article code in front of it."""
    stripped = _PADDED_INDEX.sub("", words)
    if (match := _INDEX.match(stripped)) and _CODE.match(stripped[match.end() :]):
        stripped = stripped[match.end() :]
    while match := _CODE.match(stripped):
        stripped = stripped[match.end() :]
    return stripped


def leading_qty(words: str) -> tuple[Decimal, str] | None:
    """Return a quantity that stands in front of a name, and the name."""
    match = _LEADING_QTY.match(words)
    if match is None or _letters(words[match.end() :]) < _LEAST_LETTERS:
        return None
    return Decimal(match["qty"].replace(",", ".")), words[match.end() :]


def cleaned(words: str) -> str:
    """Return a name without the signs around it."""
    return re.sub(r"\s+", " ", words).strip(" -:;,|_=~.").strip()


def is_name(words: str) -> bool:
    """Tell whether words are a name: three letters, or two of a script that writes syllables."""
    if _STAMP.search(words):
        return False
    letters = [sign for sign in words if sign.isalpha()]
    return len(letters) > _LEAST_LETTERS or sum(sign > "\u2e80" for sign in letters) > 1


def _total(row: Row, minor: int) -> Figure | None:
    for figure in reversed(row.figures):
        tail = row.text[figure.end :].strip(" \t*%")
        is_amount = figure.is_money or (minor == 0 and figure.decimals == 0)
        if is_amount and not figure.is_bracketed:
            is_total = len(tail) <= _LONGEST_TAIL and "%" not in tail
            # Behind a sign of multiplication stands the price of one.
            is_unit_price = _TIMES.search(row.text[: figure.start]) is not None
            return figure if is_total and not is_unit_price else None
    return None


def _words(row: Row, end: int, found: arithmetic.Factors | None) -> str:
    """Return the text of the name: what is left of the figures that make the total at `end`."""
    if found is None:
        return _before_columns(row.text[:end])
    first = min(found.qty_figure, found.price_figure, key=lambda figure: figure.start)
    last = max(found.qty_figure, found.price_figure, key=lambda figure: figure.start)
    before = _BINDING.sub("", row.text[: first.start])
    between = row.text[first.end : last.start]
    # `4x Löwenbräu a 3,00`: the name stands between quantity and price.
    named = re.sub(r"^\s?[xX×*]\s?", "", _BINDING.sub("", between))
    if _letters(strip_code(before)) < _LEAST_LETTERS and not _is_unit(named):
        return named
    return _before_columns(before)


def _is_unit(text: str) -> bool:
    """Tell whether a text is but a unit of measure, signs of multiplication, or nothing."""
    return _UNIT.fullmatch(text) is not None


def _before_columns(text: str) -> str:
    """Cut off figures in columns of their own, and a currency's mark."""
    text = re.sub(r"(?:\s|(?<=\t))(?:R?\$|[€£]|RM|Rs\.?|EUR|[A-Z]?[0-9]?\$)\s*$", "", text)
    while match := re.search(r"\t[^\t]*$", text):
        if _letters(match[0]) > _MARK_LETTERS or not _letters(text[: match.start()]):
            break
        text = text[: match.start()]
    return text


def _letters(text: str) -> int:
    return sum(sign.isalpha() for sign in text)
