"""Finds the name in a row of an item, without index, code, quantity and columns."""

import functools
import re
from decimal import Decimal

from recibo.extract.fields.items import arithmetic
from recibo.extract.layout.rows import Row
from recibo.extract.text import currency_symbols, lexicon

#: A name has more letters than this.
_FEW_LETTERS = 2
#: The most letters of codes and units in separate columns.
_CODE_LETTERS = 3
_CHOICE_SIGN = ">"
#: A name does not end between them.
_PAIRS = (("(", ")"), ("«", "»"))
#: From here on, a character is a syllable or a word.
_CJK = "\u2e80"

# A row with a date or time is about the whole sale.
_STAMP = re.compile(
    r"[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2,4}|[0-9]{1,2}:[0-9]{2}(?![0-9])"
    r"|(?<![0-9])20[0-9]{2}-[01][0-9]-[0-3][0-9](?![0-9])"
)
_INDEX = re.compile(r"^\W*[0-9]{1,3}(?=[\s).:-])[\s).:-]*")
# An index with leading zeros may be followed by any code: `001 78 AGUA`.
_PADDED_INDEX = re.compile(r"^\W*0[0-9]{1,2}\s+(?:[0-9]{1,14}\s+)?(?=\D)")
# An article code: long, or in a separate column, or joined to the name after it.
_CODE = re.compile(
    r"^[\s#*-]*(?:[0-9]{4,14}|[0-9]{3,}(?=\t)|[A-Z]{0,3}-?[0-9]{3,}[A-Z0-9-]*(?=\t)"
    r"|[0-9]{2,4}(?:\.[0-9]{2,4}){2,4})(?=\s|$)\s*"
    r"|^[\s#*-]*[0-9]{6,14}(?=[^\W\d_])"
)
_SHORT_CODE = re.compile(r"^\W*[0-9]{3,}\s+(?=[^\W_]{3})")
# `TMK01 TEMAKI`, `1 CMB04 COMBINADO`: letters and digits before the name, or a column with the
# letter of the tax rate.
_MIXED_CODE = re.compile(
    r"^\W*(?:[0-9]{1,3}\W+)?(?P<code>[A-Z]{1,5}-?[0-9]{2,6}\s+|[A-Z]\t\s*)(?=[^\W\d_]{3})"
)
_CODE_BEFORE = re.compile(
    r"^(?P<code>[0-9]{5,14}|(?=[A-Z.-]*[0-9])(?![0-9]+(?:[.,][0-9]+)?(?i:g|kg|ml|cl|l|m|mm|cm|w|v|un)\s)"
    r"(?:[A-Z0-9]+(?:[.-][A-Z0-9]+)+|[A-Z]{1,5}[0-9]{2,6}))\s+(?=[^\W\d_]{3})"
)
_LEADING_QTY = re.compile(
    r"^[^\w|]*(?P<qty>[1-9][0-9]{0,2}|[0-9]{1,3}[.,][0-9]{1,3}|[iIl|](?=\s))"
    r"\s?(?:[xX×*]\s|[xX×](?=[A-Z])|\s)\s*(?=\S)"
    r"|^\W*(?P<weight>[0-9]{1,3}[.,][0-9]{1,3})\s?(?i:kg|lbs?)\s+(?=\S)"
)
# `(A) PAO`, `* YAOURT`, `^ Bread`, `C00 KENYER`: a tax code before the name.
_TAX_CODE = re.compile(
    r"^\s*(?:\([A-Z0-9]\)\s*|[A-E][0O]{2}\s+|[*#^+]+\s+|[#^]+(?=[^\W\d_]))(?=\w)"
)
# `CHOPP CLARO 300ML COD 00118 NCM 22030000`
_CODE_AND_CLASS = re.compile(r"\s+C[OÓ]D[.:]?\s?\d{3,14}\s+NCM\b.*$", re.IGNORECASE)
# `Aluguel 10/01 a 09/02/2026`, `Parcela 02/12 vencto 10/02/2026`: of a charge, not of the sale.
_PERIOD = re.compile(
    r"\s\d{1,2}/\d{1,2}(?:/\d{2,4})?\s?(?:a|à|to|al|bis|até|-|–)\s?\d{1,2}/\d{1,2}/\d{2,4}\s*$"
    r"|\svenc(?:to|imento)?[.:]*\s?\d{1,2}/\d{1,2}/\d{2,4}\s*$",
    re.IGNORECASE,
)
# `ESTADIA ...........R$`: dots that lead to the amount.
_LEADERS = re.compile(r"\s*\.{4,}\s?\S{0,3}\s*$")
_STAR = re.compile(r"^\s*[*](?=[^\W\d_])")
# `BANANAS 000000004011KF`, `TOWEL (7687222)`: the article number after the name, perhaps with a
# tax code in the next column.
_CODE_AT_END = re.compile(r"(?<=\S)(?:\s+\(?[0-9]{6,14}(?:\s?[A-Z]{1,2})?\)?)+\s*$")
# `EKMEK 250G %1`: the rate of its tax after the name.
_RATE_AT_END = re.compile(r"(?<=\w)\s+%\s?[0-9]{1,2}\s*\*?\s*$")
# `GASOLINA 95 IVA 23%`: with the name of the tax.
_TAX_AT_END = re.compile(
    r"(?<=[\w)])\s+(?P<tax>[^\W\d_]{2,5})\s+[0-9]{1,2}(?:[.,][0-9]{1,2})?\s?%\s*$"
)
# `YERBA 500 (21,00)`: the same in brackets.
_BRACKETS_AT_END = re.compile(r"(?<=\S)\s*\([0-9]{1,2}[.,][0-9]{2}\s?%?\)\s*$")
# Tax codes in a separate column: capitals without a vowel, `HMRJ`.
_TAX_CODES_IN_COLUMN = re.compile(r"\t\*?[B-DF-HJ-NP-TV-XZ]{1,4}\s*$")
# `14/03 WASH & FOLD`: the day of a service before it.
_DAY = re.compile(
    r"^\s*[0-3][0-9][/.-][01][0-9](?:[/.-](?:20)?[0-9]{2}|\.)?\s+(?=[^\W\d]|[0-9]+\s)"
)
# A flag of eligibility, and the article number: `E  1136  STRAWBERRY`.
_FLAGGED_CODE = re.compile(r"^\s*[A-Z]\s+(?=[0-9]{3,14}\s)|^\s*\([0-9]{1,2}\)\s*(?=[0-9]{6,14}\s)")
# Notes below headings: `(RM)  (RM)`.
_COLUMN_NOTES = re.compile(r"\W*(?:\([^\W\d]{1,3}\)\W*)+")
_MULTIPLIED = re.compile(r"\W*[0-9]+\s?[xX×]\s")
# `2 x Beurre` is a quantity even if no other row has one; `6 x 330ml` is the content.
_COUNTED = re.compile(r"\W*[1-9][0-9]?\s?[xX×]\s+(?=[^\W\d_]{2})")
# A name after a unit price; `/litre` is a part of the price.
_AFTER_PRICE = re.compile(r"\s+[^\W\d_]{2}(?:\W*[^\W\d_]){2}")
_TIMES = re.compile(r"^\s?[xX×*]\s?")


def of_row(row: Row, end: int, factors: arithmetic.Factors | None) -> str:
    """Return the text of the name: left of the factors of the total at `end`."""
    if factors is None:
        return _before_columns(row.text[:end])
    first, last = sorted(
        (factors.qty_figure, factors.price_figure), key=lambda figure: figure.start
    )
    before = _binding().sub("", row.text[: first.start])
    # `4x Löwenbräu a 3,00`: the name is between quantity and price.
    between = _TIMES.sub("", _binding().sub("", row.text[first.end : last.start]))
    between = _joined_unit().sub("", without_unit_column(between))
    if _letters(strip_code(before)) >= _FEW_LETTERS:
        return _before_columns(before)
    if not _unit().fullmatch(between):
        return between
    # `2 x 15,50  Gulrøtter  31,00`: the name is after both.
    after = _before_columns(row.text[last.end : end])
    is_name_after = _AFTER_PRICE.match(without_units(after)) and not lexicon.row_kind(after)
    return after if is_name_after else _before_columns(before)


def strip_code(text: str) -> str:
    """Return a name without an index and article code before it."""
    stripped = _PADDED_INDEX.sub("", _FLAGGED_CODE.sub("", _DAY.sub("", text)))
    if (match := _INDEX.match(stripped)) and _CODE.match(stripped[match.end() :]):
        stripped = stripped[match.end() :]
    while match := _CODE.match(stripped):
        stripped = stripped[match.end() :]
    return stripped


def without_day(text: str) -> str:
    """Return a name without the day before it."""
    return _DAY.sub("", text)


def strip_short_code(text: str) -> str:
    """Return a name without any number before it, for rows that all begin with codes."""
    return _SHORT_CODE.sub("", text)


def mixed_code(text: str) -> str | None:
    """Return a code of letters and digits before a name."""
    match = _MIXED_CODE.match(text)
    return match["code"] if match else None


def code_before(text: str) -> tuple[str, str] | None:
    """Return a code before a name, and the name: `1044.22.M BLUSA`; `500ML` is no code."""
    match = _CODE_BEFORE.match(text)
    return (match["code"], text[match.end() :]) if match else None


def strip_mixed_code(text: str) -> str:
    """Return a name without a code of letters and digits, for rows that all begin with one."""
    return _MIXED_CODE.sub("", text)


def leading_qty(text: str) -> tuple[Decimal, str] | None:
    """Return a quantity before a name, and the name."""
    match = _LEADING_QTY.match(text)
    if match is None or _letters(text[match.end() :]) < _FEW_LETTERS:
        return None
    # A single stroke before a name is a one that OCR read as a letter.
    printed = match["qty"] or match["weight"]
    qty = "1" if printed in "iIl|" else printed.replace(",", ".")
    return Decimal(qty), text[match.end() :]


def without_unit(text: str) -> str:
    """Return a name without the unit of the quantity before it."""
    return _leading_unit().sub("", text, count=1)


def without_unit_column(text: str) -> str:
    """Return a text without a unit in a column before it."""
    return _unit_column().sub("", text)


def without_piece(text: str) -> str:
    """Return a text without a unit of counted articles before it: `stk Brunost`."""
    return _piece().sub("", text)


def without_units(text: str) -> str:
    """Return a text without units and words for quantities."""
    return _counting().sub(" ", text)


def is_multiplied(text: str) -> bool:
    """Return whether a text begins with a quantity and a multiplication sign, `2 x`."""
    return _MULTIPLIED.match(text) is not None


def is_counted(text: str) -> bool:
    """Return whether a text begins with a quantity, a multiplication sign and a word."""
    return _COUNTED.match(text) is not None


def is_unit_and_sign(text: str) -> bool:
    """Return whether a text is a unit before a multiplication sign: `KG X`."""
    unit, _, sign = text.strip().rpartition(" ")
    return bool(unit) and sign in {"x", "X", "×"} and _unit().fullmatch(unit) is not None


def without_place(text: str) -> str:
    """Return a text without the number of a fuel pump before it."""
    return _place_before().sub("", text)


def cleaned(text: str) -> str:
    """Return a name without punctuation, codes and symbols around it."""
    text = _CODE_AND_CLASS.sub("", _LEADERS.sub("", text))
    # Stars on both sides belong to the name, `*MEDIUM*`.
    starred = text.rstrip() if text.rstrip().endswith("*") else _STAR.sub("", text)
    text = _without_tax(_RATE_AT_END.sub("", _BRACKETS_AT_END.sub("", without_place(starred))))
    without = _CODE_AT_END.sub("", text)
    # `Mobil S Flat (0151 5554418)`
    text = text if without.count("(") > without.count(")") else without
    bare = _TAX_CODE.sub("", _symbol_at_end().sub("", text))
    return re.sub(r"\s+", " ", bare).strip(" -:;,|_=~.$€£¥")


def _without_tax(text: str) -> str:
    found = _TAX_AT_END.search(text)
    is_tax = found is not None and lexicon.wordbook("tax").is_all(found["tax"])
    return text[: found.start()] if found and is_tax else text


def has_hour(text: str) -> bool:
    """Return whether a text contains a date or time, and so is about the whole sale."""
    return _STAMP.search(text) is not None


def is_name(text: str) -> bool:
    """Return whether a text is a name: three letters, or two syllables of a CJK script."""
    if _STAMP.search(_PERIOD.sub("", text)) or _unit().fullmatch(text) or _symbol().fullmatch(text):
        return False
    if _grade().fullmatch(text):
        return True
    if _place().fullmatch(text) or _COLUMN_NOTES.fullmatch(text):
        return False
    cjk = sum(sign.isalpha() and sign > _CJK for sign in text)
    return _letters(text) > _FEW_LETTERS or cjk >= _FEW_LETTERS


def is_choice(text: str) -> bool:
    """Return whether a text is what was chosen with a dish: `> Batata M`."""
    return text.lstrip().startswith(_CHOICE_SIGN)


def continues(upper: str, lower: str) -> bool:
    """Return whether a name continues in the next row.

    No name ends with a joining word, a comma or an open bracket, and none begins with `&`. Nothing
    else distinguishes this from a note on the item, `no onions`. A title in capitals does not
    continue.
    """
    ending = upper.split()
    if not ending or not lower.strip() or (upper.isupper() and not lower.isupper()):
        return False
    is_open = any(upper.count(one) > upper.count(other) for one, other in _PAIRS)
    is_open = is_open or upper.rstrip().endswith(",")
    return is_open or lower.startswith("& ") or lexicon.is_joining(ending[-1])


def without_tax_codes(text: str) -> str:
    """Return a name without tax codes in a separate column after it."""
    return _TAX_CODES_IN_COLUMN.sub("", text)


def _before_columns(text: str) -> str:
    """Cut off numbers in separate columns, and a currency symbol."""
    text = _TAX_CODES_IN_COLUMN.sub("", _symbol_at_end().sub("", text))
    while match := re.search(r"\t[^\t]*$", text):
        if _letters(match[0]) > _CODE_LETTERS or not _letters(text[: match.start()]):
            break
        text = text[: match.start()]
    return text


def _letters(text: str) -> int:
    return sum(sign.isalpha() for sign in text)


@functools.cache
def _unit() -> re.Pattern[str]:
    return re.compile(rf"[\W_]*+(?:{lexicon.units()})?[\W_]*+x?[\W_]*+", re.IGNORECASE)


@functools.cache
def _leading_unit() -> re.Pattern[str]:
    return re.compile(rf"^\s*(?:{lexicon.units()})\s+(?=[^\W\d_]{{3}})", re.IGNORECASE)


@functools.cache
def _unit_column() -> re.Pattern[str]:
    return re.compile(rf"^\s*(?:{lexicon.units()})\t\s*(?=[^\W\d_]{{2}})", re.IGNORECASE)


@functools.cache
def _joined_unit() -> re.Pattern[str]:
    """`0,612KG APPELS`: what follows the quantity."""
    return re.compile(rf"^(?:{lexicon.units()})\s+(?=[^\W\d_]{{2}})", re.IGNORECASE)


@functools.cache
def _piece() -> re.Pattern[str]:
    return re.compile(rf"^\s*(?:{lexicon.pieces()})\.?\s+(?=[^\W_])", re.IGNORECASE)


@functools.cache
def _place() -> re.Pattern[str]:
    return re.compile(
        rf"\W*+(?:{lexicon.places()})\W*+(?:(?:no|nr)\W*+)?[0-9]*+\W*+", re.IGNORECASE
    )


@functools.cache
def _place_before() -> re.Pattern[str]:
    """`Pump 05 Premium`: the number of a fuel pump before the name."""
    return re.compile(rf"^\W*(?:{lexicon.places()})\W*[0-9]{{1,2}}\s+(?=\S)", re.IGNORECASE)


@functools.cache
def _grade() -> re.Pattern[str]:
    return re.compile(rf"\W*(?:[0-9]{{1,2}}\s+)?(?:{lexicon.grades()})\W*")


@functools.cache
def _counting() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![^\W\d_])(?:{lexicon.counting()}|{lexicon.units()}|{currency_symbols.word()})(?![^\W\d_])"
        r"|[コ個点本枚件単]",
        re.IGNORECASE,
    )


@functools.cache
def _symbol() -> re.Pattern[str]:
    # Possessive, since some symbols are punctuation themselves: no backtracking.
    return re.compile(rf"(?=.*?{currency_symbols.word()})(?:{currency_symbols.word()}|[\W_])*+")


@functools.cache
def _binding() -> re.Pattern[str]:
    """Text between quantity and price: a unit, a multiplication sign, an opening bracket."""
    # A single `a` is German for at; as a capital it ends names (VITAMIN A), as does a word with
    # one (Large Pack, Falafel Box).
    return re.compile(
        rf"(?:(?:\t\s*(?![A-Z][a-z]{{3}})|[ ]+(?![A-Z][a-z]{{2}}))(?i:{lexicon.units()}))?"
        r"(?:\s+[x×X*@])?\s*(?:(?<![^\W\d_])[x×X]|[*@(à]|(?<=\s)a)?[\s$_]*"
        rf"(?:(?:{currency_symbols.word()}|(?<=\t){currency_symbols.priced()})\s*)?$"
    )


@functools.cache
def _symbol_at_end() -> re.Pattern[str]:
    # `Queijo Serra DOP`: a mark of origin, and words, which are codes of currencies, too.
    words = r"(?!(?:DOP|TRY|ALL|TOP)\s*$)"
    return re.compile(rf"(?<![0-9])\s{words}(?:{currency_symbols.word()}|[A-Z]?[0-9]?\$)\s*$")
