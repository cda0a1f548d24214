"""Draws receipts as pictures or PDFs, and encodes pictures in all formats."""

import io
from collections.abc import Sequence
from typing import Literal

import cv2
import numpy as np
import pillow_heif
from PIL import Image

from training.receipts import barcodes, raster, strips
from training.receipts import pdf as pdf_files
from training.receipts.faces import DEJAVU_MONO
from training.receipts.strips import CodeRow, Row, RuleRow, Strip

PictureFormat = Literal["JPEG", "PNG", "WEBP", "TIFF", "HEIF", "GIF", "BMP"]

AnyRow = Row | RuleRow
# One point is one pixel.
_DPI = 72
# The quiet zone of a QR code, in modules.
_QUIET = 4
_MODULE = 6

pillow_heif.register_heif_opener()


def picture(
    rows: Sequence[AnyRow], *, qr: str = "", font_size: int = 26, margin: int = 48
) -> Image.Image:
    """Draw the rows, dark on white, with a QR code below them if there is something to say."""
    strip = Strip(size=font_size, pitch=1.35, margin=margin, face=DEJAVU_MONO)
    codes = [_code_row(qr, strip)] if qr else []
    (page,) = strips.set_rows([*rows, *codes], strip).pages
    return raster.draw(page, dpi=_DPI).convert("RGB")


def curled(sheet: Image.Image, bow: int) -> Image.Image:
    """Return a picture whose sides are this many pixels below its middle, or above."""
    margin = abs(bow)
    framed = cv2.copyMakeBorder(
        np.asarray(sheet), margin, margin, 0, 0, cv2.BORDER_CONSTANT, value=(255, 255, 255)
    )
    y, x = np.indices(framed.shape[:2], dtype=np.float32)
    away = 2 * x / x.max() - 1
    bent = cv2.remap(framed, x, y - bow * away**2, cv2.INTER_LINEAR)
    return Image.fromarray(np.asarray(bent, dtype=np.uint8))


def pdf(rows: Sequence[AnyRow]) -> bytes:
    """Print the rows on one page of their own size, with a text layer."""
    return pdf_files.write(strips.set_rows(rows))


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


def qr_code(text: str, *, module: int = _MODULE) -> Image.Image:
    """Return a QR code, `module` pixels a module, with the white that it needs around it."""
    grid = np.pad(barcodes.modules("QRCode", text), _QUIET, constant_values=255)
    return Image.fromarray(grid.repeat(module, axis=0).repeat(module, axis=1)).convert("RGB")


def _code_row(text: str, strip: Strip) -> CodeRow:
    modules = len(barcodes.modules("QRCode", text))
    return CodeRow("QRCode", text, width=modules * _MODULE / strip.width)
