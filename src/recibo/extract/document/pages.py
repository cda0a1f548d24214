"""Tells what a file is and gives its pages.

The head of a file decides what it is: a JPEG with an archive at its tail is read as a JPEG, a GIF
with a PDF inside is a GIF and refused. Where the head says nothing, as in a PDF with blank lines
before its first mark, a decoder that opens the file decides.
"""

from collections.abc import Iterator

from recibo.extract.document import formats, images, pdf
from recibo.extract.document.formats import Kind
from recibo.extract.errors import EmptyFile, UnsupportedFormat
from recibo.extract.model import Page

_PDF = "application/pdf"


def inspect(data: bytes) -> Kind:
    """Tell what a file is without decoding its pixels.

    Raises:
        EmptyFile, UnsupportedFormat, TooManyPages, TooManyPixels, Encrypted, Unreadable: The file
            is refused.
    """
    mime = _mime(data)
    count = pdf.page_count(data) if mime == _PDF else images.page_count(data)
    return Kind(mime, formats.EXTENSIONS[mime], count)


def pages(data: bytes) -> Iterator[Page]:
    """Yield the pages of a file, each decoded when it is asked for.

    Raises:
        EmptyFile, UnsupportedFormat, TooManyPages, TooManyPixels, Encrypted, Unreadable: At the
            first page for the file as a whole, at a later one for that page.
    """
    return pdf.pages(data) if _mime(data) == _PDF else images.pages(data)


def _mime(data: bytes) -> str:
    """Return the media type of a file, one of `formats.EXTENSIONS`."""
    if not data:
        raise EmptyFile
    mime = formats.guess(data) or _mime_by_decoder(data)
    if mime not in formats.EXTENSIONS:
        raise UnsupportedFormat
    return mime


def _mime_by_decoder(data: bytes) -> str | None:
    return images.mime(data) or (_PDF if pdf.opens(data) else None)
