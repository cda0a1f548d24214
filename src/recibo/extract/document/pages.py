"""Detects the format of a file and decodes its pages.

The first bytes of a file decide: a JPEG with an appended archive is a JPEG, a GIF with a PDF inside
is a GIF and refused. If they are unknown, as in a PDF that begins with blank lines, the decoder
that can open the file decides.
"""

from collections.abc import Iterator

from recibo.extract.document import formats, images, pdf
from recibo.extract.document.formats import Kind
from recibo.extract.errors import EmptyFile, UnsupportedFormat
from recibo.extract.model import Page

_PDF = "application/pdf"


def inspect(data: bytes) -> Kind:
    """Return the format and page count of a file without decoding its pixels.

    Raises:
        EmptyFile, UnsupportedFormat, TooManyPages, TooManyPixels, Encrypted, Unreadable: The file
            is refused.
    """
    mime = _mime(data)
    count = pdf.page_count(data) if mime == _PDF else images.page_count(data)
    return Kind(mime, formats.EXTENSIONS[mime], count)


def pages(data: bytes) -> Iterator[Page]:
    """Yield the pages of a file, each decoded on demand.

    Raises:
        EmptyFile, UnsupportedFormat, TooManyPages, TooManyPixels, Encrypted, Unreadable: At the
            first page for the file as a whole, at a later one for that page.
    """
    return pdf.pages(data) if _mime(data) == _PDF else images.pages(data)


def page(data: bytes, number: int) -> Page | None:
    """Return one page of a file, counted from 1; None if it has fewer.

    Raises:
        EmptyFile, UnsupportedFormat, TooManyPages, TooManyPixels, Encrypted, Unreadable: The file
            is refused.
    """
    return pdf.page(data, number) if _mime(data) == _PDF else images.page(data, number)


def _mime(data: bytes) -> str:
    """Return the media type of a file, one of `formats.EXTENSIONS`."""
    if not data:
        raise EmptyFile
    mime = formats.guess(data) or _mime_by_decoder(data)
    if mime not in formats.EXTENSIONS:
        raise UnsupportedFormat
    return mime


def _mime_by_decoder(data: bytes) -> str | None:
    return images.mime(data) or (_PDF if pdf.is_pdf(data) else None)
