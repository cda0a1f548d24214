"""The format of a file is detected from its content; unsupported files are refused."""

import contextlib
import io
import random
import zipfile
import zlib
from typing import cast

import pytest
from PIL import Image
from reportlab.lib import pdfencrypt
from reportlab.pdfgen import canvas

from recibo.extract import errors
from recibo.extract.document import limits, pages
from recibo.extract.document.formats import Kind
from tests import drawing
from training.receipts.strips import Row

ROWS = [Row("CORNER SHOP", is_centered=True), Row("TOTAL", "12.50"), Row("Thank you, come again")]
SHEET = drawing.picture(ROWS)


def text_pdf(count: int, *, encrypt: pdfencrypt.StandardEncryption | None = None) -> bytes:
    """Return a PDF with this many pages."""
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=(200, 300), invariant=True, encrypt=encrypt)
    for number in range(count):
        page.drawString(20, 200, f"Page {number + 1} of a document with text on it, TOTAL 12.50")
        page.showPage()
    page.save()
    return buffer.getvalue()


def miscounted_pdf(count: int, *, claimed: int) -> bytes:
    """Return a PDF with this many pages that claims another number."""
    return text_pdf(count).replace(b"/Count %d" % count, b"/Count %d" % claimed)


def tiff(count: int) -> bytes:
    """Return a TIFF with this many small pages."""
    return drawing.encode_tiff([Image.new("1", (8, 8))] * count)


def png_of(width: int, height: int) -> bytes:
    """Return a PNG with a size in its header for which it has too few bytes."""
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\x00\x00\x00"
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b"")]
    body = b"".join(
        len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
        for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (drawing.encode(SHEET, "JPEG"), Kind("image/jpeg", "jpg", 1)),
        (drawing.encode(SHEET, "PNG"), Kind("image/png", "png", 1)),
        (drawing.encode(SHEET, "WEBP"), Kind("image/webp", "webp", 1)),
        (drawing.encode(SHEET, "HEIF"), Kind("image/heic", "heic", 1)),
        (drawing.encode(SHEET, "TIFF"), Kind("image/tiff", "tif", 1)),
        (tiff(3), Kind("image/tiff", "tif", 3)),
        (drawing.pdf(ROWS), Kind("application/pdf", "pdf", 1)),
        (text_pdf(2), Kind("application/pdf", "pdf", 2)),
    ],
    ids=lambda value: value.mime if isinstance(value, Kind) else "",
)
def test_content_decides_the_type(data: bytes, expected: Kind) -> None:
    assert expected == pages.inspect(data)
    assert expected.page_count == len(list(pages.pages(data)))


def archive() -> bytes:
    """Return a ZIP archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("receipt.jpg", drawing.encode(SHEET))
    return buffer.getvalue()


SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><text>TOTAL 12</text></svg>'
WHOLE_JPEG = drawing.encode(SHEET, "JPEG")
WHOLE_PNG = drawing.encode(SHEET, "PNG")
WHOLE_PDF = drawing.pdf(ROWS)

REFUSED = {
    "empty": (b"", errors.EmptyFile),
    "text": (b"TOTAL 12.50\nThank you", errors.UnsupportedFormat),
    "one byte": (b"\xff", errors.UnsupportedFormat),
    "zeros": (bytes(4096), errors.UnsupportedFormat),
    "gif": (drawing.encode(SHEET, "GIF"), errors.UnsupportedFormat),
    "bmp": (drawing.encode(SHEET, "BMP"), errors.UnsupportedFormat),
    "svg": (SVG, errors.UnsupportedFormat),
    "zip": (archive(), errors.UnsupportedFormat),
    "gif with a pdf inside": (b"GIF89a" + WHOLE_PDF, errors.UnsupportedFormat),
    "zip with a pdf inside": (archive() + WHOLE_PDF, errors.UnsupportedFormat),
    "text that speaks of pdf": (b"%PD is not %PDF-1.7", errors.UnsupportedFormat),
    "31 pages of tiff": (tiff(31), errors.TooManyPages),
    "31 pages of pdf": (text_pdf(31), errors.TooManyPages),
    "31 pages of pdf that claim to be a thousand": (
        miscounted_pdf(31, claimed=1000),
        errors.TooManyPages,
    ),
    "png bomb": (png_of(50_000, 50_000), errors.TooManyPixels),
    "png just too large": (png_of(10_001, 10_000), errors.TooManyPixels),
    "png of no size": (png_of(0, 10), errors.Damaged),
    "pdf with a password": (
        text_pdf(1, encrypt=pdfencrypt.StandardEncryption("open sesame")),
        errors.Encrypted,
    ),
    "jpeg cut in its head": (WHOLE_JPEG[:100], errors.Damaged),
    "png cut in its head": (WHOLE_PNG[:20], errors.Damaged),
    "pdf that is only a mark": (b"%PDF-1.7\n", errors.Damaged),
    "pdf of noise": (b"%PDF-1.7\n" + bytes(range(256)) * 40, errors.Damaged),
    "tiff that is only a mark": (b"II*\x00\x08\x00\x00\x00" + bytes(40), errors.Damaged),
    "heic that is only a mark": (
        WHOLE_JPEG[:0] + b"\x00\x00\x00\x18ftypheic" + bytes(60),
        errors.Damaged,
    ),
    "webp that is only a mark": (b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(40), errors.Damaged),
}


@pytest.mark.parametrize(("data", "error"), REFUSED.values(), ids=REFUSED.keys())
def test_invalid_files_are_refused_with_a_reason(
    data: bytes, error: type[errors.ReadingError]
) -> None:
    with pytest.raises(error) as inspected:
        pages.inspect(data)
    with pytest.raises(error) as loaded:
        next(pages.pages(data))

    assert inspected.type is loaded.type is error


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "HEIF", "TIFF"])
def test_truncated_pictures_are_damaged(kind: drawing.PictureFormat, cut: float) -> None:
    whole = drawing.encode(SHEET, kind)

    with pytest.raises(errors.Damaged):
        list(pages.pages(whole[: int(len(whole) * cut)]))


def test_thirty_pages_and_a_hundred_megapixels_are_accepted() -> None:
    assert pages.inspect(tiff(limits.MAX_PAGES)).page_count == limits.MAX_PAGES
    assert pages.inspect(text_pdf(limits.MAX_PAGES)).page_count == limits.MAX_PAGES
    assert pages.inspect(png_of(10_000, 10_000)) == Kind("image/png", "png", 1)


@pytest.mark.parametrize(("count", "claimed"), [(1, 1000), (1, 3), (30, 31), (2, 2)])
def test_the_pages_of_a_pdf_are_counted_if_its_claim_is_wrong(count: int, claimed: int) -> None:
    data = miscounted_pdf(count, claimed=claimed)

    assert pages.inspect(data).page_count == count
    assert [page.number for page in pages.pages(data)] == list(range(1, count + 1))


def test_a_picture_with_an_appended_archive_is_a_picture() -> None:
    assert Kind("image/jpeg", "jpg", 1) == pages.inspect(WHOLE_JPEG + archive())


def test_a_pdf_may_begin_with_blank_lines() -> None:
    assert Kind("application/pdf", "pdf", 1) == pages.inspect(b"\r\n\r\n" + WHOLE_PDF)


def test_a_heic_with_an_unknown_brand_is_detected_by_the_decoder() -> None:
    """Cameras with ten bits per channel write another brand into the header."""
    plain = drawing.encode(SHEET, "HEIF")
    other = plain.replace(b"ftypheic", b"ftypheix", 1)

    assert plain != other
    assert Kind("image/heic", "heic", 1) == pages.inspect(other)


def test_a_pdf_with_restricted_permissions_is_read() -> None:
    restricted = pdfencrypt.StandardEncryption("", ownerPassword="owner", canCopy=0)

    assert pages.inspect(text_pdf(1, encrypt=restricted)).page_count == 1


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "HEIF", "PDF"])
def test_damaged_files_are_read_or_refused(kind: str) -> None:
    """Bytes changed anywhere: a page or a reading error, nothing else."""
    chance = random.Random(11)
    small = drawing.picture(ROWS, font_size=8)
    whole = (
        WHOLE_PDF if kind == "PDF" else drawing.encode(small, cast("drawing.PictureFormat", kind))
    )
    for _ in range(40):
        damaged = bytearray(whole)
        for _ in range(chance.choice((1, 5, 50))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        with contextlib.suppress(errors.ReadingError):
            pages.inspect(bytes(damaged))
            for page in pages.pages(bytes(damaged)):
                assert page.draw(1).shape[2] == 3
