"""Extracts a receipt from a document: all stages in order."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np

from recibo.extract import barcodes, einvoices, legibility, quality, resources
from recibo.extract.brazil import states
from recibo.extract.document import attachments, pages, picture_hash, sample_files
from recibo.extract.einvoices import EInvoice
from recibo.extract.errors import UnknownScript, Unreadable
from recibo.extract.fields import collect
from recibo.extract.layout import lines
from recibo.extract.model import (
    Accuracy,
    Box,
    Code,
    DocumentType,
    Hint,
    Line,
    Page,
    Picture,
    Receipt,
    SeenPage,
    TextPage,
    Word,
)
from recibo.extract.ocr import preprocessing
from recibo.extract.ocr.engine import Engine, Reading
from recibo.extract.ocr.paddle.engine import PaddleEngine
from recibo.extract.ocr.runtime import Runtime
from recibo.extract.resolve import assemble, confidence, embedded, vote
from recibo.extract.text import time_zones


class Trace(Protocol):
    """Called with the duration of each stage, once per page for stages that work on pages."""

    def __call__(self, stage: str, seconds: float, /) -> None:
        """Record the duration of a stage."""
        ...


@dataclass(frozen=True, slots=True)
class TimeBudget:
    """The processor seconds that a page and a document may take; further passes end in time.

    Every page is read once, however long it takes.
    """

    page_s: float
    document_s: float


#: The expected duration of the next pass, as a multiple of the longest one so far. Passes at a
#: larger scale take 1.6 times as long to find words, and later ones read only uncertain words.
_NEXT_PASS_FACTOR = 1.6


@dataclass(frozen=True, slots=True)
class Pass:
    """One way to read a picture."""

    scale: float = 1.0
    is_evenly_lit: bool = False


_PASSES: dict[Accuracy, tuple[Pass, ...]] = {
    Accuracy.STANDARD: (Pass(),),
    Accuracy.HIGH: (Pass(), Pass(scale=1.5), Pass(is_evenly_lit=True)),
}


def extract(
    data: bytes,
    *,
    hint: DocumentType | None = None,
    accuracy: Accuracy = Accuracy.STANDARD,
    runtime: Runtime = Runtime.AUTO,
    budget: TimeBudget | None = None,
    step: Callable[[], None] | None = None,
    trace: Trace | None = None,
) -> Receipt:
    """Read one document.

    Args:
        data: The file.
        hint: The type that the sender expects; it breaks ties and never overrides the document.
        accuracy: Standard reads each page once, high several times, with a vote.
        runtime: The runtime that recognizes lines.
        budget: Limits the time of further passes at high accuracy; None means no limit.
        step: Called before each page, and before the search for fields.
        trace: Called with the duration of each stage.

    Raises:
        ReadingError: The file is refused, or nothing on it can be read.
    """
    stopwatch = _Stopwatch(trace, step)
    if budget:
        stopwatch.share(budget, pages.inspect(data).page_count)
    by_page = _by_page(data, accuracy, runtime, stopwatch)
    stopwatch.step()
    with stopwatch("fields"):
        invoice = einvoices.find(attachments.xml(data))
        return understand(by_page, hint=hint, invoice=invoice)


def recognize(
    data: bytes, *, accuracy: Accuracy = Accuracy.STANDARD, runtime: Runtime = Runtime.AUTO
) -> Sequence[Sequence[TextPage]]:
    """Return the pages as text, each once per pass; this takes nearly all the time.

    Raises:
        ReadingError: The file is refused.
    """
    return _by_page(data, accuracy, runtime, _Stopwatch())


def understand(
    by_page: Sequence[Sequence[TextPage]],
    *,
    hint: DocumentType | None = None,
    invoice: EInvoice | None = None,
) -> Receipt:
    """Return the receipt on recognized pages, or of the e-invoice that their file embeds.

    Raises:
        Unreadable: They contain no field of a receipt, or are in an unknown script.
    """
    readings = [_receipt(text_pages, hint) for text_pages in zip(*by_page, strict=True)]
    combined = vote.combine(readings)
    if invoice:
        combined = embedded.merged(combined, invoice)
    first_passes = [passes[0] for passes in by_page]
    receipt = replace(
        combined,
        confidence=confidence.of_whole(combined),
        pages=tuple(
            SeenPage(page.width, page.height, page.turns, page.quality) for page in first_passes
        ),
        picture_hash=first_passes[0].picture_hash if first_passes else None,
    )
    if not _shows_anything(receipt):
        raise _unreadable(first_passes)
    return receipt


def _unreadable(text_pages: Sequence[TextPage]) -> Unreadable:
    measured = [page.quality for page in text_pages if page.quality]
    if any(Hint.UNSUPPORTED_SCRIPT in each.hints for each in measured):
        return UnknownScript()
    return Unreadable()


def _shows_anything(receipt: Receipt) -> bool:
    """Return whether a receipt has a useful field; a document number alone is not useful."""
    amounts = (receipt.total, receipt.subtotal)
    seller = (receipt.merchant_name, receipt.merchant_tax_id)
    rest = (receipt.issued_at, receipt.document_key, receipt.line_items)
    return any((*amounts, *seller, *rest))


def warm(runtime: Runtime = Runtime.AUTO) -> None:
    """Load the recognition models, so that the first reading does not wait for them.

    Raises:
        MissingModel: The installation lacks them, or the requested runtime.
    """
    _engine(runtime)


def prepare(runtime: Runtime = Runtime.AUTO) -> None:
    """Load everything that a document may need, so reading opens no file and imports no module.

    Raises:
        MissingModel: The installation lacks the models, or the requested runtime.
    """
    warm(runtime)
    resources.load()
    states.load()
    time_zones.load()
    attachments.load()
    einvoices.load()
    for sample in sample_files.every():
        for page in pages.pages(sample):
            page.draw(1.0)
    extract(sample_files.picture(), accuracy=Accuracy.HIGH, runtime=runtime)
    extract(sample_files.text(), runtime=runtime)


@cache
def _engine(runtime: Runtime) -> Engine:
    return PaddleEngine(runtime)


def _by_page(
    data: bytes, accuracy: Accuracy, runtime: Runtime, stopwatch: "_Stopwatch"
) -> list[list[TextPage]]:
    passes = _PASSES[accuracy]
    return [_text_pages(page, passes, runtime, stopwatch) for page in _pages(data, stopwatch)]


def _pages(data: bytes, stopwatch: "_Stopwatch") -> Iterator[Page]:
    loaded = pages.pages(data)
    while True:
        stopwatch.step()
        with stopwatch("load"):
            page = next(loaded, None)
        if page is None:
            return
        yield page


def _text_pages(
    page: Page, passes: Sequence[Pass], runtime: Runtime, stopwatch: "_Stopwatch"
) -> list[TextPage]:
    """Read a page once per pass; a text layer needs only one."""
    if page.layer:
        with stopwatch("lines"):
            rows = lines.lines(page.layer)
        with stopwatch("codes"):
            found = barcodes.find(page, _texts(rows), is_exact=True)
        return [_text_page(page, rows, found, is_exact=True)] * len(passes)
    with stopwatch("clean"):
        picture = page.draw(preprocessing.reading_scale(page))
    readings = _readings(picture, passes, runtime, stopwatch)
    turns = readings[0].turns
    upright = preprocessing.turned(page, turns)
    height, width = picture.shape[:2] if turns % 2 == 0 else picture.shape[1::-1]
    is_unknown = legibility.is_unknown_script(readings[0].words, readings[0].unread)
    with stopwatch("lines"):
        texts = [
            lines.lines(_on_page(word, upright, width, height) for word in words)
            for words in _legible(readings, is_unknown=is_unknown)
        ]
    with stopwatch("codes"):
        found = barcodes.find(upright, _texts(texts[0]), is_exact=False)
    shown = np.ascontiguousarray(np.rot90(picture, -turns))
    seen = picture_hash.of(shown)
    with stopwatch("quality"):
        measured = quality.measure(
            shown, readings[0].words, dpi=page.dpi, scale=upright.width / width
        )
    if is_unknown:
        measured = replace(measured, hints=(*measured.hints, Hint.UNSUPPORTED_SCRIPT))
    text_pages = [
        replace(
            _text_page(upright, rows, found, is_exact=False),
            turns=turns % 4,
            picture_hash=seen,
            quality=measured,
        )
        for rows in texts
    ]
    # If there was no time for a pass, the first one counts again.
    return text_pages + text_pages[:1] * (len(passes) - len(text_pages))


def _readings(
    picture: Picture, passes: Sequence[Pass], runtime: Runtime, stopwatch: "_Stopwatch"
) -> list[Reading]:
    """Read a picture once per pass, while there is time; later ones read only uncertain words."""
    readings: list[Reading] = []
    longest_s = 0.0
    for reading_pass in passes:
        if readings and not stopwatch.has_time_for(_NEXT_PASS_FACTOR * longest_s):
            break
        start = time.process_time()
        with stopwatch("clean"):
            seen = preprocessing.evenly_lit(picture) if reading_pass.is_evenly_lit else picture
        with stopwatch("words"):
            earlier = readings[-1] if readings else None
            readings.append(_engine(runtime).read(seen, scale=reading_pass.scale, earlier=earlier))
        longest_s = max(longest_s, time.process_time() - start)
    return readings


def _legible(readings: Sequence[Reading], *, is_unknown: bool) -> Iterator[tuple[Word, ...]]:
    """Yield the words of each pass; on a page in an unknown script without what is noise."""
    for reading in readings:
        yield legibility.without_noise(reading.words) if is_unknown else reading.words


def _on_page(word: Word, page: Page, width: int, height: int) -> Word:
    """Convert a word on a picture of this size to the pixels of its page."""
    across, down = page.width / width, page.height / height
    box = word.box
    placed = Box(box.x0 * across, box.y0 * down, box.x1 * across, box.y1 * down)
    return replace(word, box=placed, page=page.number)


def _texts(rows: Iterable[Line]) -> list[str]:
    return [row.text for row in rows]


def _text_page(
    page: Page, rows: tuple[Line, ...], found: tuple[Code, ...], *, is_exact: bool
) -> TextPage:
    return TextPage(page.number, page.width, page.height, rows, found, is_exact)


def _receipt(text_pages: Sequence[TextPage], hint: DocumentType | None) -> Receipt:
    candidates = collect.collect(text_pages, hint=hint)
    receipt = assemble.assemble(candidates, hint=hint)
    return confidence.with_confidence(receipt, candidates, text_pages)


class _Stopwatch:
    """Times the stages and decides whether there is time for another pass."""

    def __init__(self, trace: Trace | None = None, step: Callable[[], None] | None = None) -> None:
        self._trace = trace
        self._step = step
        self._budget: TimeBudget | None = None
        self._pages_left = 0
        self._page_limit_s = math.inf
        self._start = self._page_start = time.process_time()

    def share(self, budget: TimeBudget, count: int) -> None:
        """Divide a time budget among this many pages."""
        self._budget = budget
        self._pages_left = count

    def has_time_for(self, pass_s: float) -> bool:
        """Return whether a pass of this duration ends in time."""
        return time.process_time() - self._page_start + pass_s < self._page_limit_s

    def step(self) -> None:
        """Start a page, or the stages after the last one."""
        self._page_start = time.process_time()
        if self._budget:
            left_s = self._budget.document_s - (self._page_start - self._start)
            self._page_limit_s = min(self._budget.page_s, left_s / max(1, self._pages_left))
            self._pages_left -= 1
        if self._step:
            self._step()

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Report the duration of a stage to the trace."""
        start = time.perf_counter()
        yield
        if self._trace:
            self._trace(stage, time.perf_counter() - start)
