"""Draws a page as a picture: dark on white."""

from collections.abc import Iterator
from typing import assert_never

from PIL import Image, ImageDraw

from training.receipts import barcodes
from training.receipts.prints import Code, Fill, Page, Rule, Text

_WHITE = 255
#: Pillow's anchor of the left end of the baseline.
_ON_BASE_LINE = "ls"


def draw(page: Page, *, dpi: float = 200) -> Image.Image:
    """Return the page in gray at this resolution."""
    scale = dpi / 72
    sheet = Image.new("L", (round(page.width * scale), round(page.height * scale)), _WHITE)
    pen = ImageDraw.Draw(sheet)
    for mark in page.marks:
        match mark:
            case Text():
                _write(sheet, pen, mark, scale)
            case Rule():
                _rule(pen, mark, scale)
            case Fill():
                corners = (mark.x, mark.y, mark.x + mark.width, mark.y + mark.height)
                pen.rectangle([round(at * scale) for at in corners], fill=_gray(mark.tone))
            case Code():
                _paste(sheet, mark, scale)
            case _:
                assert_never(mark)
    return sheet


def _write(sheet: Image.Image, pen: ImageDraw.ImageDraw, text: Text, scale: float) -> None:
    """Place each word separately: the library rounds the width of every letter to a pixel."""
    font = text.face.font(max(1, round(text.size * scale)), is_bold=text.is_bold)
    for word, left in _words(text):
        place = (left * scale, text.y * scale)
        if text.stretch == 1:
            pen.text(place, word, fill=_gray(text.tone), font=font, anchor=_ON_BASE_LINE)
            continue
        above, below = font.getmetrics()
        mask = Image.new("L", (round(font.getlength(word)) or 1, above + below))
        ImageDraw.Draw(mask).text((0, above), word, fill=255, font=font, anchor=_ON_BASE_LINE)
        mask = mask.resize((max(1, round(mask.width * text.stretch)), mask.height))
        sheet.paste(_gray(text.tone), (round(place[0]), round(place[1]) - above), mask)


def _words(text: Text) -> Iterator[tuple[str, float]]:
    """Yield the words and the left end of each."""
    start = 0
    for word in text.text.split():
        start = text.text.index(word, start)
        before = text.face.width(text.text[:start], text.size, is_bold=text.is_bold)
        yield word, text.left + before * text.stretch
        start += len(word)


def _rule(pen: ImageDraw.ImageDraw, rule: Rule, scale: float) -> None:
    ends = [round(at * scale) for at in (rule.x0, rule.y0, rule.x1, rule.y1)]
    pen.line(ends, fill=_gray(rule.tone), width=max(1, round(rule.thickness * scale)))


def _paste(sheet: Image.Image, code: Code, scale: float) -> None:
    """Draw modules of whole pixels if there is room: blurred bars cannot be read."""
    modules = Image.fromarray(barcodes.modules(code.symbology, code.text))
    room = round(code.width * scale), round(code.height * scale)
    width = _whole(room[0], modules.width)
    height = _whole(room[1], modules.height) if modules.height > 1 else room[1]
    bars = modules.resize((width, height), Image.Resampling.NEAREST)
    left = round(code.x * scale) + (room[0] - width) // 2
    sheet.paste(bars, (left, round(code.y * scale) + (room[1] - height) // 2))


def _whole(room: int, modules: int) -> int:
    return modules * (room // modules) or room


def _gray(tone: float) -> int:
    return round(tone * _WHITE)
