"""What thermal rolls have in common: labels left, amounts at the right edge, the issuer on top."""

import re
from collections.abc import Iterator
from decimal import Decimal

from recibo.extract.brazil import numerals
from recibo.extract.fields.fiscal_papers import moments, names, paper
from recibo.extract.fields.fiscal_papers.paper import Issuer, Paper
from recibo.extract.fields.forms import Label
from recibo.extract.model import Found, Moment

LABELS = "rolls"

_CONSUMER = re.compile(r"CONSUM|CLIENTE|CPF\s*/?\s*CNPJ|CNPJ\s*/\s*CPF|DESTINAT", re.IGNORECASE)


def name(document: Paper) -> Found[str] | None:
    """Return the issuer's name."""
    return names.on_roll(list(document.lines))


def issuers(document: Paper) -> Iterator[Issuer]:
    """Return the tax ids on lines that do not speak of the consumer."""
    for issuer in paper.printed_ids(document):
        if not _CONSUMER.search(document.form.lines[issuer.line].line.text):
            yield issuer


def amount(document: Paper, kind: str) -> Found[Decimal] | None:
    """Return the last amount on the line of the first label of a kind that has one.

    Rolls put the amount at the right edge; under the label it stands only when the line was broken.
    """
    return next(amounts(document, kind), None)


def amounts(document: Paper, kind: str) -> Iterator[Found[Decimal]]:
    """Return the amounts beside the labels of a kind."""
    for label in document.form.every(kind):
        if found := _beside(document, label):
            yield found


def _beside(document: Paper, label: Label) -> Found[Decimal] | None:
    beside = document.form.right(label)
    values = list(numerals.amounts(beside.text)) if beside else []
    if beside and values:
        return beside.found(values[-1])
    for cell in document.form.below(label):
        # Only a bare amount: the next line of the roll says something else.
        value = numerals.amount(cell.text)
        if value is not None and not re.search("[A-Za-z]{3}", cell.text):
            return cell.found(value)
        return None
    return None


def taxes(document: Paper) -> Found[Decimal] | None:
    """Return the approximate taxes (law 12.741/2012): the first amount, others are their parts."""
    for label in document.form.every("taxes"):
        line = document.form.lines[label.line]
        words = line.words_after(label.end)
        text = " ".join(word.text for word in words)
        following = document.form.lines[label.line + 1 : label.line + 3]
        for candidate in (text, *(squeezed.line.text for squeezed in following)):
            values = list(numerals.amounts(candidate))
            if values:
                return paper.line_cell(line.line).found(values[0])
            if re.search(r"[A-Za-z]{3}", candidate) and "12" not in candidate:
                break
    return None


def stamps(document: Paper) -> Iterator[Found[Moment]]:
    """Return the dates with a time on the roll, those of authorisation and printing last."""
    late: list[Found[Moment]] = []
    protocols = {
        label.line for kind in ("protocol", "printed") for label in document.form.every(kind)
    }
    for index, squeezed in enumerate(document.form.lines):
        for moment in moments.every(squeezed.line.text):
            found = paper.line_cell(squeezed.line).found(moment)
            is_late = index in protocols or moment.time is None
            if is_late:
                late.append(found)
            else:
                yield found
    yield from late
