"""Writes a print as a PDF with a text layer, the same bytes every time."""

import io
from typing import assert_never

import numpy as np
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

from training.receipts import barcodes
from training.receipts.prints import Code, Fill, Page, Print, Rule, Text


def write(document: Print) -> bytes:
    """Return the file."""
    buffer = io.BytesIO()
    sheet = canvas.Canvas(buffer, invariant=True)
    for page in document.pages:
        sheet.setPageSize((page.width, page.height))
        for mark in page.marks:
            _print(sheet, mark, page)
        sheet.showPage()
    sheet.save()
    return buffer.getvalue()


def write_scans(scans: list[bytes], document: Print) -> bytes:
    """Return a PDF with a picture per page and no text."""
    buffer = io.BytesIO()
    sheet = canvas.Canvas(buffer, invariant=True)
    for scan, page in zip(scans, document.pages, strict=True):
        sheet.setPageSize((page.width, page.height))
        sheet.drawImage(ImageReader(io.BytesIO(scan)), 0, 0, page.width, page.height)
        sheet.showPage()
    sheet.save()
    return buffer.getvalue()


def _print(sheet: canvas.Canvas, mark: Text | Rule | Fill | Code, page: Page) -> None:
    match mark:
        case Text():
            _write(sheet, mark, page)
        case Rule():
            sheet.setStrokeGray(mark.tone)
            sheet.setLineWidth(mark.thickness)
            sheet.line(mark.x0, page.height - mark.y0, mark.x1, page.height - mark.y1)
        case Fill():
            sheet.setFillGray(mark.tone)
            bottom = page.height - mark.y - mark.height
            sheet.rect(mark.x, bottom, mark.width, mark.height, stroke=0, fill=1)
        case Code():
            _draw_modules(sheet, mark, page)
        case _:
            assert_never(mark)


def _write(sheet: canvas.Canvas, text: Text, page: Page) -> None:
    line = sheet.beginText(text.left, page.height - text.y)
    line.setFont(text.face.pdf_name(is_bold=text.is_bold), text.size)
    line.setFillGray(text.tone)
    # The scale persists after a text, so it is set each time.
    line.setHorizScale(100 * text.stretch)
    line.textOut(text.text)
    sheet.drawText(line)


def _draw_modules(sheet: canvas.Canvas, code: Code, page: Page) -> None:
    """Draw each run of dark modules of a row as one rectangle."""
    grid = barcodes.modules(code.symbology, code.text) == 0
    width, height = code.width / grid.shape[1], code.height / grid.shape[0]
    sheet.setFillGray(0)
    outline = sheet.beginPath()
    for number, row in enumerate(grid):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], row.view(np.int8), [0]))))
        top = page.height - code.y - (number + 1) * height
        for start, end in edges.reshape(-1, 2):
            outline.rect(code.x + start * width, top, (end - start) * width, height)
    sheet.drawPath(outline, stroke=0, fill=1)
