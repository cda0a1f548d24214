"""Groups documents by source, and divides the sources into folds."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

#: Five folds leave four fifths of the documents to fit on.
FOLDS = 5
# Companies are distinguished by this many letters of their names, so branches stay together.
_LETTERS = 9
_FEWEST_LETTERS = 4


def sources(known: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the source of each document, given its origin and its seller.

    Documents of one repository, generator or seller have one source, and so have those that are
    connected by others: no layout is then both fitted on and judged. A source is named after its
    first document.
    """
    parents: dict[str, str] = {}
    for document, (origin, seller) in known.items():
        own = _root(parents, f"document {document}")
        for mark in _marks(origin, seller):
            parents[_root(parents, mark)] = own
    roots = {document: _root(parents, f"document {document}") for document in known}
    first = {root: document for document, root in reversed(roots.items())}
    return {document: first[root] for document, root in roots.items()}


def folds(documents: Iterable[str]) -> dict[str, int]:
    """Return the fold of each source, given the source of every document.

    From the largest on, each source goes into the smallest fold.
    """
    sizes = [0] * FOLDS
    by_source = {}
    counts = Counter(documents)
    for source in sorted(counts, key=lambda source: (-counts[source], source)):
        fold = sizes.index(min(sizes))
        by_source[source] = fold
        sizes[fold] += counts[source]
    return by_source


def _root(parents: dict[str, str], node: str) -> str:
    while (parent := parents.setdefault(node, node)) != node:
        node = parent
    return node


def _marks(origin: str, seller: str) -> list[str]:
    # The place of a branch is in parentheses.
    plain = unicodedata.normalize("NFKD", re.sub(r"\(.*?\)", "", seller))
    letters = re.sub(r"[^0-9A-Z]", "", plain.upper())[:_LETTERS]
    marks = [f"origin {origin}"] if origin else []
    return marks + ([f"seller {letters}"] if len(letters) >= _FEWEST_LETTERS else [])
