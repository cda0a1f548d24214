"""Generated documents, for fields of which the real ones are too few or of too few sources.

Some print taxes, payments and adjustments that few real documents have. Of all kinds, in all
languages, the heads are of more sellers and layouts than the real documents of any fold.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from recibo.extract import pipeline
from recibo.extract.candidates import Candidates
from recibo.extract.fields import collect
from recibo.extract.model import Receipt, TextPage
from recibo.extract.resolve import assemble
from training.fields import damage
from training.receipts import kinds, pdf
from training.receipts.faces import Case
from training.receipts.truth import Bookkeeping, Truth

_KINDS = ("till", "restaurant", "two payments", "slip", "tax invoice")
# So many of each kind in each country.
_EACH = 2
# So many of each kind in each language for the head, and so many more of kinds with one language.
_HEADS, _MORE_OF_ONE_LANGUAGE = 4, 6
# With the heads of chains, fewer names of other documents are right.
_NO_HEADS = frozenset({"chain"})
# How one of them after the other is misread.
_DAMAGES = (None, "letters", "lost words", "more letters")


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


@dataclass(frozen=True, slots=True)
class Header:
    """A generated document as it is read, with words misread or lost, and its contents."""

    pages: Sequence[TextPage]
    truth: Truth
    #: Further right values by field; None if the value may be missing.
    alternatives: Mapping[str, Sequence[str | None]]


def headers() -> Iterator[Header]:
    """Return documents of all kinds in all languages, the same ones every time."""
    chosen = {
        name: kind
        for name, kind in kinds.kinds().items()
        if name not in _NO_HEADS and not kind.is_worn
    }
    for name, kind in chosen.items():
        each = _HEADS if len(kind.languages) > 1 else _HEADS * _MORE_OF_ONE_LANGUAGE
        for language in kind.languages:
            for number in range(each):
                made = kinds.make(f"head:{number}", name, language, Case())
                pages = [passes[0] for passes in pipeline.recognize(pdf.write(made.print))]
                how = _DAMAGES[number % len(_DAMAGES)]
                if how is not None:
                    pages = damage.words(pages, how, f"{name}:{language}:{number}")
                yield Header(pages, made.truth, made.alternatives)
