"""Finds QR codes and bar codes, as hard as the document deserves.

A quick look costs a hundredth of a second and finds every clean code, so each picture gets one.
Invoices whose key is neither in the text nor in a code get further looks, each costlier than the
last: their Code 128 needs two pixels a bar, stands in frames that spoil its quiet zone, and is
blurred by cameras.
"""

import functools
import re
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import zxingcpp

from recibo.extract.brazil import code_keys, key_search
from recibo.extract.model import Box, Code, Grey, Page

#: The symbologies that documents speak of themselves with; goods bear the others.
_FORMATS = zxingcpp.barcode_formats_from_str("QRCode,Code128")

#: Words that stand on documents that bear an access key, without regard to case.
_FISCAL = re.compile(
    r"chave\s*de\s*acesso|danfe|nfc-?e\b|nfs-?e\b|nota\s*fiscal|cupom\s*fiscal|sefaz|fazenda\.",
    re.IGNORECASE,
)

#: Pictures are looked at in their own pixels: resampling by a few per cent already spoils narrow
#: bars. Only larger ones are shrunk, to more than two pixels for each bar across an A4 page.
_LARGEST_SHORT_SIDE = 3000
_BARS_SHORT_SIDE = 2480

#: Dark runs down the page longer than this share of its height are rules, not bars.
_RULE_SHARE = 1 / 14

#: The paper is the lightest within so many pixels of a picture of a quarter of the size, and ink
#: darker than this share of it. Measured on 20 drawn thermal prints: 15 codes found before, 19 so,
#: the last one had none; on 53 others nothing was lost.
_PAPER_REACH = 25
_INK_SHARE = 0.88

#: How far a line's surroundings reach when its darkness is judged, pixels.
_SURROUNDINGS = 51
_DARKER_BY = 15

#: Blurred bars are enlarged so much, and their contrast at the width of a bar and its gap then
#: raised so much. Measured on six simulated photos of invoices: 1 read in its own pixels, 2 in
#: even light, 4 so; amounts of 2 and 6, and twice or half the width, read fewer.
_ENLARGEMENT = 2.0
_BAR_PAIR = 4
_SHARPENING = 3.0


def find(page: Page, texts: Sequence[str], *, is_exact: bool) -> tuple[Code, ...]:
    """Return the codes on an upright page; boxes are in pixels at scale 1.

    Args:
        page: The page.
        texts: The lines of text that were read on it.
        is_exact: Whether they come from a text layer. Such a page is not even drawn unless it
            lacks a key that it should have.
    """
    is_wanting = _lacks_key(texts)
    if is_exact:
        # A drawn page has no pixels of its own.
        scale = _BARS_SHORT_SIDE / min(page.width, page.height)
        draw = page.draw_grey or functools.partial(_grey, page)
        return _read(page, draw(scale)) if is_wanting else ()
    picture = _grey(page, _own_scale(page))
    codes = _read(page, picture)
    if not is_wanting or code_keys.read(codes):
        return codes
    for clearer in _clearer(page, picture):
        more = _read(page, clearer)
        if code_keys.read(more):
            return more
        codes = max(codes, more, key=len)
    return codes


def _lacks_key(texts: Sequence[str]) -> bool:
    """Tell whether a document should have an access key that its text does not hold soundly."""
    if not any(_FISCAL.search(text) for text in texts):
        return False
    return not any(printed.key.is_sound for printed in key_search.find(texts))


def _own_scale(page: Page) -> float:
    """Return the scale that leaves a page its own pixels, unless there are too many."""
    short_side = min(page.width, page.height)
    return 1.0 if short_side <= _LARGEST_SHORT_SIDE else _BARS_SHORT_SIDE / short_side


def _grey(page: Page, scale: float) -> Grey:
    return np.asarray(cv2.cvtColor(page.draw(scale), cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def _clearer(page: Page, picture: Grey) -> Iterator[Grey]:
    """Yield pictures of a page on which hidden codes may show, the cheapest first."""
    yield _blackened(picture)
    yield _without_rules(picture)
    yield _evenly_lit(picture)
    enlarged = _grey(page, _own_scale(page) * _ENLARGEMENT)
    yield _sharpened(enlarged)
    yield _sharpened(_evenly_lit(enlarged))


def _blackened(grey: Grey) -> Grey:
    """Return a picture on which all that is darker than the paper about it is black.

    A worn thermal head leaves stripes of pale grey in a code, between which no threshold of a
    neighbourhood falls right.
    """
    small = cv2.resize(grey, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    reach = (_PAPER_REACH, _PAPER_REACH)
    paper = cv2.blur(cv2.dilate(small, np.ones(reach, np.uint8)), reach)
    paper = cv2.resize(paper, (grey.shape[1], grey.shape[0]))
    return np.where(grey < paper * _INK_SHARE, np.uint8(0), np.uint8(255))


def _without_rules(grey: Grey) -> Grey:
    """Return a picture without long vertical rules: frames leave bars no quiet zone."""
    surroundings = cv2.blur(grey, (_SURROUNDINGS, _SURROUNDINGS)).astype(np.int16)
    dark = (grey < surroundings - _DARKER_BY).astype(np.uint8)
    length = max(_SURROUNDINGS, int(grey.shape[0] * _RULE_SHARE))
    rules = cv2.morphologyEx(dark, cv2.MORPH_OPEN, np.ones((length, 1), np.uint8))
    rules = cv2.dilate(rules, np.ones((5, 3), np.uint8))
    return np.where(rules > 0, np.uint8(255), grey)


def _evenly_lit(grey: Grey) -> Grey:
    """Return a picture whose paper is equally white everywhere."""
    small = cv2.resize(grey, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    light = cv2.resize(cv2.medianBlur(small, 21), (grey.shape[1], grey.shape[0]))
    return np.asarray(cv2.divide(grey, light, scale=255), dtype=np.uint8)


def _sharpened(grey: Grey) -> Grey:
    """Return a picture with the narrow bars brought out that a blur has melted."""
    blurred = cv2.GaussianBlur(grey, (0, 0), _BAR_PAIR)
    return np.asarray(
        cv2.addWeighted(grey, _SHARPENING, blurred, 1 - _SHARPENING, 0), dtype=np.uint8
    )


def _read(page: Page, picture: Grey) -> tuple[Code, ...]:
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
