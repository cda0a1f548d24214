"""Finds QR codes and barcodes.

A first pass takes a hundredth of a second and finds every clean code. Fiscal documents whose key is
neither in the text nor in a code get further passes, each slower than the last: their Code 128
needs two pixels per bar, is printed in frames that cover its quiet zone, and is blurred in photos.
"""

import functools
import re
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import zxingcpp

from recibo.extract.brazil import key_search
from recibo.extract.model import Box, Code, Gray, Page

#: The symbologies of documents; products have the others.
_FORMATS = zxingcpp.barcode_formats_from_str("QRCode,Code128")

#: Words on documents that have an access key, in any case.
_FISCAL = re.compile(
    r"chave\s*de\s*acesso|danfe|nfc-?e\b|nfs-?e\b|nota\s*fiscal|cupom\s*fiscal|sefaz|fazenda\.",
    re.IGNORECASE,
)

#: Pictures are searched in their own resolution: resampling by a few percent already damages narrow
#: bars. Only larger ones are shrunk, to more than two pixels per bar across an A4 page.
_LARGEST_SHORT_SIDE = 3000
_BARS_SHORT_SIDE = 2480

#: Dark vertical runs longer than this share of the page's height are rules, not bars.
_RULE_SHARE = 1 / 14

#: The background is the lightest color within this many pixels, at a quarter of the size; ink is
#: darker than this share of it. Measured on 20 synthetic thermal prints, of which 19 have a code:
#: 15 codes found without this pass, 19 with it; on 53 others no code was lost.
_BACKGROUND_REACH = 25
_INK_SHARE = 0.88

#: The size of the neighborhood with which the darkness of a line is compared, pixels.
_SURROUNDINGS = 51
_DARKER_BY = 15

#: Blurred bars are enlarged by this factor, and their contrast at the width of a bar and its gap is
#: then raised. Measured on six simulated photos of invoices: 1 code read in the original, 2 in even
#: light, 4 so; a sharpening of 2 or 6, and twice or half the width, read fewer.
_ENLARGEMENT = 2.0
_BAR_PAIR = 4
_SHARPENING = 3.0


def find(page: Page, texts: Sequence[str], *, is_exact: bool) -> tuple[Code, ...]:
    """Return the codes on an upright page; boxes are in pixels at scale 1.

    Args:
        page: The page.
        texts: The text of its lines.
        is_exact: Whether they come from a text layer. Such a page is drawn only if it lacks an
            access key that it should have.
    """
    lacks_key = _lacks_key(texts)
    if is_exact:
        # A vector page has no resolution.
        scale = _BARS_SHORT_SIDE / min(page.width, page.height)
        draw = page.draw_gray or functools.partial(_gray, page)
        return _read(page, draw(scale)) if lacks_key else ()
    picture = _gray(page, _own_scale(page))
    codes = _read(page, picture)
    if not lacks_key or key_search.read(codes):
        return codes
    for enhanced in _enhanced(page, picture):
        more = _read(page, enhanced)
        if key_search.read(more):
            return more
        codes = max(codes, more, key=len)
    return codes


def _lacks_key(texts: Sequence[str]) -> bool:
    """Return whether a document should have an access key, and its text contains no valid one."""
    if not any(_FISCAL.search(text) for text in texts):
        return False
    return not any(printed.key.is_valid for printed in key_search.find(texts))


def _own_scale(page: Page) -> float:
    """Return the scale of the original pixels, or a smaller one if there are too many."""
    short_side = min(page.width, page.height)
    return 1.0 if short_side <= _LARGEST_SHORT_SIDE else _BARS_SHORT_SIDE / short_side


def _gray(page: Page, scale: float) -> Gray:
    return np.asarray(cv2.cvtColor(page.draw(scale), cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def _enhanced(page: Page, picture: Gray) -> Iterator[Gray]:
    """Yield enhanced pictures of a page, in the order of their cost."""
    yield _blackened(picture)
    yield _without_rules(picture)
    yield _evenly_lit(picture)
    enlarged = _gray(page, _own_scale(page) * _ENLARGEMENT)
    yield _sharpened(enlarged)
    yield _sharpened(_evenly_lit(enlarged))


def _blackened(gray: Gray) -> Gray:
    """Return a picture on which everything darker than the background near it is black.

    A worn thermal head leaves stripes of pale gray in a code, which no local threshold separates.
    """
    small = cv2.resize(gray, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    reach = (_BACKGROUND_REACH, _BACKGROUND_REACH)
    background = cv2.blur(cv2.dilate(small, np.ones(reach, np.uint8)), reach)
    background = cv2.resize(background, (gray.shape[1], gray.shape[0]))
    return np.where(gray < background * _INK_SHARE, np.uint8(0), np.uint8(255))


def _without_rules(gray: Gray) -> Gray:
    """Return a picture without long vertical rules: frames cover the quiet zone of barcodes."""
    surroundings = cv2.blur(gray, (_SURROUNDINGS, _SURROUNDINGS)).astype(np.int16)
    dark = (gray < surroundings - _DARKER_BY).astype(np.uint8)
    length = max(_SURROUNDINGS, int(gray.shape[0] * _RULE_SHARE))
    rules = cv2.morphologyEx(dark, cv2.MORPH_OPEN, np.ones((length, 1), np.uint8))
    rules = cv2.dilate(rules, np.ones((5, 3), np.uint8))
    return np.where(rules > 0, np.uint8(255), gray)


def _evenly_lit(gray: Gray) -> Gray:
    """Return a picture with an even white background."""
    small = cv2.resize(gray, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    light = cv2.resize(cv2.medianBlur(small, 21), (gray.shape[1], gray.shape[0]))
    return np.asarray(cv2.divide(gray, light, scale=255), dtype=np.uint8)


def _sharpened(gray: Gray) -> Gray:
    """Return a picture in which blurred narrow bars are sharper."""
    blurred = cv2.GaussianBlur(gray, (0, 0), _BAR_PAIR)
    return np.asarray(
        cv2.addWeighted(gray, _SHARPENING, blurred, 1 - _SHARPENING, 0), dtype=np.uint8
    )


def _read(page: Page, picture: Gray) -> tuple[Code, ...]:
    scale = page.width / picture.shape[1]
    return tuple(
        Code(code.format.name, code.text, _box(code.position, scale), page.number)
        for code in zxingcpp.read_barcodes(picture, formats=_FORMATS)
        if code.valid
    )


def _box(position: zxingcpp.Position, scale: float) -> Box:
    corners = (
        position.top_left,
        position.top_right,
        position.bottom_right,
        position.bottom_left,
    )
    xs, ys = [corner.x * scale for corner in corners], [corner.y * scale for corner in corners]
    return Box(min(xs), min(ys), max(xs), max(ys))
