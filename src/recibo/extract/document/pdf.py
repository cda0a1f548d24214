"""The pages of a PDF: their text, and how to draw them."""

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
from recibo.extract.model import Grey, Page, Picture

#: The resolution at which a page counts as drawn at scale 1: enough for every printed letter.
DPI = 200

_POINTS_PER_INCH = 72

#: A page is never drawn larger, whatever size it claims: 300 dpi of A3.
_MAX_DRAWN_PIXELS = 18_000_000

#: A page whose pictures cover more of it is a scan; fewer letters on it than the second figure
#: are a scanner's stamp.
_SCAN_SHARE = 0.5
_MAX_STAMP_LETTERS = 200

#: Pictures may stand in forms within forms; deeper ones are no scan.
_MAX_NESTING = 3

_SECURITY_ERRORS = frozenset({pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY})


def opens(data: bytes) -> bool:
    """Tell whether the bytes are a PDF, if only after some blank lines."""
    try:
        _opened(data)
    except Unreadable:
        return False
    except InvalidDocument:
        return True
    return True


def page_count(data: bytes) -> int:
    """Count the pages and test the pictures on each by their headers.

    Raises:
        Encrypted, Unreadable, TooManyPages, TooManyPixels: The document is refused.
    """
    document, count = _opened(data)
    for index in range(count):
        _images(_sheet(document, index))
    return count


def pages(data: bytes) -> Iterator[Page]:
    """Yield the pages of a PDF. pdfium is not made for threads: one document at a time."""
    document, count = _opened(data)
    for index in range(count):
        yield _page(_sheet(document, index), number=index + 1)


def _opened(data: bytes) -> tuple[pdfium.PdfDocument, int]:
    """Open a PDF and count its pages; it closes when nothing refers to it any more.

    One that opens without a password is read, even if its author restricted its use.
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
    """Return how many pages there are: no more than the file claims, and the last of them opens."""
    claimed = len(document)
    if claimed <= 1 or _has(document, claimed - 1):
        return claimed
    # Makers miscount. One page more than is read settles that there are too many.
    there = [index for index in range(min(claimed, limits.MAX_PAGES + 1)) if _has(document, index)]
    return there[-1] + 1 if there else 1


def _has(document: pdfium.PdfDocument, index: int) -> bool:
    try:
        document[index]
    except pdfium.PdfiumError:
        return False
    return True


def _sheet(document: pdfium.PdfDocument, index: int) -> pdfium.PdfPage:
    """Open a page, with what was filled into its forms printed on it."""
    try:
        text_page = document[index]
        if document.get_formtype() != pdfium_c.FORMTYPE_NONE:
            text_page.flatten()
            text_page = document[index]
    except pdfium.PdfiumError as error:
        raise Damaged from error
    return text_page


def _page(text_page: pdfium.PdfPage, *, number: int) -> Page:
    limits.check_shape(text_page.get_width(), text_page.get_height())
    images = _images(text_page)
    scale = _scale(text_page, images)
    text = text_page.get_textpage()
    frame = _frame(text_page, scale=scale, turns=0)
    letters = list(glyphs(text, frame))
    is_text = text_layer.is_trustworthy(letters) and not _is_stamped_scan(images, letters)
    turns = -text_layer.main_turns(letters) % 4 if is_text else 0
    if turns:
        frame = _frame(text_page, scale=scale, turns=turns)
        letters = list(glyphs(text, frame))
    return Page(
        number=number,
        width=frame.width,
        height=frame.height,
        draw=_drawer(text_page, scale=scale, turns=turns),
        draw_grey=_grey_drawer(text_page, scale=scale, turns=turns),
        layer=text_layer.words(letters, page=number) if is_text else (),
        dpi=scale * _POINTS_PER_INCH,
    )


@dataclass(frozen=True, slots=True)
class _Image:
    """A picture on a page."""

    #: Pixels of the picture for each point of the page.
    scale: float
    #: How much of the page it covers, 0 to 1.
    share: float


def _images(text_page: pdfium.PdfPage) -> list[_Image]:
    """Return the pictures on a page, none of which is decoded.

    Raises:
        TooManyPixels: One of them is a bomb.
    """
    page_area = text_page.get_width() * text_page.get_height()
    found = []
    for drawn in text_page.get_objects([pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=_MAX_NESTING):
        width, height = drawn.get_px_size()
        limits.check_pixels(width, height)
        left, bottom, right, top = drawn.get_bounds()
        area = max((right - left) * (top - bottom), 1.0)
        found.append(_Image(math.sqrt(width * height / area), area / page_area))
    return found


def _scale(text_page: pdfium.PdfPage, images: Sequence[_Image]) -> float:
    """Return the pixels a point at which a page counts as drawn at scale 1."""
    wanted = DPI / _POINTS_PER_INCH
    if _is_scan(images):
        # Pages of phone scanners count a pixel as a point; drawing them at a fixed resolution
        # would blow them up, and shrink finer scans.
        wanted = max(images, key=lambda image: image.share).scale
    return min(wanted, _largest_scale(text_page))


def _largest_scale(text_page: pdfium.PdfPage) -> float:
    return math.sqrt(_MAX_DRAWN_PIXELS / max(1.0, text_page.get_width() * text_page.get_height()))


def _is_scan(images: Sequence[_Image]) -> bool:
    return sum(image.share for image in images) > _SCAN_SHARE


def _is_stamped_scan(images: Sequence[_Image], letters: Sequence[Glyph]) -> bool:
    """Tell whether the text of a page is only what a scanner put on its picture."""
    return _is_scan(images) and len(letters) <= _MAX_STAMP_LETTERS


def _frame(text_page: pdfium.PdfPage, *, scale: float, turns: int) -> Frame:
    width, height = text_page.get_width() * scale, text_page.get_height() * scale
    if turns % 2:
        width, height = height, width
    return Frame(text_page, width=math.ceil(width), height=math.ceil(height), turns=turns)


def _drawer(text_page: pdfium.PdfPage, *, scale: float, turns: int) -> Callable[[float], Picture]:
    """Return what draws the page at a multiple of `scale` after `turns` quarters clockwise."""

    def draw(times: float) -> Picture:
        # pdfium draws twice as fast in its own order of colours.
        drawn = _drawn(text_page, scale * times, turns=turns)
        return np.asarray(cv2.cvtColor(drawn, cv2.COLOR_BGR2RGB), dtype=np.uint8)

    return draw


def _grey_drawer(text_page: pdfium.PdfPage, *, scale: float, turns: int) -> Callable[[float], Grey]:
    """Return what draws the page in grey, in a third of the time."""

    def draw(times: float) -> Grey:
        return _drawn(text_page, scale * times, turns=turns, is_grey=True)

    return draw


def _drawn(
    text_page: pdfium.PdfPage, scale: float, *, turns: int, is_grey: bool = False
) -> npt.NDArray[np.uint8]:
    """Draw a page in pdfium's order of colours, or in grey."""
    bitmap = text_page.render(
        scale=min(scale, _largest_scale(text_page)), rotation=90 * turns, grayscale=is_grey
    )
    return np.asarray(bitmap.to_numpy(), dtype=np.uint8)
