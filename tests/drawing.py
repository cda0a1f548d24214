"""Printed rows of a paper strip, drawn as a picture or as a PDF with a text layer."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import pillow_heif
import zxingcpp
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfgen import canvas

PictureFormat = Literal["JPEG", "PNG", "WEBP", "TIFF", "HEIF", "GIF", "BMP"]

# Characters a row, as an 80 mm thermal printer has them.
COLUMNS = 42
# Of the font used here, in its size.
LETTER_WIDTH = 0.602
INK = (30, 30, 34)
PAPER = (255, 255, 255)

pillow_heif.register_heif_opener()


@dataclass(frozen=True, slots=True)
class Row:
    """One printed row: text at the left, text at the right, or text in the middle."""

    left: str = ""
    right: str = ""
    is_centred: bool = False
    is_bold: bool = False

    @property
    def text(self) -> str:
        """The row as the printer's fixed columns hold it."""
        if self.is_centred:
            return self.left.center(COLUMNS).rstrip()
        return self.left + self.right.rjust(COLUMNS - len(self.left))


RULE = Row("-" * COLUMNS)


def picture(
    rows: Sequence[Row], *, qr: str = "", font_size: int = 26, margin: int = 48
) -> Image.Image:
    """Draw the rows, dark on white, with a QR code below them if there is something to say."""
    width, pitch = _cell(font_size)
    code = qr_code(qr) if qr else None
    code_height = code.height + margin if code else 0
    size = (round(width * COLUMNS) + 2 * margin, pitch * len(rows) + 2 * margin + code_height)
    sheet = Image.new("RGB", size, PAPER)
    pen = ImageDraw.Draw(sheet)
    for number, row in enumerate(rows):
        font = _font("Bold" if row.is_bold else "", font_size)
        for column, sign in enumerate(row.text):
            place = (margin + column * width, margin + number * pitch)
            pen.text(place, sign, font=font, fill=INK)
    if code:
        sheet.paste(code, ((size[0] - code.width) // 2, size[1] - margin - code.height))
    return sheet


def pdf(rows: Sequence[Row], *, font_size: int = 9, margin: int = 24) -> bytes:
    """Print the rows on one page of their own size, with a text layer."""
    pitch = font_size * 1.3
    # A letter of Courier is 0.6 of its size wide.
    size = (font_size * 0.6 * COLUMNS + 2 * margin, pitch * len(rows) + 2 * margin)
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=size, invariant=True)
    for number, row in enumerate(rows, start=1):
        page.setFont("Courier-Bold" if row.is_bold else "Courier", font_size)
        page.drawString(margin, size[1] - margin - number * pitch, row.text)
    page.showPage()
    page.save()
    return buffer.getvalue()


def encode(sheet: Image.Image, kind: PictureFormat = "JPEG") -> bytes:
    """Return the picture as a file of this kind."""
    buffer = io.BytesIO()
    sheet.save(buffer, format=kind)
    return buffer.getvalue()


def encode_tiff(sheets: Sequence[Image.Image]) -> bytes:
    """Return one TIFF with a page for each picture."""
    buffer = io.BytesIO()
    # A picture that was saved as JPEG remembers the settings of that, and TIFF chokes on them.
    first, *others = [sheet.copy() for sheet in sheets]
    first.save(buffer, format="TIFF", save_all=True, append_images=others)
    return buffer.getvalue()


def qr_code(text: str, *, module: int = 6) -> Image.Image:
    """Return a QR code, `module` pixels a module."""
    barcode = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
    return Image.fromarray(barcode.to_image(scale=module)).convert("RGB")


def _cell(font_size: int) -> tuple[float, int]:
    """Return a letter's width and the distance of rows, pixels."""
    return font_size * LETTER_WIDTH, round(font_size * 1.35)


@cache
def _font(weight: Literal["", "Bold"], size: int) -> ImageFont.FreeTypeFont:
    """Return the fixed-width font that comes with matplotlib: every machine here has it."""
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise RuntimeError("matplotlib, which brings the font, is not installed")
    folder = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf"
    name = f"DejaVuSansMono-{weight}.ttf" if weight else "DejaVuSansMono.ttf"
    # Letters are placed one by one: the layout of whole lines depends on a library of the system.
    return ImageFont.truetype(folder / name, size, layout_engine=ImageFont.Layout.BASIC)
