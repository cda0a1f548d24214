"""Loads the pages of a PDF: their text, and functions that draw them."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from recibo.extract.document import limits, text_layer
from recibo.extract.document.pdf_letters import Frame, Glyph, glyphs
from recibo.extract.errors import Damaged, Encrypted, InvalidDocument, Unreadable
from recibo.extract.model import Gray, Page, Picture

#: The resolution of a page at scale 1, enough for every printed letter.
DPI = 200

_POINTS_PER_INCH = 72

#: The largest size at which a page is drawn: A3 at 300 dpi.
_MAX_DRAWN_PIXELS = 18_000_000

#: A page is a scan if pictures cover more than this share of it; its text is a scanner's stamp if
#: it has at most this many letters.
_SCAN_SHARE = 0.5
_MAX_STAMP_LETTERS = 200

#: Pictures may be in nested forms; deeper ones are not a scan.
_MAX_NESTING = 3

_SECURITY_ERRORS = frozenset({pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY})

# Draw text whose font is not embedded in one of pdfium's own fonts. It would look for those of the
# system, which differ, and which a reader process may list before it enters its sandbox but not
# open afterwards: letters without a height would be left.
pdfium_c.FPDF_SetSystemFontInfo(None)


def is_pdf(data: bytes) -> bool:
    """Return whether the bytes are a PDF, perhaps after blank lines."""
    try:
        _open(data)
    except Unreadable:
        return False
    except InvalidDocument:
        return True
    return True


def page_count(data: bytes) -> int:
    """Count the pages and check the pictures on each by their headers.

    Raises:
        Encrypted, Unreadable, TooManyPages, TooManyPixels: The document is refused.
    """
    document, count = _open(data)
    for index in range(count):
        _images(_load_page(document, index))
    return count


def pages(data: bytes) -> Iterator[Page]:
    """Yield the pages of a PDF. pdfium is not thread-safe: one document at a time."""
    document, count = _open(data)
    for index in range(count):
        yield _page(_load_page(document, index), number=index + 1)


def page(data: bytes, number: int) -> Page | None:
    """Return one page; None if there are fewer."""
    document, count = _open(data)
    if not 1 <= number <= count:
        return None
    return _page(_load_page(document, number - 1), number=number)


def _open(data: bytes) -> tuple[pdfium.PdfDocument, int]:
    """Open a PDF and count its pages; it is closed when it is garbage-collected.

    A PDF without a password is read even if its author restricted its use.
    """
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        raise (Encrypted if error.err_code in _SECURITY_ERRORS else Damaged) from error
    if document.get_formtype() != pdfium_c.FORMTYPE_NONE:
        document.init_forms()
    count = _count(document)
    limits.check_pages(count)
    return document, count


def _count(document: pdfium.PdfDocument) -> int:
    """Return the number of pages: at most as many as the file claims, and the last one opens."""
    claimed = len(document)
    if claimed <= 1 or _has(document, claimed - 1):
        return claimed
    # The claim may be wrong. One page more than the limit shows that there are too many.
    there = [index for index in range(min(claimed, limits.MAX_PAGES + 1)) if _has(document, index)]
    return there[-1] + 1 if there else 1


def _has(document: pdfium.PdfDocument, index: int) -> bool:
    try:
        document[index]
    except pdfium.PdfiumError:
        return False
    return True


def _load_page(document: pdfium.PdfDocument, index: int) -> pdfium.PdfPage:
    """Open a page, with the values of its form fields as part of it."""
    try:
        page = document[index]
        if document.get_formtype() != pdfium_c.FORMTYPE_NONE:
            page.flatten()
            page = document[index]
    except pdfium.PdfiumError as error:
        raise Damaged from error
    return page


def _page(page: pdfium.PdfPage, *, number: int) -> Page:
    limits.check_shape(page.get_width(), page.get_height())
    images = _images(page)
    scale = _scale(page, images)
    text = page.get_textpage()
    frame = _frame(page, scale=scale, turns=0)
    letters = list(glyphs(text, frame))
    is_text = text_layer.is_trustworthy(letters) and not _is_stamped_scan(images, letters)
    turns = -text_layer.main_turns(letters) % 4 if is_text else 0
    if turns:
        frame = _frame(page, scale=scale, turns=turns)
        letters = list(glyphs(text, frame))
    return Page(
        number=number,
        width=frame.width,
        height=frame.height,
        draw=_drawer(page, scale=scale, turns=turns),
        draw_gray=_gray_drawer(page, scale=scale, turns=turns),
        layer=text_layer.words(letters, page=number) if is_text else (),
        dpi=scale * _POINTS_PER_INCH,
    )


@dataclass(frozen=True, slots=True)
class _Image:
    """A picture on a page."""

    #: Pixels of the picture per point of the page.
    scale: float
    #: The share of the page that it covers, 0 to 1.
    share: float


def _images(page: pdfium.PdfPage) -> list[_Image]:
    """Return the pictures on a page without decoding them.

    Raises:
        TooManyPixels: One of them is too large.
    """
    page_area = page.get_width() * page.get_height()
    found = []
    for drawn in page.get_objects([pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=_MAX_NESTING):
        width, height = drawn.get_px_size()
        limits.check_pixels(width, height)
        left, bottom, right, top = drawn.get_bounds()
        area = max((right - left) * (top - bottom), 1.0)
        found.append(_Image(math.sqrt(width * height / area), area / page_area))
    return found


def _scale(page: pdfium.PdfPage, images: Sequence[_Image]) -> float:
    """Return the pixels per point of a page at scale 1."""
    wanted = DPI / _POINTS_PER_INCH
    if _is_scan(images):
        # In files of phone scanners a pixel is a point. A fixed resolution would enlarge them, and
        # shrink scans of a higher resolution.
        wanted = max(images, key=lambda image: image.share).scale
    return min(wanted, _largest_scale(page))


def _largest_scale(page: pdfium.PdfPage) -> float:
    return math.sqrt(_MAX_DRAWN_PIXELS / max(1.0, page.get_width() * page.get_height()))


def _is_scan(images: Sequence[_Image]) -> bool:
    return sum(image.share for image in images) > _SCAN_SHARE


def _is_stamped_scan(images: Sequence[_Image], letters: Sequence[Glyph]) -> bool:
    """Return whether the text of a page is only a stamp that a scanner added."""
    return _is_scan(images) and len(letters) <= _MAX_STAMP_LETTERS


def _frame(page: pdfium.PdfPage, *, scale: float, turns: int) -> Frame:
    width, height = page.get_width() * scale, page.get_height() * scale
    if turns % 2:
        width, height = height, width
    return Frame(page, width=math.ceil(width), height=math.ceil(height), turns=turns)


def _drawer(page: pdfium.PdfPage, *, scale: float, turns: int) -> Callable[[float], Picture]:
    """Return a function that draws the page at a multiple of `scale`, rotated by `turns`."""

    def draw(times: float) -> Picture:
        # pdfium draws twice as fast in its own channel order.
        drawn = _drawn(page, scale * times, turns=turns)
        return np.asarray(cv2.cvtColor(drawn, cv2.COLOR_BGR2RGB), dtype=np.uint8)

    return draw


def _gray_drawer(page: pdfium.PdfPage, *, scale: float, turns: int) -> Callable[[float], Gray]:
    """Return a function that draws the page in gray, in a third of the time."""

    def draw(times: float) -> Gray:
        return _drawn(page, scale * times, turns=turns, is_gray=True)

    return draw


def _drawn(
    page: pdfium.PdfPage, scale: float, *, turns: int, is_gray: bool = False
) -> npt.NDArray[np.uint8]:
    """Draw a page in pdfium's channel order, or in gray."""
    bitmap = page.render(
        scale=min(scale, _largest_scale(page)), rotation=90 * turns, grayscale=is_gray
    )
    return np.asarray(bitmap.to_numpy(), dtype=np.uint8)
