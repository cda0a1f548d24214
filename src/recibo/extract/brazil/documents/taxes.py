"""The estimated taxes that law 12.741/2012 has every paper to a consumer tell."""

import functools
import re
from collections.abc import Mapping
from decimal import Decimal

from recibo.extract import resources
from recibo.extract.brazil.documents.fiscal_document import Paper
from recibo.extract.layout.forms import Cell, Label
from recibo.extract.model import Extracted
from recibo.extract.text import numbers

_AMOUNT = re.compile(r"[0-9]+[.,][0-9]{2}(?![0-9])")
_BEGINS_WITH_AMOUNT = re.compile(r"\W*+(?:R\$\W*+)?[0-9][0-9.]*,[0-9]{2}(?![0-9])", re.IGNORECASE)
#: Of the law, which readers give back even where they glue and misread the words around it.
_LAW_NUMBER = "741"
#: A statement takes up so many more rows at most.
_MOST_ROWS = 4


def read(document: Paper) -> Extracted[Decimal] | None:
    """Return the approximate taxes (law 12.741/2012): the sum where only its parts are printed."""
    for label in document.form.every("taxes"):
        statement = _statement(document, label)
        values = numbers.money(statement.text) if statement else []
        if statement and values and _is_of_law(_AMOUNT.split(statement.text, 1)[0]):
            # `2,31 Federal 3,81 Estadual` are the parts alone, `6,12 Federal 2,31 ...` are not.
            are_parts = len(_level().findall(statement.text)) >= len(values)
            return statement.found(sum(values, Decimal(0)) if are_parts else values[0])
    return None


def _statement(document: Paper, label: Label) -> Cell | None:
    """Return what is said behind a label of taxes, which rolls break anywhere."""
    line = document.form.lines[label.line]
    words = list(line.words_after(label.end))
    for following in document.form.lines[label.line + 1 : label.line + 1 + _MOST_ROWS]:
        text = " ".join(word.text for word in words)
        if not _goes_on(text, following.line.text):
            break
        words += following.line.words
    return Cell(tuple(words)) if words else None


def _goes_on(said: str, following: str) -> bool:
    """Tell whether a statement of taxes is not at its end yet: no amount, or another part."""
    if not any(numbers.money(said)):
        return _is_of_law(said)
    is_broken = _ends_with_level(said) and _BEGINS_WITH_AMOUNT.match(following)
    return bool(is_broken or _level().search(following))


def _is_of_law(text: str) -> bool:
    """Tell whether a text but quotes the law, so that the amount is still to come."""
    return _LAW_NUMBER in text or not re.search(r"[^\W\d_]{3}", _law().sub("", text))


def _ends_with_level(text: str) -> bool:
    """Tell whether a row ends with the name of a part whose amount is still to come."""
    last = list(_level().finditer(text))[-1:]
    return bool(last) and not re.search(r"[^\W_]", text[last[0].end() :].replace("R$", ""))


@functools.cache
def _law() -> re.Pattern[str]:
    return re.compile(_any_of("law", "levels"), re.IGNORECASE)


@functools.cache
def _level() -> re.Pattern[str]:
    # `Lei Federal` names the law, no part.
    return re.compile(rf"(?<!Lei )\b(?:{_any_of('levels')})\b", re.IGNORECASE)


def _any_of(*kinds: str) -> str:
    words = (word for kind in kinds for word in _words()[kind])
    return "|".join(sorted(words, key=len, reverse=True))


@functools.cache
def _words() -> Mapping[str, list[str]]:
    return resources.table("brazil", "taxes.toml")
