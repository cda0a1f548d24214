"""Finds the seller's tax number: by its label, its shape and its check digits."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from recibo.extract.brazil import tax_ids as brazilian
from recibo.extract.fields.check_digits import passes
from recibo.extract.layout.rows import Row
from recibo.extract.model import Extracted
from recibo.extract.text import tables
from recibo.extract.text.phrases import Phrasebook
from recibo.extract.text.tables import Country, TaxNumber

# Blanks and these signs part the groups of a number.
_GROUP_SIGNS = r"[\s.\-/\u2013:]"
_RUN = re.compile(rf"[0-9A-Z][0-9A-Z]*(?:{_GROUP_SIGNS}{{1,3}}[0-9A-Z]+){{0,7}}")
# What engines mix up: letters in the place of figures, a figure in that of a check letter.
_AS_LETTER = str.maketrans("6852", "GBSZ")
_AS_DIGITS = str.maketrans("OQILSB", "001158")
_NUMBER_SIGNS = frozenset({"NO", "NR", "NRO", "NUM"})
# A company number may stand without any label, alone in its row or in brackets, near the name.
_BARE_COMPANY_NUMBER = re.compile(
    r"^\W*(\d{4,7}\s?-\s?[A-Z])\W*$|\(\W*(\d{4,7}\s?-\s?[A-Z])\W*\)\W*$"
)
_HEAD = 0.35
# The rule of the number that is told by its signs alone.
_CNPJ = "br_cnpj"

_LABELLED, _CHECKED, _AT_HOME = 0.35, 0.3, 0.15
_FAILED_CHECK, _WEAK, _ABROAD = -0.3, -0.25, -0.2
_BASE = 0.35
# The rule alone, with no label and no country known.
_PROVEN = 0.64
# The buyer's number stands beside the word for buyer, or in the rows below it.
_BUYER, _NEAR_BUYER, _BUYER_ROWS = -0.6, -0.3, 3
# Shorter ones pass their rule by chance.
_LEAST_ALONE = 8
# A word for buyer begins its row, or comes right after the name of the number.
_FIRST_SIGNS = 12
# A company number that stands alone where such numbers stand is as good as labelled.
_BARE = 0.3


@dataclass(frozen=True, slots=True)
class TaxId:
    """A tax number and whose shape it has."""

    found: Extracted[str]
    number: TaxNumber


def tax_ids(rows: Sequence[Row], country: Country | None) -> tuple[TaxId, ...]:
    """Return the tax numbers on the page, the seller's likeliest first; none twice."""
    code = country.code if country else None
    best: dict[str, TaxId] = {}
    near_buyer = _near_buyer(rows)
    finds = (_labelled, _brazilian, _unlabelled, _bare, _alone)
    for found in (one for find in finds for one in find(rows, code)):
        tax_id = _without_buyer(found, near_buyer)
        known = best.get(tax_id.found.value)
        if known is None or known.found.confidence < tax_id.found.confidence:
            best[tax_id.found.value] = tax_id
    return tuple(sorted(best.values(), key=lambda tax_id: -tax_id.found.confidence))


def countries(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the countries of which a number on the page is proof: it passes a rule of theirs."""
    proving = (one for one in tax_ids(rows, None) if one.found.confidence >= _PROVEN)
    return tuple({one.number.country for one in proving if _is_proof(one)})


def _is_proof(tax_id: TaxId) -> bool:
    """Tell whether only one country gives such numbers, by their signs or by their name."""
    number = tax_id.number
    if number.weak or not number.check or not passes(number.check, tax_id.found.value):
        return False
    namesakes = {one.country for one in tables.tax_numbers() if number.labels[0] in one.labels}
    return not tax_id.found.value.isdecimal() or len(namesakes) == 1


def _near_buyer(rows: Sequence[Row]) -> dict[str, float]:
    """Return by its text each row that names the buyer or stands below such a row."""
    near: dict[str, float] = {}
    for row in rows:
        if any(phrase.start <= _FIRST_SIGNS for phrase in _buyer_book().find(row.text)):
            below = rows[row.index + 1 : row.index + 1 + _BUYER_ROWS]
            near |= {other.text: _NEAR_BUYER for other in below if other.text not in near}
            near[row.text] = _BUYER
    return near


def _without_buyer(tax_id: TaxId, near_buyer: Mapping[str, float]) -> TaxId:
    """Return a number with what the word for buyer near it takes from its confidence."""
    less = near_buyer.get(tax_id.found.text, 0)
    if tax_id.found.value in tax_id.number.nobody:
        less = -1
    confidence = max(0.0, tax_id.found.confidence + less)
    return replace(tax_id, found=replace(tax_id.found, confidence=confidence))


def _labelled(rows: Sequence[Row], country: str | None) -> Iterator[TaxId]:
    for row in rows:
        labels = _label_book().find(row.text)
        for label, following in zip(labels, (*labels[1:], None), strict=False):
            end = following.start if following else len(row.text)
            for number in _numbers_of(label.kind):
                value, place = _read(row, label.end, end, rows, number)
                if value:
                    yield _tax_id(value, number, place, country, is_labelled=True)


def _read(
    row: Row, start: int, end: int, rows: Sequence[Row], number: TaxNumber
) -> tuple[str, Row]:
    """Return a number right of a label, or below it when nothing stands beside it."""
    beside = row.text[start:end]
    value = _leading_number(beside, number)
    is_bare = not re.search(r"\d", row.text[start:])
    if value or not is_bare or row.index + 1 >= len(rows):
        return value, row
    below = rows[row.index + 1]
    return _leading_number(below.text, number), below


def _leading_number(text: str, number: TaxNumber) -> str:
    """Return the longest run of groups at the head of `text` that has the number's shape."""
    head = re.sub(r"^\W*(?:(?:no|nr|n|id|number)\b)?\W*", "", text, flags=re.IGNORECASE).upper()
    match = _RUN.match(head)
    if match is None:
        return ""
    groups = re.split(rf"{_GROUP_SIGNS}+", match.group())
    for count in range(len(groups), 0, -1):
        joined = "".join(groups[:count])
        as_digits = joined.translate(_AS_DIGITS)
        with_letter = as_digits[:-1] + as_digits[-1:].translate(_AS_LETTER)
        for spelling in (joined, as_digits, with_letter):
            if number.shape.fullmatch(spelling):
                return spelling
    return ""


def _unlabelled(rows: Sequence[Row], country: str | None) -> Iterator[TaxId]:
    proving = [number for number in tables.tax_numbers() if number.check and not number.labelled]
    for row in rows:
        for joined in _joined_groups(row.text.upper()):
            for number in proving:
                if number.shape.fullmatch(joined) and passes(number.check or "", joined):
                    yield _tax_id(joined, number, row, country, is_labelled=False)


def _joined_groups(text: str) -> Iterator[str]:
    """Return every run of neighbouring groups in `text`, run together."""
    groups = [re.split(rf"{_GROUP_SIGNS}+", match.group()) for match in _RUN.finditer(text)]
    for run in groups:
        # The name of another number is no part of one: "RUT 73.020.270-9" is no Mexican RFC.
        # Nor is a sign of another: "OR No. 000123988".
        for part in _between_signs(run):
            for start, group in enumerate(part):
                if group not in _short_names():
                    yield from ("".join(part[start:end]) for end in range(start + 1, len(part) + 1))


def _between_signs(groups: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for group in groups:
        if group in _NUMBER_SIGNS:
            yield part
            part = []
        else:
            part.append(group)
    yield part


def _brazilian(rows: Sequence[Row], country: str | None) -> Iterator[TaxId]:
    """Return the CNPJs whose own signs and check digits tell them, labelled or not."""
    number = next(one for one in tables.tax_numbers() if one.check == _CNPJ)
    for row in rows:
        for printed in brazilian.find(row.text):
            has_signs = not row.text[printed.start : printed.end].isalnum()
            if has_signs and passes(_CNPJ, printed.text):
                yield _tax_id(printed.text, number, row, country, is_labelled=True)


def _bare(rows: Sequence[Row], country: str | None) -> Iterator[TaxId]:
    for row in rows:
        match = _BARE_COMPANY_NUMBER.search(row.text) if row.depth < _HEAD else None
        number = next((kind for kind in tables.tax_numbers() if kind.weak), None)
        if match and number and country == number.country:
            value = re.sub(r"\W", "", match.group(1) or match.group(2))
            tax_id = _tax_id(value, number, row, country, is_labelled=False)
            found = replace(tax_id.found, confidence=tax_id.found.confidence + _BARE)
            yield replace(tax_id, found=found)


def _alone(rows: Sequence[Row], country: str | None) -> Iterator[TaxId]:
    """Return the numbers with a letter that are all of a row in the head, and pass their rule."""
    numbers = [one for one in tables.tax_numbers() if one.check and one.country == country]
    for row in rows:
        value = re.sub(r"\W", "", row.text).upper()
        is_telling = len(value) >= _LEAST_ALONE and not value.isdecimal()
        for number in numbers if is_telling and row.depth < _HEAD else ():
            if number.shape.fullmatch(value) and passes(number.check or "", value):
                yield _tax_id(value, number, row, country, is_labelled=False)


def _tax_id(
    value: str, number: TaxNumber, row: Row, country: str | None, *, is_labelled: bool
) -> TaxId:
    confidence = _BASE + (_LABELLED if is_labelled else 0) + (_WEAK if number.weak else 0)
    if number.check:
        confidence += _CHECKED if passes(number.check, value) else _FAILED_CHECK
    if country:
        confidence += _AT_HOME if country == number.country else _ABROAD
    confidence = max(0.05, min(confidence, 0.99))
    return TaxId(Extracted(value, confidence, row.text, row.line.page, row.line.box), number)


@cache
def _short_names() -> frozenset[str]:
    labels = (label for number in tables.tax_numbers() for label in number.labels)
    return frozenset(label.upper() for label in labels if label.isalpha())


@cache
def _buyer_book() -> Phrasebook:
    return Phrasebook({"buyer": tables.merchants()["buyer"]}, glued=False)


@cache
def _label_book() -> Phrasebook:
    owners: dict[str, list[str]] = defaultdict(list)
    for index, number in enumerate(tables.tax_numbers()):
        for label in number.labels:
            owners[label].append(str(index))
    kinds: dict[str, list[str]] = defaultdict(list)
    for label, indices in owners.items():
        kinds["|".join(indices)].append(label)
    return Phrasebook(kinds)


def _numbers_of(kind: str) -> list[TaxNumber]:
    return [tables.tax_numbers()[int(index)] for index in kind.split("|")]
