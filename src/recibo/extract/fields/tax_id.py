"""Finds the seller's tax number by its label, its format and its check digits."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from recibo.extract import weights
from recibo.extract.brazil import tax_ids as brazilian
from recibo.extract.fields import recipients
from recibo.extract.fields.check_digits import passes
from recibo.extract.fields.name_candidates import pieces_of
from recibo.extract.fields.recipients import Column
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box, Extracted
from recibo.extract.probabilities import probability
from recibo.extract.text import tables
from recibo.extract.text.phrases import Phrasebook
from recibo.extract.text.tables import Country, TaxNumber

# Spaces and these characters separate the groups of a number.
_GROUP_SIGNS = r"[\s.\-/\u2013:]"
_RUN = re.compile(rf"[0-9A-Z][0-9A-Z]*(?:{_GROUP_SIGNS}{{1,3}}[0-9A-Z]+){{0,7}}")
# Characters that OCR confuses: letters for digits, a digit for a check letter.
_AS_LETTER = str.maketrans("6852", "GBSZ")
# In the first letters of a number, `CC0860523` for `CCO860523`, and in the code of its country.
_LETTERED, _OF_COUNTRY, _AS_LETTERS = 3, 2, str.maketrans("01568", "OISGB")
_AS_DIGITS = str.maketrans("OQILSB", "001158")
_NUMBER_SIGNS = frozenset({"NO", "NR", "NRO", "NUM"})
# A company number may be printed without any label, alone in its row or in brackets, near the name.
_BARE_COMPANY_NUMBER = re.compile(
    r"^\W*(\d{4,7}\s?-\s?[A-Z])\W*$|\(\W*(\d{4,7}\s?-\s?[A-Z])\W*\)\W*$"
)
_HEAD = 0.35
# The rule of the number that its separators alone prove.
_CNPJ, _CPF = "br_cnpj", "br_cpf"

# A candidate must be likelier than that the seller's number is not printed.
_LEAST = 0.5
# The buyer's number is near the word for buyer, or in the rows below it.
_BUYER_ROWS = 3
# Amounts next to each other are not groups of one number, and neither is a date.
_OTHER = re.compile(
    r"(?<![\d.,])\d+[.,]\d{2}(?![\d.,])|(?<![\d/])\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})(?![\d/])"
)
# A labelled number may have an unknown format: this many digits, perhaps after letters.
_ANY_NUMBER = re.compile(r"(?=(?:\W*\w){8,18}\W*$)[A-Z]{0,3}\d(?:[-/.]?\d){6,14}[A-Z]{0,3}")
# A word may come between the label and such a number.
_ANY_LEAD = re.compile(r"^\W*(?:[^\W\d_]{1,10}\W+)?")
# Shorter numbers pass their rule by chance.
_LEAST_ALONE = 8
# A word for buyer begins its row, or comes right after the name of the number.
_FIRST_SIGNS = 12


@dataclass(frozen=True, slots=True)
class TaxId:
    """A tax number and its format."""

    found: Extracted[str]
    number: TaxNumber
    #: Its features.
    features: Mapping[str, float]
    #: The index of its row, and the cell that it is in.
    row: int
    cell: Box


def tax_ids(rows: Sequence[Row], country: Country | None) -> tuple[TaxId, ...]:
    """Return the candidates, the likeliest first, without duplicates."""
    fitted = weights.weights("merchant_tax_id")
    best: dict[str, TaxId] = {}
    for tax_id in (_weighed(one, fitted) for one in candidates(rows, country)):
        known = best.get(tax_id.found.value)
        if known is None or known.found.confidence < tax_id.found.confidence:
            best[tax_id.found.value] = tax_id
    likely = [
        tax_id
        for tax_id in best.values()
        if tax_id.found.confidence >= _LEAST and not tax_id.features["in_buyer_column"]
    ]
    return tuple(sorted(likely, key=lambda tax_id: -tax_id.found.confidence))


def of_sellers(found: Sequence[TaxId]) -> list[TaxId]:
    """Return the tax numbers that may be the seller's: a person buys from a company.

    In Brazil their numbers have other forms.
    """
    if not any(map(_is_of_company, found)):
        return list(found)
    return [tax_id for tax_id in found if tax_id.number.check != _CPF]


def _is_of_company(tax_id: TaxId) -> bool:
    """Return whether a tax number is a valid CNPJ, and no label says that it is the buyer's."""
    is_buyers = tax_id.features.get("buyer") or tax_id.features.get("named_buyer")
    return tax_id.number.check == _CNPJ and bool(tax_id.features["passed"]) and not is_buyers


def candidates(rows: Sequence[Row], country: Country | None) -> tuple[TaxId, ...]:
    """Return all tax numbers on the page with their features."""
    code = country.code if country else None
    buyers = _buyer_rows(rows)
    columns = recipients.of_buyer(rows)
    finds = (_labelled, _brazilian, _unlabelled, _bare, _alone)
    found = [one for find in finds for one in find(rows, code)]
    shown = Counter(value for value, _ in {(one.found.value, one.found.text) for one in found})
    return tuple(
        replace(
            one,
            features={
                **one.features,
                **buyers.get(one.found.text, {}),
                **_in_columns(one, columns),
                "repeated": shown[one.found.value] > 1,
            },
        )
        for one in found
        if one.found.value not in one.number.placeholders
    )


def _in_columns(one: TaxId, columns: Sequence[Column]) -> dict[str, float]:
    # The layouts of Brazilian documents tell their parties apart.
    is_brazilian = one.number.check == _CNPJ
    if not is_brazilian and any(column.holds(one.cell, one.found.page) for column in columns):
        return {"buyer": 1, "in_buyer_column": 1}
    return {"in_buyer_column": 0}


def countries(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the countries whose check digit rule a number on the page passes."""
    return tuple({one.number.country for one in candidates(rows, None) if _is_proof(one)})


def _weighed(tax_id: TaxId, fitted: Mapping[str, float]) -> TaxId:
    score = sum(fitted.get(name, 0) * value for name, value in tax_id.features.items())
    return replace(tax_id, found=replace(tax_id.found, confidence=probability(score)))


def _is_proof(tax_id: TaxId) -> bool:
    """Return whether only one country has such numbers, by their separators or their label."""
    number = tax_id.number
    if number.weak or not tax_id.features["passed"] or "buyer" in tax_id.features:
        return False
    namesakes = {one.country for one in tables.tax_numbers() if number.labels[0] in one.labels}
    return not tax_id.found.value.isdecimal() or len(namesakes) == 1


def _buyer_rows(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return the features of the text in rows with the buyer's label or below it."""
    near: dict[str, dict[str, float]] = {}
    for row in rows:
        if recipients.is_headed(row):
            continue
        if any(phrase.start <= _FIRST_SIGNS for phrase in _buyer_book().find(row.text)):
            below = rows[row.index + 1 : row.index + 1 + _BUYER_ROWS]
            near |= {other.text: {"buyer": 1} for other in below if other.text not in near}
            near[row.text] = {"buyer": 1, "named_buyer": 1}
    return near


def _labelled(rows: Sequence[Row], country: str | None) -> Iterator[TaxId]:
    for row in rows:
        labels = _label_book().find(row.text)
        for label, following in zip(labels, (*labels[1:], None), strict=False):
            end = following.start if following else len(row.text)
            owners = _numbers_of(label.kind)
            read = [(number, *_read(row, label.end, end, rows, number)) for number in owners]
            for number, value, place in read:
                if value:
                    yield _tax_id(value, number, place, country, {"labelled": 1})
            if not any(value for _, value, _ in read):
                yield from _behind_words(row, row.text[label.end : end], owners, country)
                yield from _of_any_shape(row, row.text[label.end : end], owners, country)


def _behind_words(
    row: Row, text: str, owners: Sequence[TaxNumber], country: str | None
) -> Iterator[TaxId]:
    """Yield numbers that pass their rule, with words between label and number.

    `V.D. BÜYÜK MÜKELLEFLER 6220529513`: the tax office.
    """
    for value in _joined_groups(_OTHER.sub("|", text.upper())):
        for number in owners:
            if number.shape.fullmatch(value) and _passes(number, value):
                yield _tax_id(value, number, row, country, {"labelled": 1})


def _of_any_shape(
    row: Row, text: str, owners: Sequence[TaxNumber], country: str | None
) -> Iterator[TaxId]:
    """Return a number with the label of one country that has none of its formats."""
    at_home = [number for number in owners if number.country == country] or owners
    printed = _ANY_LEAD.sub("", text).strip()
    if len({number.country for number in at_home}) == 1 and _ANY_NUMBER.fullmatch(printed.upper()):
        value = re.sub(r"\W", "", printed).upper()
        yield _tax_id(value, at_home[0], row, country, {"labelled": 1, "any_shape": 1})


def _read(
    row: Row, start: int, end: int, rows: Sequence[Row], number: TaxNumber
) -> tuple[str, Row]:
    """Return a number right of a label, or below it if there is none."""
    after = row.text[start:end]
    value = _leading_number(after, number)
    is_bare = not re.search(r"\d", row.text[start:])
    if value or not is_bare or row.index + 1 >= len(rows):
        return value, row
    below = rows[row.index + 1]
    return _leading_number(below.text, number), below


def _leading_number(text: str, number: TaxNumber) -> str:
    """Return the longest run of groups at the start of `text` with the format of the number."""
    head = re.sub(r"^\W*(?:(?:no|nr|n|id|number)\b)?\W*", "", text, flags=re.IGNORECASE).upper()
    match = _RUN.match(_OTHER.sub("|", head))
    if match is None:
        return ""
    groups = re.split(rf"{_GROUP_SIGNS}+", match.group())
    for count in range(len(groups), 0, -1):
        joined = "".join(groups[:count])
        as_digits = joined.translate(_AS_DIGITS)
        with_letter = as_digits[:-1] + as_digits[-1:].translate(_AS_LETTER)
        lettered = joined[:_LETTERED].translate(_AS_LETTERS) + joined[_LETTERED:]
        # `R0 1234`: the code of the country is letters.
        of_country = joined[:_OF_COUNTRY].translate(_AS_LETTERS) + joined[_OF_COUNTRY:]
        of_country = of_country if of_country.startswith(number.country) else joined
        for spelling in (joined, of_country, as_digits, with_letter):
            if number.shape.fullmatch(spelling):
                return spelling
        if number.shape.fullmatch(lettered) and _passes(number, lettered):
            return lettered
    return ""


def _unlabelled(rows: Sequence[Row], country: str | None) -> Iterator[TaxId]:
    for row in rows:
        for joined, number in _proven(row.text):
            yield _tax_id(joined, number, row, country, {"unlabelled": 1})


# The same rows are searched for the country, the seller and the buyer.
@lru_cache(maxsize=1024)
def _proven(text: str) -> tuple[tuple[str, TaxNumber], ...]:
    """Return the numbers in a text that pass the rule of a country, with each such country's."""
    joined = _joined_groups(_OTHER.sub("|", text.upper()))
    return tuple((one, number) for one in joined for number in _owners(one))


@lru_cache(maxsize=4096)
def _owners(joined: str) -> tuple[TaxNumber, ...]:
    if not _any_checked().fullmatch(joined):
        return ()
    return tuple(
        number
        for number in tables.tax_numbers()
        if number.check
        and (not number.labelled or joined.startswith(number.country))
        and number.shape.fullmatch(joined)
        and _passes(number, joined)
    )


@cache
def _any_checked() -> re.Pattern[str]:
    """Return the shapes of all numbers with a rule as one, which is tried first."""
    shapes = (number.shape.pattern for number in tables.tax_numbers() if number.check)
    return re.compile("|".join(f"(?:{shape})" for shape in shapes))


def _joined_groups(text: str) -> Iterator[str]:
    """Return every run of neighboring groups in `text`, run together."""
    groups = [re.split(rf"{_GROUP_SIGNS}+", match.group()) for match in _RUN.finditer(text)]
    for run in groups:
        # The label of another number is not part of one: "RUT 73.020.270-9" is not a Mexican RFC.
        # Nor is its sign: "OR No. 000123988".
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
    """Return the CNPJs found by their separators and check digits, labelled or not."""
    number = next(one for one in tables.tax_numbers() if one.check == _CNPJ)
    for row in rows:
        for printed in brazilian.find(row.text):
            has_signs = not row.text[printed.start : printed.end].isalnum()
            if has_signs and passes(_CNPJ, printed.text):
                yield _tax_id(printed.text, number, row, country, {"labelled": 1})


def _bare(rows: Sequence[Row], country: str | None) -> Iterator[TaxId]:
    for row in rows:
        match = _BARE_COMPANY_NUMBER.search(row.text) if row.depth < _HEAD else None
        number = next((kind for kind in tables.tax_numbers() if kind.weak), None)
        if match and number and country == number.country:
            value = re.sub(r"\W", "", match.group(1) or match.group(2))
            yield _tax_id(value, number, row, country, {"bare": 1})


def _alone(rows: Sequence[Row], country: str | None) -> Iterator[TaxId]:
    """Return the numbers with a letter that are alone in a row of the head and pass their rule."""
    numbers = [one for one in tables.tax_numbers() if one.check and one.country == country]
    for row in rows:
        value = re.sub(r"\W", "", row.text).upper()
        is_long = len(value) >= _LEAST_ALONE and not value.isdecimal()
        for number in numbers if is_long and row.depth < _HEAD else ():
            if number.shape.fullmatch(value) and _passes(number, value):
                yield _tax_id(value, number, row, country, {"unlabelled": 1, "whole_row": 1})


def _tax_id(
    value: str, number: TaxNumber, row: Row, country: str | None, known: Mapping[str, float]
) -> TaxId:
    is_passed = _passes(number, value)
    features = {
        **known,
        "passed": is_passed,
        "failed": number.check is not None and not is_passed,
        "weak": number.weak,
        "home": country == number.country,
        "abroad": country is not None and country != number.country,
        "lettered": not value.isdecimal(),
        "head": row.depth < _HEAD,
    }
    cell = _cell(row, value)
    found = Extracted(value, 0, row.text, row.line.page, cell)
    return TaxId(found, number, features, row.index, cell)


def _cell(row: Row, value: str) -> Box:
    """Return the box of the cell with a number; of the row if it was repaired."""
    cells = pieces_of(row)
    holding = [cell.box for cell in cells if value in re.sub(r"\W", "", cell.text).upper()]
    return holding[-1] if holding else row.line.box


def _passes(number: TaxNumber, value: str) -> bool:
    return number.check is not None and passes(number.check, value)


@cache
def _short_names() -> frozenset[str]:
    labels = (label for number in tables.tax_numbers() for label in number.labels)
    return frozenset(label.upper() for label in labels if label.isalpha())


@cache
def _buyer_book() -> Phrasebook:
    return Phrasebook({"buyer": tables.merchants()["buyer"]}, joined=False)


@cache
def _label_book() -> Phrasebook:
    owners: dict[str, list[str]] = defaultdict(list)
    for index, number in enumerate(tables.tax_numbers()):
        for label in number.labels:
            owners[label].append(str(index))
    kinds: dict[str, list[str]] = defaultdict(list)
    for label, indices in owners.items():
        kinds["|".join(indices)].append(label)
        # OCR reads V as U: "UAT No.", "P.IUA".
        if (misread := label.replace("v", "u")) not in owners:
            kinds["|".join(indices)].append(misread)
    return Phrasebook(kinds)


def _numbers_of(kind: str) -> list[TaxNumber]:
    return [tables.tax_numbers()[int(index)] for index in kind.split("|")]
