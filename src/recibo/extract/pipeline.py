"""Reads a document: the stages in order."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from recibo.extract import barcodes, resources
from recibo.extract.brazil import states
from recibo.extract.document import pages, sample_files
from recibo.extract.errors import Unreadable
from recibo.extract.fields import collect
from recibo.extract.layout import lines
from recibo.extract.model import (
    Accuracy,
    Box,
    Code,
    DocumentType,
    Line,
    Page,
    Picture,
    Receipt,
    TextPage,
    Word,
)
from recibo.extract.ocr import preprocessing
from recibo.extract.ocr.engine import Engine, Reading
from recibo.extract.ocr.paddle.engine import PaddleEngine
from recibo.extract.ocr.runtime import Runtime
from recibo.extract.resolve import assemble, confidence, vote
from recibo.extract.text import time_zones


class Trace(Protocol):
    """Is told how long each stage took, once a page for the stages that go by pages."""

    def __call__(self, stage: str, seconds: float, /) -> None:
        """Take note of a stage."""
        ...


@dataclass(frozen=True, slots=True)
class Spare:
    """What further looks may make a page and a document take, processor seconds.

    Every page is read once, whatever it takes: less would be another document's record.
    """

    page_s: float
    document_s: float


#: How many times as long as the longest look so far the next one may take. Finer looks take 1.6
#: times as long to find words, and later ones read only those in doubt.
_LONGER = 1.6


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
    spare: Spare | None = None,
    step: Callable[[], None] | None = None,
    trace: Trace | None = None,
) -> Receipt:
    """Read one document.

    Args:
        data: The file.
        hint: What the sender takes it for; it breaks ties and never overrides the paper.
        accuracy: Standard reads each page once, high several times with a vote.
        runtime: What runs the recognition of lines.
        spare: When high accuracy has no more time for further looks; None: never.
        step: Called before each page, and before the fields are looked for.
        trace: Is told the time of each stage.

    Raises:
        ReadingError: The file is refused, or nothing on it can be read.
    """
    watch = _Watch(trace, step)
    if spare:
        watch.share(spare, pages.inspect(data).page_count)
    by_page = _by_page(data, accuracy, runtime, watch)
    watch.step()
    with watch("fields"):
        return understand(by_page, hint=hint)


def recognise(
    data: bytes, *, accuracy: Accuracy = Accuracy.STANDARD, runtime: Runtime = Runtime.AUTO
) -> Sequence[Sequence[TextPage]]:
    """Return the pages as text, each once for each look: what takes nearly all the time.

    Raises:
        ReadingError: The file is refused.
    """
    return _by_page(data, accuracy, runtime, _Watch())


def understand(
    by_page: Sequence[Sequence[TextPage]], *, hint: DocumentType | None = None
) -> Receipt:
    """Return the receipt that recognised pages make.

    Raises:
        Unreadable: They hold nothing that a receipt shows.
    """
    readings = [_receipt(text_pages, hint) for text_pages in zip(*by_page, strict=True)]
    settled = vote.settle(readings)
    receipt = replace(settled, confidence=confidence.of_whole(settled))
    if not _shows_anything(receipt):
        raise Unreadable
    return receipt


def _shows_anything(receipt: Receipt) -> bool:
    """Tell whether a receipt holds anything that it is of use for: a number alone is not."""
    amounts = (receipt.total, receipt.subtotal)
    seller = (receipt.merchant_name, receipt.merchant_tax_id)
    rest = (receipt.issued_at, receipt.document_key, receipt.line_items)
    return any((*amounts, *seller, *rest))


def warm(runtime: Runtime = Runtime.AUTO) -> None:
    """Load the recognition models, so that the first reading does not wait for them.

    Raises:
        MissingModel: The installation lacks them, or the runtime that was asked for.
    """
    _engine(runtime)


def prepare(runtime: Runtime = Runtime.AUTO) -> None:
    """Load whatever any document may need; reading then opens no file and imports no module.

    Raises:
        MissingModel: The installation lacks the models, or the runtime that was asked for.
    """
    warm(runtime)
    resources.load()
    states.load()
    time_zones.load()
    for sample in sample_files.every():
        for page in pages.pages(sample):
            page.draw(1.0)
    extract(sample_files.picture(), accuracy=Accuracy.HIGH, runtime=runtime)
    extract(sample_files.text(), runtime=runtime)


@cache
def _engine(runtime: Runtime) -> Engine:
    return PaddleEngine(runtime)


def _by_page(
    data: bytes, accuracy: Accuracy, runtime: Runtime, watch: "_Watch"
) -> list[list[TextPage]]:
    looks = _LOOKS[accuracy]
    return [_sheets(page, looks, runtime, watch) for page in _pages(data, watch)]


def _pages(data: bytes, watch: "_Watch") -> Iterator[Page]:
    loaded = pages.pages(data)
    while True:
        watch.step()
        with watch("load"):
            page = next(loaded, None)
        if page is None:
            return
        yield page


def _sheets(page: Page, looks: Sequence[Look], runtime: Runtime, watch: "_Watch") -> list[TextPage]:
    """Read a page once for each look; a text layer reads the same every time."""
    if page.layer:
        with watch("lines"):
            rows = lines.lines(page.layer)
        with watch("codes"):
            found = barcodes.find(page, _texts(rows), is_exact=True)
        return [_sheet(page, rows, found, is_exact=True)] * len(looks)
    with watch("clean"):
        picture = page.draw(preprocessing.reading_scale(page))
    readings = _readings(picture, looks, runtime, watch)
    turns = readings[0].turns
    upright = preprocessing.turned(page, turns)
    height, width = picture.shape[:2] if turns % 2 == 0 else picture.shape[1::-1]
    with watch("lines"):
        texts = [
            lines.lines(_placed(word, upright, width, height) for word in reading.words)
            for reading in readings
        ]
    with watch("codes"):
        found = barcodes.find(upright, _texts(texts[0]), is_exact=False)
    text_pages = [_sheet(upright, rows, found, is_exact=False) for rows in texts]
    # Where there was no time for a look, the first one counts once more.
    return text_pages + text_pages[:1] * (len(looks) - len(text_pages))


def _readings(
    picture: Picture, looks: Sequence[Look], runtime: Runtime, watch: "_Watch"
) -> list[Reading]:
    """Read a picture once for each look there is time for; later ones read what is in doubt."""
    readings: list[Reading] = []
    longest_s = 0.0
    for look in looks:
        if readings and not watch.has_time_for(_LONGER * longest_s):
            break
        start = time.process_time()
        with watch("clean"):
            seen = preprocessing.flattened(picture) if look.is_flattened else picture
        with watch("words"):
            earlier = readings[-1] if readings else None
            readings.append(_engine(runtime).read(seen, fineness=look.fineness, earlier=earlier))
        longest_s = max(longest_s, time.process_time() - start)
    return readings


def _placed(word: Word, page: Page, width: int, height: int) -> Word:
    """Return a word read on a picture of this size in the pixels of its page."""
    across, down = page.width / width, page.height / height
    box = word.box
    placed = Box(box.x0 * across, box.y0 * down, box.x1 * across, box.y1 * down)
    return replace(word, box=placed, page=page.number)


def _texts(rows: Iterable[Line]) -> list[str]:
    return [row.text for row in rows]


def _sheet(
    page: Page, rows: tuple[Line, ...], found: tuple[Code, ...], *, is_exact: bool
) -> TextPage:
    return TextPage(page.number, page.width, page.height, rows, found, is_exact)


def _receipt(text_pages: Sequence[TextPage], hint: DocumentType | None) -> Receipt:
    findings = collect.collect(text_pages, hint=hint)
    receipt = assemble.assemble(findings, hint=hint)
    return confidence.weighed(receipt, findings, text_pages)


class _Watch:
    """Times the stages and knows whether there is time for more than is needed."""

    def __init__(self, trace: Trace | None = None, step: Callable[[], None] | None = None) -> None:
        self._trace = trace
        self._step = step
        self._spare: Spare | None = None
        self._pages_left = 0
        self._page_limit_s = math.inf
        self._start = self._page_start = time.process_time()

    def share(self, spare: Spare, count: int) -> None:
        """Divide the time there is among so many pages."""
        self._spare = spare
        self._pages_left = count

    def has_time_for(self, look_s: float) -> bool:
        """Whether a look that takes so long ends in time."""
        return time.process_time() - self._page_start + look_s < self._page_limit_s

    def step(self) -> None:
        """Note that a page begins, or what comes after the last."""
        self._page_start = time.process_time()
        if self._spare:
            left_s = self._spare.document_s - (self._page_start - self._start)
            self._page_limit_s = min(self._spare.page_s, left_s / max(1, self._pages_left))
            self._pages_left -= 1
        if self._step:
            self._step()

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Tell the trace how long a stage takes."""
        start = time.perf_counter()
        yield
        if self._trace:
            self._trace(stage, time.perf_counter() - start)
