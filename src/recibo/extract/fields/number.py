"""Finds the number of the document."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recibo.extract import weights
from recibo.extract.fields import address_pieces, unlabelled_number
from recibo.extract.fields.number_candidate import (
    NUMBER,
    NumberCandidate,
    has_word,
    is_number,
    is_period,
)
from recibo.extract.layout import stacked
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.probabilities import probability
from recibo.extract.text import currency_symbols, dates, lexicon, tables
from recibo.extract.text.phrases import Phrase

_NUMBER_KINDS = ("number", "order_number", "weak_number", "other_number")
_KINDS = (*_NUMBER_KINDS, "date", "other_date", "time")
_SIGN = r"(?:no|nr|nro|num|number|nummer|numero|id|n[°ºo]|n(?=\s?[.:°º])|[cč](?=\.))(?![a-z])"
# Text between a label and its number: "No.", "Nr:", "#", "n°".
_LEAD = re.compile(rf"^[\Wºª]*(?:{_SIGN}\s?[.:#]*\s*)*[\s:.#*_=\-)]*", re.IGNORECASE)
# A few words may be between them if "No." or a similar sign follows: "de venta POS No.".
_LONG_LEAD = re.compile(
    rf"^(?:\s*[^\W\d]{{1,12}}\.?(?=\s)){{1,4}}?\s+(?:{_SIGN}|#)\W*", re.IGNORECASE
)
_COLON_AT_END = re.compile(r"[:\uff1a]\s*$")
# Text that may follow a label whose number is below it.
_END_OF_LABEL = re.compile(rf"^\W*+(?:{_SIGN}\W*+)*+$", re.IGNORECASE)
# A prefix may follow the sign: `No. SETP 990001287`.
_BEHIND_SIGN = re.compile(rf"(?<!\w)(?i:{_SIGN}|#)[\s.:#°º]*(?:[A-Z]{{1,4}} )?$")
_AMONG_DIGITS = re.compile(r"(?<=\d)[Oo](?=\d)")
_PLAIN = re.compile(rf"{_SIGN}|nomor|número", re.IGNORECASE)
_STREET = re.compile(r"[\s.:]*\d+[A-Z]?(?:[-/]\d+)?[\s,]+[^\W\d_]{2}", re.IGNORECASE)
_ASKING = re.compile(rf"^[\s\w]*?(?:\b{_SIGN}|#)", re.IGNORECASE)

_OWN_KINDS = ("number", "order_number", "weak_number")
_SHORT, _LONG = 2, 12
# A candidate must be likelier than that the document has no number.
_LEAST = 0.5
# The greatest confidence, below that of the reader of a fiscal document.
_MOST = 0.8
# At least this many values below as many labels are assigned by order; fewer by position.
_FEWEST_COLUMNS = 3
# `Cupom BEMVINDO15  - R$ 15,00`
_MINUS_APART = re.compile(r"\s[-\u2212\u2013]\s?\D{0,4}\d+[.,]\d{2}$")
# So many rows that begin with the number of an article (GTIN) are those of items.
_FEWEST_ARTICLES, _ARTICLE = 3, re.compile(r"\d{12,14}(?!\S)")
# A row with so many amounts is that of an item.
_FEWEST_PRICES = 2
# The row below a title begins at most so many heights right of it.
_MOST_RIGHT = 3
# Numbers of a card payment do not count: its slip has this many rows around them.
_SLIP_ROWS = 3

# What follows a label that is the start of a number, and one in a few capitals.
_BEHIND_NAME = re.compile(r"[-_/](?:[A-Z]{1,4}[-_/])*\w*\d")
_BEHIND_PREFIX = re.compile(rf"{_BEHIND_NAME.pattern}|\d{{4}}| [A-Z0-9]+/\d")
_LONG_NAME = 4

_JOINING = ("to", "from", "of", "no")
_DEGREE = re.compile(r"(?<!\w)(?:N°(?=\s?\d{3})|č\.(?=\s?[A-Z]{2,4}-\d))")
# A series in capitals before a number: `F 10418`, `GS 2026-0188`, `A/25 002317`, `BN-F 0718`.
_IN_SERIES = re.compile(
    r"[A-Z]{1,4}(?:/\d\d|-[A-Z]{1,3})? (?!\d{1,4}([-/.])\d\d?\1\d)\d[\d/-]+\d(?![\w:/%*-]|[.,]\d)"
    r"|[A-Z]{2,4} \d{1,3}(?:\.\d{3})+(?![\w:/%*-]|[.,]\d)"
)


# Digits in at least three groups, up to the end of the row: `88 4410 2277 1`, `2026 03 8812044`.
# A ticket of an airline has the three digits of the airline and ten more (IATA resolution 722).
_GROUPS = re.compile(r"\d{1,4}(?:\s\d{1,4}){1,4}\s\d{1,8}$|\d{3}[ -]\d{10}(?!\w)")
# An entry of a list begins with its day, which has at most so many characters.
_DAY_LETTERS, _DAY = 12, re.compile(r"\d{1,2}[./]\d{1,2}\.?\s")


def numbers(rows: Sequence[Row]) -> tuple[Extracted[str], ...]:
    """Return the numbers that are likelier than "the document has none", best first."""
    fitted = weights.weights("document_number")
    found = [one.found(_confidence(one.features, fitted)) for one in candidates(rows)]
    unique: dict[str, Extracted[str]] = {}
    for number in sorted(found, key=lambda number: -number.confidence):
        if number.confidence >= _LEAST:
            unique.setdefault(number.value, number)
    return tuple(replace(one, confidence=min(one.confidence, _MOST)) for one in unique.values())


def candidates(rows: Sequence[Row]) -> tuple[NumberCandidate, ...]:
    """Return all candidates with their features; `Cupom BEMVINDO15  -17,78` is a discount."""
    are_listed = sum(_ARTICLE.match(row.text) is not None for row in rows) >= _FEWEST_ARTICLES
    return tuple(
        NumberCandidate(one.value, one.row, {**_shape(one, rows), **one.features})
        for one in (*_labelled(rows), *unlabelled_number.find(rows))
        if not (one.row.has_negative() or _is_of_month(one) or _is_of_item(one))
        and not (are_listed and _ARTICLE.match(one.value) and _ARTICLE.match(one.row.text))
    )


def _is_of_month(one: NumberCandidate) -> bool:
    """Return whether a label such as `Ref.` is that of a month: `MES REF: 01/2026`."""
    return "weak_number" in one.features and is_period(one.value)


def _is_of_item(one: NumberCandidate) -> bool:
    """Return whether a number is a price, `$ 500.000`, or in a name: `Linha nº 10  6,80  34,00`."""
    row, before = one.row, one.row.text[: max(one.row.text.find(one.value), 0)]
    is_priced = sum(map(row.is_money, row.amounts)) >= _FEWEST_PRICES
    is_named = is_priced and bool(one.features.get("within"))
    is_named |= _MINUS_APART.search(row.text) is not None
    return is_named or currency_symbols.before().search(before) is not None


def _confidence(features: Mapping[str, float], fitted: Mapping[str, float]) -> float:
    return probability(sum(fitted.get(name, 0) * value for name, value in features.items()))


def _shape(one: NumberCandidate, rows: Sequence[Row]) -> dict[str, float]:
    """Return the features of a number and its row."""
    digits = sum(map(str.isdigit, one.value))
    text = one.row.text
    whole = re.compile(rf"(?<!\w){re.escape(one.value)}(?!\w)")
    places = sum(whole.search(row.text) is not None for row in rows)
    return {
        "depth": one.row.depth,
        "short": digits <= _SHORT,
        "long": digits >= _LONG,
        "letters": not one.value.replace("-", "").replace("/", "").isdecimal(),
        "joined": re.search(r"[-/.]", one.value) is not None,
        "zeros": one.value.startswith("0"),
        "timed": bool(dates.times(text) or dates.days(text)),
        "repeated": places > 1,
    }


def _labelled(rows: Sequence[Row]) -> Iterator[NumberCandidate]:
    slips = _slip_rows(rows)
    for row in rows:
        if _is_dated_item(row):
            continue
        labels = _labels(row.text, _KINDS, stacked.phrases(lexicon.phrasebook(*_KINDS), row))
        before = (None, *labels[:-1])
        after = (*labels[1:], None)
        for previous, label, following in zip(before, labels, after, strict=False):
            is_other = _is_of_other(previous, label, row.text) or _is_number_of_street(label, row)
            if label.kind in _OWN_KINDS and not is_other:
                end = following.start if following else len(row.text)
                known = _label_features(previous, label, row, slips)
                yield from _right_or_below(label, end, row, rows, known)


def _is_dated_item(row: Row) -> bool:
    """Return whether a row is an entry of a list: a day, words, and an amount at its end."""
    days = dates.days(row.text[:_DAY_LETTERS])
    is_dated = bool(_DAY.match(row.text) or (days and not has_word(row.text[: days[0].start])))
    amount = row.amounts[-1] if row.amounts else None
    is_priced = amount is not None and amount.is_money and not has_word(row.text[amount.end :])
    return is_dated and is_priced and not dates.times(row.text)


def _label_features(
    previous: Phrase | None, label: Phrase, row: Row, slips: frozenset[int]
) -> dict[str, float]:
    """Return the features of a label and its place relative to the number."""
    before = row.text[previous.end if previous else 0 : label.start]
    text = row.text[label.start : label.end]
    is_after_other = previous is not None and previous.kind == "other_number"
    if previous is not None and any(
        previous.end <= end < label.start for end, _ in stacked.gaps(row)
    ):
        is_after_other = False
    return {
        label.kind: 1,
        "plain": _PLAIN.fullmatch(text) is not None,
        "asked": _ASKING.search(row.text[label.start :]) is not None,
        "within": has_word(before),
        "other_before": is_after_other,
        "slip": row.index in slips,
        "reference_of_slip": row.index in slips and _is_reference(label, row.text),
    }


def _labels(text: str, kinds: Sequence[str], known: Sequence[Phrase] | None = None) -> list[Phrase]:
    phrases = lexicon.phrasebook(*kinds).find(text) if known is None else known
    found = [label for label in phrases if not _begins_number(label, text)]
    signed = _signed_labels(text) if "number" in kinds else ()
    others = [one for one in signed if all(one.start != each.start for each in found)]
    return sorted((*others, *found), key=lambda label: label.start)


def _signed_labels(text: str) -> Iterator[Phrase]:
    """Yield abbreviations that are the label of a number only before its sign: `OR# 118220`."""
    for label in lexicon.wordbook("signed_number").find(text) if "#" in text else ():
        if text[label.end :].lstrip().startswith("#") and not has_word(text[: label.start]):
            yield Phrase("number", label.start, label.end)
    # The sign of a degree is printed and read for that of an ordinal.
    for sign in _DEGREE.finditer(text):
        yield Phrase("weak_number", *sign.span())


def _slip_rows(rows: Sequence[Row]) -> frozenset[int]:
    """Return the rows near those that only a card terminal prints."""
    book = lexicon.phrasebook("card_slip")
    bearing = [row.index for row in rows if book.find(row.text)]
    steps = range(-_SLIP_ROWS, _SLIP_ROWS + 1)
    return frozenset(index + step for index in bearing for step in steps)


def _is_reference(label: Phrase, text: str) -> bool:
    return bool(lexicon.phrasebook("reference").find(text[label.start : label.end]))


def _is_of_other(previous: Phrase | None, label: Phrase, text: str) -> bool:
    """Return whether a label belongs to the one before, "Tel No"."""
    is_plain = label.kind == "weak_number" or _PLAIN.fullmatch(text[label.start : label.end])
    if previous is None or previous.kind != "other_number" or not is_plain:
        return False
    return not re.search(r"\w", text[previous.end : label.start])


def _is_number_of_street(label: Phrase, row: Row) -> bool:
    """Return whether a street follows a plain "No."."""
    is_plain = _PLAIN.fullmatch(row.text[label.start : label.end]) is not None
    return is_plain and _STREET.match(stacked.cell_from(row, label.end)) is not None


def _is_next_to_street(label: Phrase, row: Row) -> bool:
    """Return whether the next column has a street: `Invoice Number   17 Foundry Road`."""
    begin = next((start for end, start in stacked.gaps(row) if end >= label.end), None)
    if begin is None or any(map(str.isalnum, row.text[label.end : begin])):
        return False
    street = stacked.cell_from(row, begin)
    return _STREET.match(street) is not None and address_pieces.names_street(street)


def _begins_number(label: Phrase, text: str) -> bool:
    """Return whether a label is the start of a number: "INV-GB-77", "INV0048812", "FS 24A/109"."""
    rest, name = text[label.end :], text[label.start : label.end]
    is_short = name.isupper() and len(name) < _LONG_NAME and not _PLAIN.fullmatch(name)
    behind = _BEHIND_PREFIX if is_short else _BEHIND_NAME
    return behind.match(rest) is not None


def _right_or_below(
    label: Phrase, end: int, row: Row, rows: Sequence[Row], known: Mapping[str, float]
) -> Iterator[NumberCandidate]:
    text = row.text[label.end : end]
    number = _read(stacked.cell_from(row, label.end)[: len(text)]) or _read(text)
    if number and not _is_next_to_street(label, row):
        yield NumberCandidate(number, row, known)
        return
    may_be = _may_be_below(label, row)
    for under in stacked.rows_below(rows, row, row.box(label.start, label.end)):
        below = _below(row, label, under) if may_be else _signed_below(row, label, under)
        if below and not _is_with_label(below, under):
            yield NumberCandidate(below, under, {**known, "below": 1, "other_before": 0})
        if below or _labels(under.text, _KINDS):
            return


def _may_be_below(label: Phrase, row: Row) -> bool:
    """Return whether a label needs a number, which "SALE" above the items does not."""
    if _ASKING.search(row.text[label.start :]):
        begin = max((start for _, start in stacked.gaps(row) if start <= label.start), default=0)
        return not re.search(r"\d", stacked.cell_from(row, begin))
    # A title may be in the row of a street and its number.
    return label.kind != "weak_number" and not re.search(r"\d", row.text)


def _read(text: str) -> str | None:
    """Return the number at the start of `text`, as printed, if there is one."""
    for lead in (_LEAD.match(text), _LONG_LEAD.match(text)):
        rest = _AMONG_DIGITS.sub("0", text[lead.end() :]) if lead else ""
        match = _at_start(rest)
        if match and is_number(match.group(), rest):
            return match.group()
    return None


def _at_start(text: str) -> re.Match[str] | None:
    """Return the text at the start that has the shape of a number, with its groups and series."""
    return _GROUPS.match(text) or _in_series(text) or NUMBER.match(text)


def _in_series(text: str) -> re.Match[str] | None:
    """Return a number and the series before it, which is no month and no joining word."""
    match = _IN_SERIES.match(text)
    series = match[0].split()[0].lower() if match else ""
    is_word = series in lexicon.months() or series in _JOINING or lexicon.is_joining(series)
    is_word |= series.upper() in tables.currencies()
    return None if is_word else match


def _below(row: Row, label: Phrase, below: Row) -> str | None:
    """Return the number below a label, if one word begins there."""
    if below.line.page != row.line.page or not _ends_column(row, label):
        return None
    is_next = below.index == row.index + 1
    # Another column may have a label there: `Document type   Number` above `INVOICE   118/26`.
    is_labelled = bool(_labels(below.text, _NUMBER_KINDS))
    first = None if is_labelled else _at_start(stacked.cell_from(below, 0))
    is_title = _END_OF_LABEL.match(row.text[label.end :]) and label.start == 0
    is_title = is_title and below.line.box.x0 < row.line.box.x1 + _MOST_RIGHT * row.height
    if first and is_title and is_next and is_number(first.group(), below.text):
        return first.group()
    number = _in_column(row, label, below) if is_next and not is_labelled else None
    return number or _overlapping(row, label, below)


def _is_with_label(number: str, row: Row) -> bool:
    """Return whether a number has a label before it: not only "No.", or with a colon."""
    cells = [cell.text for cell in row.cells()]
    before = ["", *(text if _COLON_AT_END.search(text) else "" for text in cells)]
    texts = [f"{left} {text}" for left, text in zip(before, cells, strict=False) if number in text]
    return any(
        not _PLAIN.fullmatch(text[label.start : label.end])
        for text in texts
        for label in _labels(text, _KINDS)
        if label.start < text.find(number)
    )


def _signed_below(row: Row, label: Phrase, below: Row) -> str | None:
    """Return the number after a sign, below a label in another column: "5 High St   INVOICE"."""
    if label.kind != "number" or below.line.page != row.line.page or not _ends_column(row, label):
        return None
    number = _overlapping(row, label, below)
    is_signed = number is not None and _BEHIND_SIGN.search(below.text[: below.text.find(number)])
    return number if is_signed else None


def _ends_column(row: Row, label: Phrase) -> bool:
    """Return whether a label ends its column, so that its number may be below."""
    offset = 0
    for word in row.line.words:
        end = offset + len(word.text)
        if offset < label.end <= end:
            rest = row.text[label.end : end]
            return bool(_END_OF_LABEL.match(rest) or lexicon.phrasebook(*_KINDS).find(rest))
        offset = end + 1
    return True


def _in_column(row: Row, label: Phrase, below: Row) -> str | None:
    """Return the word with the index of the label, if there is one value per label of a row."""
    above, under = row.text.split(), list(re.finditer(r"\S+", below.text))
    if len(above) != len(under) or len(above) < _FEWEST_COLUMNS:
        return None
    found = under[len(row.text[: label.end].split()) - 1]
    # Where both rows have columns, it is in that of the label.
    columns = stacked.columns_before(row, label.start), stacked.columns_before(below, found.start())
    match = NUMBER.fullmatch(found.group()) if columns[0] == columns[1] else None
    return match.group() if match and is_number(match.group(), match.group()) else None


def _series_before(row: Row, start: int) -> str:
    """Return the series in front of a number in its cell: `EQV 20.881`."""
    begin, _ = row.cell_at(start)
    before = row.text[begin:start]
    match = _in_series(row.text[begin:]) if before.strip() else None
    return before if match and match[0].startswith(before) else ""


def _overlapping(row: Row, label: Phrase, below: Row) -> str | None:
    label_box = row.box(label.start, label.end)
    days, times = dates.days(below.text), dates.times(below.text)
    taken = [(day.start, day.end) for day in days] + [(time.start, time.end) for time in times]
    for match in NUMBER.finditer(below.text):
        box = below.box(match.start(), match.end())
        overlaps = box.x0 < label_box.x1 and box.x1 > label_box.x0
        is_of_date = any(start <= match.start() < end for start, end in taken)
        if overlaps and not is_of_date and is_number(match.group(), below.text[match.start() :]):
            whole = _at_start(stacked.cell_from(below, match.start())) or match
            return f"{_series_before(below, match.start())}{whole.group()}"
    return None
