"""Reads a document: the stages in order."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from recibo.extract import assemble, clean, codes, confidence, lines, vote
from recibo.extract.engines.paddle.engine import PaddleEngine
from recibo.extract.engines.port import Engine, Reading
from recibo.extract.errors import Unreadable
from recibo.extract.fields import collect
from recibo.extract.load import pages
from recibo.extract.model import (
    Accuracy,
    Box,
    Code,
    DocumentType,
    Line,
    Page,
    Picture,
    Receipt,
    Sheet,
    Word,
)
from recibo.extract.runtime import Runtime


class Trace(Protocol):
    """Is told how long each stage took, once a page for the stages that go by pages."""

    def __call__(self, stage: str, seconds: float, /) -> None:
        """Take note of a stage."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """One way of looking at a picture."""

    fineness: float = 1.0
    is_flattened: bool = False


_LOOKS: dict[Accuracy, tuple[Look, ...]] = {
    Accuracy.STANDARD: (Look(),),
    Accuracy.HIGH: (Look(), Look(fineness=1.5), Look(is_flattened=True)),
}


def extract(
    data: bytes,
    *,
    hint: DocumentType | None = None,
    accuracy: Accuracy = Accuracy.STANDARD,
    runtime: Runtime = Runtime.AUTO,
    budget_s: float | None = None,
    trace: Trace | None = None,
) -> Receipt:
    """Read one document.

    Args:
        data: The file.
        hint: What the sender takes it for; it breaks ties and never overrides the paper.
        accuracy: Standard reads each page once, high several times with a vote.
        runtime: What runs the recognition of lines.
        budget_s: Seconds; a page that is not begun by then is left out, the first one never.
        trace: Is told the time of each stage.

    Raises:
        ReadingError: The file is refused, or nothing on it can be read.
    """
    watch = _Watch(trace, budget_s)
    by_page = _by_page(data, accuracy, runtime, watch)
    with watch("fields"):
        return understand(by_page, hint=hint)


def recognise(
    data: bytes, *, accuracy: Accuracy = Accuracy.STANDARD, runtime: Runtime = Runtime.AUTO
) -> Sequence[Sequence[Sheet]]:
    """Return the pages as text, each once for each look: what takes nearly all the time.

    Raises:
        ReadingError: The file is refused.
    """
    return _by_page(data, accuracy, runtime, _Watch(None, None))


def understand(by_page: Sequence[Sequence[Sheet]], *, hint: DocumentType | None = None) -> Receipt:
    """Return the receipt that recognised pages make.

    Raises:
        Unreadable: They hold nothing that a receipt shows.
    """
    readings = [_receipt(sheets, hint) for sheets in zip(*by_page, strict=True)]
    settled = vote.settle(readings)
    receipt = replace(settled, confidence=confidence.of_whole(settled))
    if not (receipt.total or receipt.issued_at or receipt.merchant_name or receipt.document_key):
        raise Unreadable
    return receipt


def warm(runtime: Runtime = Runtime.AUTO) -> None:
    """Load the recognition models, so that the first reading does not wait for them.

    Raises:
        MissingModel: The installation lacks them, or the runtime that was asked for.
    """
    _engine(runtime)


@cache
def _engine(runtime: Runtime) -> Engine:
    return PaddleEngine(runtime)


def _by_page(
    data: bytes, accuracy: Accuracy, runtime: Runtime, watch: "_Watch"
) -> list[list[Sheet]]:
    looks = _LOOKS[accuracy]
    return [_sheets(page, looks, runtime, watch) for page in _pages(data, watch)]


def _pages(data: bytes, watch: "_Watch") -> Iterator[Page]:
    """Yield the pages that there is time for."""
    loaded = pages.pages(data)
    while True:
        with watch("load"):
            page = next(loaded, None)
        if page is None or (page.number > 1 and watch.is_over):
            return
        yield page


def _sheets(page: Page, looks: Sequence[Look], runtime: Runtime, watch: "_Watch") -> list[Sheet]:
    """Read a page once for each look; a text layer reads the same every time."""
    if page.layer:
        with watch("lines"):
            rows = lines.lines(page.layer)
        with watch("codes"):
            found = codes.find(page, _texts(rows), is_exact=True)
        return [_sheet(page, rows, found, is_exact=True)] * len(looks)
    with watch("clean"):
        picture = page.draw(clean.reading_scale(page))
    readings = _readings(picture, looks, runtime, watch)
    turns = readings[0].turns
    upright = clean.turned(page, turns)
    height, width = picture.shape[:2] if turns % 2 == 0 else picture.shape[1::-1]
    with watch("lines"):
        texts = [
            lines.lines(_placed(word, upright, width, height) for word in reading.words)
            for reading in readings
        ]
    with watch("codes"):
        found = codes.find(upright, _texts(texts[0]), is_exact=False)
    return [_sheet(upright, rows, found, is_exact=False) for rows in texts]


def _readings(
    picture: Picture, looks: Sequence[Look], runtime: Runtime, watch: "_Watch"
) -> list[Reading]:
    """Read a picture once for each look; the later ones read what is in doubt."""
    readings: list[Reading] = []
    for look in looks:
        with watch("clean"):
            seen = clean.flattened(picture) if look.is_flattened else picture
        with watch("words"):
            earlier = readings[-1] if readings else None
            readings.append(_engine(runtime).read(seen, fineness=look.fineness, earlier=earlier))
    return readings


def _placed(word: Word, page: Page, width: int, height: int) -> Word:
    """Return a word read on a picture of this size in the pixels of its page."""
    across, down = page.width / width, page.height / height
    box = word.box
    placed = Box(box.x0 * across, box.y0 * down, box.x1 * across, box.y1 * down)
    return replace(word, box=placed, page=page.number)


def _texts(rows: Iterable[Line]) -> list[str]:
    return [row.text for row in rows]


def _sheet(page: Page, rows: tuple[Line, ...], found: tuple[Code, ...], *, is_exact: bool) -> Sheet:
    return Sheet(page.number, page.width, page.height, rows, found, is_exact)


def _receipt(sheets: Sequence[Sheet], hint: DocumentType | None) -> Receipt:
    findings = collect.collect(sheets, hint=hint)
    receipt = assemble.assemble(findings, hint=hint)
    return confidence.weighed(receipt, findings, sheets)


class _Watch:
    """Times the stages and knows when the time is over."""

    def __init__(self, trace: Trace | None, budget_s: float | None) -> None:
        self._trace = trace
        self._end = math.inf if budget_s is None else time.monotonic() + budget_s

    @property
    def is_over(self) -> bool:
        """Whether the time for the reading has run out."""
        return time.monotonic() >= self._end

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Tell the trace how long a stage takes."""
        start = time.perf_counter()
        yield
        if self._trace:
            self._trace(stage, time.perf_counter() - start)
