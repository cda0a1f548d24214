"""Moves an amount written by hand, which is a little above the line of its label, to that label."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recibo.extract.model import Line, TextPage, around
from recibo.extract.text import lexicon

_AMOUNT = re.compile(r"\W{0,3}\d{1,6}[.,]\d{2}\W?")
#: What is written on the copy of a slip.
_LABELS = ("tip", "total", "payable")
#: An amount and its label share at least this part of the lower one.
_LEAST_SHARED = 0.2


def moved(text_page: TextPage) -> TextPage:
    """Return a recognized page with such amounts in the lines of their labels."""
    if text_page.is_exact:
        return text_page
    return replace(text_page, lines=tuple(_moved(text_page.lines)))


def _moved(lines: Sequence[Line]) -> Iterator[Line]:
    amount: Line | None = None
    for line in lines:
        if amount is not None and _is_label_of(line, amount):
            words = (*line.words, *amount.words)
            yield replace(line, words=words, box=around([word.box for word in words]))
            amount = None
            continue
        if amount is not None:
            yield amount
        amount = line if _AMOUNT.fullmatch(line.text) else None
        if amount is None:
            yield line
    if amount is not None:
        yield amount


def _is_label_of(line: Line, amount: Line) -> bool:
    """Return whether a line is only a label with a colon, left of an amount and as high."""
    text = line.text.rstrip()
    is_label = text.endswith(":") and lexicon.wordbook(*_LABELS).is_all(text)
    shared = amount.box.y1 - line.box.y0
    is_close = shared > _LEAST_SHARED * min(line.box.height, amount.box.height)
    return is_label and is_close and line.box.x1 < amount.box.x0
