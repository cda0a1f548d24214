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
from recibo.extract.document import attachments, images, pages, sample_files
from recibo.extract.einvoices import EInvoice
from recibo.extract.errors import Blank, UnknownScript, Unreadable
from recibo.extract.fields import collect
from recibo.extract.layout import copies, lines, net_amounts, written_amounts
from recibo.extract.model import (
    Accuracy,
    Box,
    Code,
    DocumentType,
    Hint,
    Line,
    Page,
    Picture,
    Quality,
    Receipt,
    SeenPage,
    TextPage,
    Word,
)
from recibo.extract.ocr import preprocessing
from recibo.extract.ocr.engine import Engine, Reading
from recibo.extract.ocr.paddle.engine import PaddleEngine
from recibo.extract.ocr.runtime import Runtime
from recibo.extract.resolve import assemble, confidence, embedded, separate, vote
from recibo.extract.text import timestamps


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


#: So many pages are compared to find out whether they are documents of their own.
_MOST_COMPARED = 4
#: The expected duration of the next pass, as a multiple of the longest one so far. Passes at a
#: larger scale take 1.6 times as long to find words, and later ones read only uncertain words.
_NEXT_PASS_FACTOR = 1.6


@dataclass(frozen=True, slots=True)
class Pass:
    """One way to read a picture again."""

    scale: float = 1.0
    is_evenly_lit: bool = False


#: At high accuracy, after the first pass.
_FURTHER_PASSES = (Pass(scale=1.5), Pass(is_evenly_lit=True))


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
        accuracy: Standard reads each page once; high several times, with a vote, if a field is in
            doubt after the first time.
        runtime: The runtime that recognizes lines.
        budget: Limits the time of further passes at high accuracy; None means no limit.
        step: Called before each page, and before the search for fields.
        trace: Called with the duration of each stage.

    Raises:
        ReadingError: The file is refused, or nothing on it can be read.
    """
    stopwatch = _Stopwatch(trace, step, budget)
    by_page = _by_page(data, accuracy, runtime, stopwatch, hint=hint)
    stopwatch.step()
    with stopwatch("fields"):
        invoice = einvoices.find(attachments.xml(data))
        return understand(by_page, hint=hint, invoice=invoice)


def recognize(
    data: bytes, *, accuracy: Accuracy = Accuracy.STANDARD, runtime: Runtime = Runtime.AUTO
) -> Sequence[Sequence[TextPage]]:
    """Return the pages as text, each once per pass; this takes nearly all the time.

    At high accuracy there is one pass if it leaves no doubt, else all.

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
    if not invoice and _are_separate(first_passes, hint):
        combined = separate.in_doubt(combined)
        first_passes = _with_hint(first_passes, Hint.SEVERAL_DOCUMENTS)
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


def _are_separate(text_pages: Sequence[TextPage], hint: DocumentType | None) -> bool:
    """Return whether the first pages are documents of their own."""
    if len(text_pages) == 1:
        return False
    return separate.are_separate([_receipt([page], hint) for page in text_pages[:_MOST_COMPARED]])


def _with_hint(text_pages: Sequence[TextPage], hint: Hint) -> list[TextPage]:
    """Return pages with a hint on the first one; pages with text have no other quality."""
    first, *others = text_pages
    known = first.quality or Quality(None, 1.0, 0.0, (), None, ())
    return [replace(first, quality=replace(known, hints=(*known.hints, hint))), *others]


def _unreadable(text_pages: Sequence[TextPage]) -> Unreadable:
    measured = [page.quality for page in text_pages if page.quality]
    if any(Hint.UNSUPPORTED_SCRIPT in each.hints for each in measured):
        return UnknownScript()
    return Unreadable() if any(page.lines for page in text_pages) else Blank()


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
    timestamps.load()
    attachments.load()
    einvoices.load()
    for sample in sample_files.every():
        for page in pages.pages(sample):
            page.draw(1.0)
    stopwatch = _Stopwatch()
    for page in pages.pages(sample_files.picture()):
        _with_further_passes(page, _first_pass(page, runtime, stopwatch), runtime, stopwatch)
    extract(sample_files.picture(), runtime=runtime)
    extract(sample_files.text(), runtime=runtime)


@cache
def _engine(runtime: Runtime) -> Engine:
    return PaddleEngine(runtime)


@dataclass(frozen=True, slots=True)
class _FirstPass:
    """The first pass over a page."""

    text_page: TextPage
    #: None for a page with a text layer, which is not recognized.
    reading: Reading | None
    #: How long it took.
    seconds: float


def _by_page(
    data: bytes,
    accuracy: Accuracy,
    runtime: Runtime,
    stopwatch: "_Stopwatch",
    *,
    hint: DocumentType | None = None,
) -> list[list[TextPage]]:
    first = [_first_pass(page, runtime, stopwatch) for page in _pages(data, stopwatch)]
    text_pages = [one.text_page for one in first]
    if accuracy is Accuracy.STANDARD or not _are_in_doubt(text_pages, hint, stopwatch):
        return [[text_page] for text_page in text_pages]
    stopwatch.share(len(first))
    again = zip(_pages(data, stopwatch), first, strict=True)
    return [_with_further_passes(page, one, runtime, stopwatch) for page, one in again]


def _are_in_doubt(
    text_pages: Sequence[TextPage], hint: DocumentType | None, stopwatch: "_Stopwatch"
) -> bool:
    """Return whether another pass over recognized pages may correct a field."""
    if all(text_page.is_exact for text_page in text_pages):
        return False
    with stopwatch("fields"):
        return vote.is_in_doubt(_receipt(text_pages, hint))


def _pages(data: bytes, stopwatch: "_Stopwatch") -> Iterator[Page]:
    loaded = pages.pages(data)
    while True:
        stopwatch.step()
        with stopwatch("load"):
            page = next(loaded, None)
        if page is None:
            return
        yield page


def _first_pass(page: Page, runtime: Runtime, stopwatch: "_Stopwatch") -> _FirstPass:
    if page.layer:
        with stopwatch("lines"):
            rows = lines.lines(page.layer)
        with stopwatch("codes"):
            found = barcodes.find(page, _texts(rows), is_exact=True)
        return _FirstPass(_text_page(page, rows, found, is_exact=True), None, 0.0)
    start = time.process_time()
    picture = _picture(page, stopwatch)
    with stopwatch("words"):
        reading = _engine(runtime).read(picture)
    is_unknown = _is_unknown_script(reading)
    upright = preprocessing.turned(page, reading.turns)
    with stopwatch("lines"):
        rows = _lines(reading, page, picture, is_unknown=is_unknown)
    with stopwatch("codes"):
        found = barcodes.find(upright, _texts(rows), is_exact=False)
    shown = np.ascontiguousarray(np.rot90(picture, -reading.turns))
    seen = images.of(shown)
    with stopwatch("quality"):
        scale = upright.width / shown.shape[1]
        measured = quality.measure(shown, reading.words, dpi=page.dpi, scale=scale)
    if is_unknown:
        measured = replace(measured, hints=(*measured.hints, Hint.UNSUPPORTED_SCRIPT))
    text_page = replace(
        _text_page(upright, rows, found, is_exact=False),
        turns=reading.turns % 4,
        picture_hash=seen,
        quality=measured,
    )
    return _FirstPass(text_page, reading, time.process_time() - start)


def _with_further_passes(
    page: Page, first: _FirstPass, runtime: Runtime, stopwatch: "_Stopwatch"
) -> list[TextPage]:
    """Return a page once per pass, while there is time; later ones read only uncertain words."""
    text_pages = [first.text_page]
    if first.reading is not None:
        picture = _picture(page, stopwatch)
        is_unknown = _is_unknown_script(first.reading)
        for reading in _further_readings(picture, first, runtime, stopwatch):
            with stopwatch("lines"):
                rows = _lines(reading, page, picture, is_unknown=is_unknown)
            text_pages.append(replace(first.text_page, lines=rows))
    # The first pass counts again for each one without time, and on a page with a text layer.
    return text_pages + text_pages[:1] * (1 + len(_FURTHER_PASSES) - len(text_pages))


def _picture(page: Page, stopwatch: "_Stopwatch") -> Picture:
    with stopwatch("clean"):
        return page.draw(preprocessing.reading_scale(page))


def _is_unknown_script(reading: Reading) -> bool:
    return legibility.is_unknown_script(reading.words, reading.unread)


def _further_readings(
    picture: Picture, first: _FirstPass, runtime: Runtime, stopwatch: "_Stopwatch"
) -> Iterator[Reading]:
    earlier, longest_s = first.reading, first.seconds
    for reading_pass in _FURTHER_PASSES:
        expected_s = _NEXT_PASS_FACTOR * longest_s
        if not stopwatch.has_time_for(expected_s, first_pass_s=first.seconds):
            return
        start = time.process_time()
        with stopwatch("clean"):
            seen = preprocessing.evenly_lit(picture) if reading_pass.is_evenly_lit else picture
        with stopwatch("words"):
            earlier = _engine(runtime).read(seen, scale=reading_pass.scale, earlier=earlier)
        yield earlier
        longest_s = max(longest_s, time.process_time() - start)


def _lines(reading: Reading, page: Page, picture: Picture, *, is_unknown: bool) -> tuple[Line, ...]:
    """Return the lines of a page; in an unknown script without what is noise."""
    words = legibility.without_noise(reading.words) if is_unknown else reading.words
    upright = preprocessing.turned(page, reading.turns)
    height, width = picture.shape[:2] if reading.turns % 2 == 0 else picture.shape[1::-1]
    return lines.lines(_on_page(word, upright, width, height) for word in words)


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
    text_pages = [
        net_amounts.without(written_amounts.moved(copies.without(page))) for page in text_pages
    ]
    candidates = collect.collect(text_pages, hint=hint)
    receipt = assemble.assemble(candidates, hint=hint)
    return confidence.with_confidence(receipt, candidates, text_pages)


class _Stopwatch:
    """Times the stages and decides whether there is time for another pass."""

    def __init__(
        self,
        trace: Trace | None = None,
        step: Callable[[], None] | None = None,
        budget: TimeBudget | None = None,
    ) -> None:
        self._trace = trace
        self._step = step
        self._budget = budget
        self._pages_left = 0
        self._share_s = math.inf
        self._start = self._page_start = time.process_time()

    def share(self, count: int) -> None:
        """Divide the time that is left among this many pages."""
        self._pages_left = count

    def has_time_for(self, pass_s: float, *, first_pass_s: float) -> bool:
        """Return whether a further pass of this duration over the page ends in time."""
        seconds = time.process_time() - self._page_start + pass_s
        page_s = self._budget.page_s if self._budget else math.inf
        return seconds < self._share_s and first_pass_s + seconds < page_s

    def step(self) -> None:
        """Start a page, or the stages after the last one."""
        self._page_start = time.process_time()
        if self._budget:
            left_s = self._budget.document_s - (self._page_start - self._start)
            self._share_s = left_s / max(1, self._pages_left)
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
