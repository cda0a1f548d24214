"""Finds the estimated taxes, which law 12.741/2012 requires on documents for consumers."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from recibo.extract import resources
from recibo.extract.brazil.documents import fiscal_document
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.layout.forms import Label
from recibo.extract.layout.rows import Cell
from recibo.extract.model import Extracted, TaxLine
from recibo.extract.text import numbers
from recibo.extract.text.numbers import Number

_AMOUNT = re.compile(r"[0-9]+[.,][0-9]{2}(?![0-9])")
_BEGINS_WITH_AMOUNT = re.compile(r"\W*+(?:R\$\W*+)?[0-9][0-9.]*,[0-9]{2}(?![0-9])", re.IGNORECASE)
# `Total R$ 58,77 Fed 31,50 Est 27,27`, of which OCR may have missed a part.
_WHOLE_BEFORE = re.compile(r"\btotal\W*(?:R\$\W*)?$", re.IGNORECASE)
#: The number of the law, which OCR reads even where it misreads the words around it.
_LAW_NUMBER = "741"
#: A statement has at most this many further rows.
_MOST_ROWS = 4
_CENTS = 2
_CENT, _WHOLE = Decimal("0.01"), 100
#: Percentages above this are not rates of a tax on sales.
_HIGHEST_RATE = 50


def read(document: FiscalDocument) -> Extracted[Decimal] | None:
    """Return the estimated taxes, added up if only the parts are printed."""
    for _, statement in _statements(document):
        values = numbers.money(statement.text)
        # `2,31 Federal 3,81 Estadual` are the parts alone, `6,12 Federal 2,31 ...` are not.
        has_levels = len(_level().findall(statement.text)) >= len(values)
        are_parts = has_levels and not _has_whole(statement)
        return statement.found(sum(values, Decimal(0)) if are_parts else values[0])
    return None


def lines(document: FiscalDocument) -> tuple[Extracted[TaxLine], ...]:
    """Return the estimated taxes as lines, one for each part if the parts are printed."""
    for name, statement in _statements(document):
        amounts = [one for one in numbers.amounts(statement.text) if one.decimals == _CENTS]
        values = [one.value for one in amounts if not one.is_percent]
        levels = [match.group() for match in _level().finditer(statement.text)]
        is_whole = _has_whole(statement) and len(values) <= len(levels)
        if not is_whole and len(levels) > 1 and 0 <= len(values) - len(levels) <= 1:
            parts = zip(levels, values[len(values) - len(levels) :], strict=True)
            known = [TaxLine(level, amount=value) for level, value in parts if value]
        else:
            rate = next((one.value for one in amounts if one.is_percent), None)
            known = [TaxLine(name, rate, amount=values[0])] if values[0] else []
        if known:
            return tuple(statement.found(replace(one, is_informational=True)) for one in known)
    return ()


def _has_whole(statement: Cell) -> bool:
    """Return whether the first amount is the whole: `Total R$ 6,12 Federal 2,31 ...`."""
    return _WHOLE_BEFORE.search(_AMOUNT.split(statement.text, 1)[0]) is not None


def _statements(document: FiscalDocument) -> Iterator[tuple[str, Cell]]:
    """Yield the statements with an amount, each with its label as printed."""
    for label in document.form.every("taxes"):
        statement = _statement(document, label)
        values = numbers.money(statement.text) if statement else []
        if statement and values and _is_of_law(_AMOUNT.split(statement.text, 1)[0]):
            yield document.form.lines[label.line].printed(label.start, label.end), statement


def _statement(document: FiscalDocument, label: Label) -> Cell | None:
    """Return the statement after a label of taxes, which may continue in the next rows."""
    line = document.form.lines[label.line]
    words = list(line.words_after(label.end))
    for following in document.form.lines[label.line + 1 : label.line + 1 + _MOST_ROWS]:
        text = " ".join(word.text for word in words)
        if not _continues(text, following.line.text):
            break
        words += following.line.words
    return Cell(tuple(words)) if words else None


def _continues(text: str, following: str) -> bool:
    """Return whether a statement continues in the next row: no amount yet, or another part."""
    if not any(numbers.money(text)):
        return _is_of_law(text)
    is_broken = _ends_with_level(text) and _BEGINS_WITH_AMOUNT.match(following)
    return bool(is_broken or _level().search(following))


def _is_of_law(text: str) -> bool:
    """Return whether a text only quotes the law, so that the amount is still to come."""
    return _LAW_NUMBER in text or not re.search(r"[^\W\d_]{3}", _law().sub("", text))


def _ends_with_level(text: str) -> bool:
    """Return whether a row ends with the name of a part whose amount is still to come."""
    last = list(_level().finditer(text))[-1:]
    return bool(last) and not re.search(r"[^\W_]", text[last[0].end() :].replace("R$", ""))


@functools.cache
def _law() -> re.Pattern[str]:
    return re.compile(_any_of("law", "levels"), re.IGNORECASE)


@functools.cache
def _level() -> re.Pattern[str]:
    # `Lei Federal` is the law, not a part of the taxes.
    # OCR joins it to the amount before it.
    return re.compile(rf"(?<!Lei )(?<![^\W\d_])(?:{_any_of('levels')})\b", re.IGNORECASE)


def _any_of(*kinds: str) -> str:
    words = (word for kind in kinds for word in _words()[kind])
    return "|".join(sorted(words, key=len, reverse=True))


@functools.cache
def _words() -> Mapping[str, list[str]]:
    return resources.table("brazil", "taxes.toml")


@dataclass(frozen=True, slots=True)
class TaxBox:
    """The boxes of one tax: the kinds of their labels."""

    name: str
    amount: Sequence[str]
    base: Sequence[str] = ()
    rate: Sequence[str] = ()
    is_informational: bool = False


NFE_BOXES = (
    TaxBox("ICMS", ["icms"], base=["icms_base"]),
    TaxBox("ICMS ST", ["st"], base=["st_base"]),
    TaxBox("Imposto de Importação", ["import_tax"]),
    TaxBox("ICMS UF Remet.", ["icms_origin"]),
    TaxBox("ICMS UF Dest.", ["icms_destination"]),
    TaxBox("FCP", ["fcp"]),
    TaxBox("IPI", ["ipi"]),
    TaxBox("PIS", ["pis"]),
    TaxBox("COFINS", ["cofins"]),
    TaxBox("Tributos", ["all_taxes"], is_informational=True),
)
NFSE_BOXES = (
    TaxBox("ISS", ["iss", "weak_iss"], base=["iss_base"], rate=["iss_rate"]),
    TaxBox("PIS", ["pis"]),
    TaxBox("COFINS", ["cofins"]),
    TaxBox("IBS", ["ibs"], base=["reform_base"], rate=["ibs_rate"]),
    TaxBox("CBS", ["cbs"], base=["reform_base"], rate=["cbs_rate"]),
)


def boxed(document: FiscalDocument, boxes: Sequence[TaxBox]) -> Iterator[Extracted[TaxLine]]:
    """Yield the taxes of the boxes that contain an amount other than zero."""
    for box in boxes:
        found = fiscal_document.amount(document, *box.amount)
        if found is None or not found.value:
            continue
        base = fiscal_document.amount(document, *box.base) if box.base else None
        rate = next(document.form.read(box.rate, _rate), None) if box.rate else None
        line = TaxLine(
            name=box.name,
            rate=rate.value if rate else None,
            base=base.value if base and base.value else None,
            amount=found.value,
            is_informational=box.is_informational,
        )
        yield Extracted(line, found.confidence, found.text, found.page, found.box)


def is_product(found: Sequence[Number]) -> bool:
    """Return whether three numbers are a base, a rate in percent and their product."""
    base, rate, amount = (one.value for one in found)
    return bool(amount) and abs(base * rate / _WHOLE - amount) <= _CENT


def _rate(text: str) -> Decimal | None:
    """Return the first percentage in a text, or the first number if it has no percent sign."""
    every = [one for one in numbers.amounts(text) if 0 <= one.value <= _HIGHEST_RATE]
    marked = [one for one in every if one.is_percent]
    return next((one.value for one in (*marked, *every) if not one.has_symbol), None)
