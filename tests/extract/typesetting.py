"""Text pages from plain text in fixed pitch, as a text layer or an OCR engine returns them."""

import re
from collections.abc import Sequence
from dataclasses import replace

from recibo.extract.brazil.tax_ids import check_digit
from recibo.extract.model import Box, Code, Line, TextPage, Word

PITCH = 24.0
LETTER = 10.0
HEIGHT = 17.0


def text_page(
    text: str, *, codes: Sequence[Code] = (), number: int = 1, exact: bool = True
) -> TextPage:
    """Return a page with one line per row of a text, each character in its column.

    A text layer has single words; an engine joins words that are one space apart.
    """
    gap = r"\S+" if exact else r"\S+(?: \S+)*"
    rows = text.strip("\n").split("\n")
    lines = [
        _line(row, index, gap, number, 1.0 if exact else 0.95)
        for index, row in enumerate(rows)
        if row.strip()
    ]
    width = int(LETTER * max(map(len, rows))) + 40
    height = int(PITCH * len(rows)) + 40
    return TextPage(number, width, height, tuple(lines), tuple(codes), is_exact=exact)


def raised(page: TextPage, text: str, pixels: float) -> TextPage:
    """Return a page with the lines that contain a text raised by so many pixels."""
    return replace(
        page,
        lines=tuple(_raised(line, pixels) if text in line.text else line for line in page.lines),
    )


def _raised(line: Line, pixels: float) -> Line:
    words = tuple(replace(word, box=_up(word.box, pixels)) for word in line.words)
    return replace(line, words=words, box=_up(line.box, pixels))


def _up(box: Box, pixels: float) -> Box:
    return replace(box, y0=box.y0 - pixels, y1=box.y1 - pixels)


def code(symbology: str, text: str, y: float = 0.0) -> Code:
    """Return a code of a page."""
    return Code(symbology, text, Box(0, y, 300, y + 60))


def checked(body: str) -> str:
    """Return a key with its check digit."""
    return body + check_digit(body)


def nfe_key(body: str) -> str:
    """Return a key of 43 characters and their check digit, in groups of four."""
    whole = checked(body)
    return " ".join(whole[start : start + 4] for start in range(0, len(whole), 4))


def bare(key: str) -> str:
    """Return a printed key without its spaces."""
    return key.replace(" ", "")


def cnpj(body: str) -> str:
    """Return a CNPJ of twelve characters and their check digits, with separators."""
    first = check_digit(body)
    whole = body + first + check_digit(body + first)
    return f"{whole[:2]}.{whole[2:5]}.{whole[5:8]}/{whole[8:12]}-{whole[12:]}"


def _line(row: str, index: int, gap: str, number: int, confidence: float) -> Line:
    top = 20 + index * PITCH
    words = tuple(
        Word(
            match[0],
            Box(20 + match.start() * LETTER, top, 20 + match.end() * LETTER - 2, top + HEIGHT),
            confidence,
            number,
        )
        for match in re.finditer(gap, row)
    )
    box = words[0].box
    for word in words:
        box = box.union(word.box)
    return Line(words, box, number)
