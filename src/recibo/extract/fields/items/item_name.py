"""The name in a row of goods: what is left when index, code, quantity and columns are cut off."""

import functools
import re
from decimal import Decimal

from recibo.extract.fields.items import arithmetic
from recibo.extract.layout.item_rows import Row
from recibo.extract.text import item_words

#: A name has more letters than this.
_FEW_LETTERS = 2
#: Marks and units in columns of their own have at most so many letters.
_MARK_LETTERS = 3
#: Scripts from here on write a syllable or a word with one sign.
_SYLLABLES = "\u2e80"

# Dates and hours make a row about the sale as a whole.
_STAMP = re.compile(r"[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}|[0-9]{1,2}:[0-9]{2}(?![0-9])")
_INDEX = re.compile(r"^\W*[0-9]{1,3}(?=[\s).:-])[\s).:-]*")
# A padded index is one whatever the code behind it: `001 78 AGUA`.
_PADDED_INDEX = re.compile(r"^\W*0[0-9]{1,2}\s+(?:[0-9]{1,14}\s+)?(?=\D)")
# An article code: long, or in a column of its own, or glued to the name it stands before.
_CODE = re.compile(
    r"^[\s#*-]*(?:[0-9]{4,14}|[0-9]{3,}(?=\t)|[A-Z]{0,3}-?[0-9]{3,}[A-Z0-9-]*(?=\t))(?=\s|$)\s*"
    r"|^[\s#*-]*[0-9]{6,14}(?=[^\W\d_])"
)
_SHORT_CODE = re.compile(r"^\W*[0-9]{3,}\s+(?=[^\W_]{3})")
_LEADING_QTY = re.compile(
    r"^[^\w|]*(?P<qty>[1-9][0-9]{0,2}|[0-9]{1,3}[.,][0-9]{1,3}|[iIl|](?=\s))"
    r"\s?(?:[xX×*]\s|[xX×](?=[A-Z])|\s)\s*(?=\S)"
    r"|^\W*(?P<weight>[0-9]{1,3}[.,][0-9]{1,3})\s?(?i:kg|lbs?)\s+(?=\S)"
)
# `(A) PAO`, `* YAOURT`, `^ Bread`: what is taxed how, in front of the name.
_TAX_CLASS = re.compile(r"^\s*(?:\([A-Z0-9]\)\s*|[*#^+]+\s+|[#^]+(?=[^\W\d_]))(?=\w)")
_STAR = re.compile(r"^\s*[*](?=[^\W\d_])")
# `BANANAS 000000004011KF`, `TOWEL (7687222)`: the number of the article behind its name.
_CODE_AT_END = re.compile(r"(?<=\S)(?:\s+\(?[0-9]{6,14}[A-Z]{0,2}\)?)+\s*$")
# Tax marks in a column of their own: capitals without a vowel, `HMRJ`.
_MARKS_IN_COLUMN = re.compile(r"\t\*?[B-DF-HJ-NP-TV-XZ]{1,4}\s*$")
# `14/03 WASH & FOLD`: the day of each service in front of it.
_DAY = re.compile(r"^\s*[0-3][0-9][/.-][01][0-9](?:[/.-](?:20)?[0-9]{2})?\s+(?=[^\W\d]|[0-9]+\s)")
# What is eligible for something, and the article's number: `E  1136  STRAWBERRY`.
_FLAGGED_CODE = re.compile(r"^\s*[A-Z]\s+(?=[0-9]{3,14}\s)|^\s*\([0-9]{1,2}\)\s*(?=[0-9]{6,14}\s)")
# What stands under headings: `(RM)  (RM)`.
_COLUMN_NOTES = re.compile(r"\W*(?:\([^\W\d]{1,3}\)\W*)+")
_MULTIPLIED = re.compile(r"\W*[0-9]+\s?[xX×]\s")
_TIMES = re.compile(r"^\s?[xX×*]\s?")


def of_row(row: Row, end: int, factors: arithmetic.Factors | None) -> str:
    """Return the name's text: what is left of the figures that make the total at `end`."""
    if factors is None:
        return _before_columns(row.text[:end])
    first, last = sorted(
        (factors.qty_figure, factors.price_figure), key=lambda figure: figure.start
    )
    before = _binding().sub("", row.text[: first.start])
    # `4x Löwenbräu a 3,00`: the name stands between quantity and price.
    between = _TIMES.sub("", _binding().sub("", row.text[first.end : last.start]))
    if _letters(strip_code(before)) < _FEW_LETTERS and not _unit().fullmatch(between):
        return between
    return _before_columns(before)


def strip_code(text: str) -> str:
    """Return a name without an index and article code in front of it."""
    stripped = _PADDED_INDEX.sub("", _FLAGGED_CODE.sub("", _DAY.sub("", text)))
    if (match := _INDEX.match(stripped)) and _CODE.match(stripped[match.end() :]):
        stripped = stripped[match.end() :]
    while match := _CODE.match(stripped):
        stripped = stripped[match.end() :]
    return stripped


def strip_short_code(text: str) -> str:
    """Return a name without any number in front of it, where all rows begin with codes."""
    return _SHORT_CODE.sub("", text)


def leading_qty(text: str) -> tuple[Decimal, str] | None:
    """Return a quantity that stands in front of a name, and the name."""
    match = _LEADING_QTY.match(text)
    if match is None or _letters(text[match.end() :]) < _FEW_LETTERS:
        return None
    # A lone stroke in front of a name is a one that the reader took for a letter.
    printed = match["qty"] or match["weight"]
    qty = "1" if printed in "iIl|" else printed.replace(",", ".")
    return Decimal(qty), text[match.end() :]


def without_unit(text: str) -> str:
    """Return a name without the unit of the quantity that stood in front of it."""
    return _leading_unit().sub("", text, count=1)


def without_units(text: str) -> str:
    """Return a text without units of measure and the words that go with counts."""
    return _counting().sub(" ", text)


def is_multiplied(text: str) -> bool:
    """Tell whether a text begins with a quantity and a sign of multiplication, `2 x`."""
    return _MULTIPLIED.match(text) is not None


def without_place(text: str) -> str:
    """Return a text without the number of the pump in front of it."""
    return _place_in_front().sub("", text)


def cleaned(text: str) -> str:
    """Return a name without the signs and marks around it."""
    # A star on both sides is the maker's, `*MEDIUM*`.
    starred = text.rstrip() if text.rstrip().endswith("*") else _STAR.sub("", text)
    text = without_place(starred)
    bare = _TAX_CLASS.sub("", _mark_at_end().sub("", _CODE_AT_END.sub("", text)))
    return re.sub(r"\s+", " ", bare).strip(" -:;,|_=~.$€£¥")


def has_hour(text: str) -> bool:
    """Tell whether a text holds a day or an hour, and so is about the sale as a whole."""
    return _STAMP.search(text) is not None


def is_name(text: str) -> bool:
    """Tell whether a text is a name: three letters, or two of a script of syllables."""
    if _STAMP.search(text) or _unit().fullmatch(text) or _mark().fullmatch(text):
        return False
    if _grade().fullmatch(text):
        return True
    if _place().fullmatch(text) or _COLUMN_NOTES.fullmatch(text):
        return False
    syllables = sum(sign.isalpha() and sign > _SYLLABLES for sign in text)
    return _letters(text) > _FEW_LETTERS or syllables >= _FEW_LETTERS


def goes_on(upper: str, lower: str) -> bool:
    """Tell whether a name broken at its column's edge goes on in the next row.

    A joining word or an open bracket ends no name, and no name begins with `&`. Nothing else
    parts what goes on from a note on the goods, `no onions`. A title in capitals above is none.
    """
    ending = upper.split()
    if not ending or not lower.strip() or (upper.isupper() and not lower.isupper()):
        return False
    is_open = upper.count("(") > upper.count(")")
    return is_open or lower.startswith("& ") or item_words.is_joining(ending[-1])


def without_marks(text: str) -> str:
    """Return a name without the tax marks in a column of their own behind it."""
    return _MARKS_IN_COLUMN.sub("", text)


def _before_columns(text: str) -> str:
    """Cut off figures in columns of their own, and a currency's mark."""
    text = _MARKS_IN_COLUMN.sub("", _mark_at_end().sub("", text))
    while match := re.search(r"\t[^\t]*$", text):
        if _letters(match[0]) > _MARK_LETTERS or not _letters(text[: match.start()]):
            break
        text = text[: match.start()]
    return text


def _letters(text: str) -> int:
    return sum(sign.isalpha() for sign in text)


@functools.cache
def _unit() -> re.Pattern[str]:
    return re.compile(rf"[\W_]*+(?:{item_words.units()})?[\W_]*+x?[\W_]*+", re.IGNORECASE)


@functools.cache
def _leading_unit() -> re.Pattern[str]:
    return re.compile(rf"^\s*(?:{item_words.units()})\s+(?=[^\W\d_]{{3}})", re.IGNORECASE)


@functools.cache
def _place() -> re.Pattern[str]:
    return re.compile(
        rf"\W*+(?:{item_words.places()})\W*+(?:(?:no|nr)\W*+)?[0-9]*+\W*+", re.IGNORECASE
    )


@functools.cache
def _place_in_front() -> re.Pattern[str]:
    """`Pump 05 Premium`: where it was filled, with its number, in front of the name."""
    return re.compile(rf"^\W*(?:{item_words.places()})\W*[0-9]{{1,2}}\s+(?=\S)", re.IGNORECASE)


@functools.cache
def _grade() -> re.Pattern[str]:
    return re.compile(rf"\W*(?:[0-9]{{1,2}}\s+)?(?:{item_words.grades()})\W*")


@functools.cache
def _counting() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![^\W\d_])(?:{item_words.counting()}|{item_words.units()}|{item_words.marks()})(?![^\W\d_])"
        r"|[コ個点本枚件単]",
        re.IGNORECASE,
    )


@functools.cache
def _mark() -> re.Pattern[str]:
    # Some marks are signs themselves: whichever way they are read, nothing is tried twice.
    return re.compile(rf"(?=.*?{item_words.marks()})(?:{item_words.marks()}|[\W_])*+")


@functools.cache
def _binding() -> re.Pattern[str]:
    """What binds quantity and price: a unit, a sign of multiplication, an opening bracket."""
    # A lone `a` is German for at; as a capital it ends names (VITAMIN A).
    return re.compile(
        rf"(?:\s+(?i:{item_words.units()}))?(?:\s+[x×X*@])?\s*(?:[x×X*@(à]|(?<=\s)a)?"
        rf"[\s$_]*(?:{item_words.marks()}\s*)?$"
    )


@functools.cache
def _mark_at_end() -> re.Pattern[str]:
    return re.compile(rf"(?<![0-9])\s(?:{item_words.marks()}|[A-Z]?[0-9]?\$)\s*$")
