"""Generated documents with taxes, payments and adjustments of kinds that few real ones print."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from recibo.extract import pipeline
from recibo.extract.candidates import Candidates
from recibo.extract.fields import collect
from recibo.extract.model import Receipt
from recibo.extract.resolve import assemble
from training.receipts import kinds, pdf
from training.receipts.faces import Case
from training.receipts.truth import Bookkeeping

_KINDS = ("till", "restaurant", "two payments", "slip", "tax invoice")
# So many of each kind in each country.
_EACH = 2


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated document, what was found in it, and its truth."""

    candidates: Candidates
    header: Receipt
    truth: Bookkeeping


@cache
def documents() -> tuple[Generated, ...]:
    """Return the same documents every time, read with the weights of the package."""
    return tuple(_read())


def _read() -> Iterator[Generated]:
    for kind in _KINDS:
        for language in kinds.kinds()[kind].languages:
            for number in range(_EACH):
                made = kinds.make(f"fit:{number}", kind, language, Case())
                if made.bookkeeping is not None:
                    pages = pipeline.recognize(pdf.write(made.print))
                    found = collect.collect([passes[0] for passes in pages])
                    yield Generated(found, assemble.assemble(found), made.bookkeeping)
