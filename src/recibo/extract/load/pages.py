"""Tells what a file is and gives its pages.

The head of a file decides what it is: a JPEG with an archive at its tail is read as a JPEG, a GIF
with a PDF inside is a GIF and refused. Where the head says nothing, as in a PDF with blank lines
before its first mark, a decoder that opens the file decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import filetype

from recibo.extract.errors import EmptyFile, UnsupportedFormat
from recibo.extract.load import pdf, pictures
from recibo.extract.model import Page


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is."""

    mime: str
    #: Without a dot.
    extension: str
    page_count: int


_PDF = "application/pdf"

#: Media type, as told from the content -> extension.
_EXTENSIONS = {
    _PDF: "pdf",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/heic": "heic",
    "image/webp": "webp",
    "image/tiff": "tif",
}

#: A PNG with animation is a PNG whose first picture is the page.
_SYNONYMS = {"image/apng": "image/png"}


def inspect(data: bytes) -> Kind:
    """Tell what a file is without decoding its pixels.

    Raises:
        EmptyFile, UnsupportedFormat, TooManyPages, TooManyPixels, Encrypted, Unreadable: The file
            is refused.
    """
    mime = _mime(data)
    count = pdf.page_count(data) if mime == _PDF else pictures.page_count(data)
    return Kind(mime, _EXTENSIONS[mime], count)


def pages(data: bytes) -> Iterator[Page]:
    """Yield the pages of a file, each decoded when it is asked for.

    Raises:
        EmptyFile, UnsupportedFormat, TooManyPages, TooManyPixels, Encrypted, Unreadable: At the
            first page for the file as a whole, at a later one for that page.
    """
    return pdf.pages(data) if _mime(data) == _PDF else pictures.pages(data)


def _mime(data: bytes) -> str:
    """Return the media type of a file, one of `_EXTENSIONS`."""
    if not data:
        raise EmptyFile
    told = filetype.guess_mime(data)
    told = _SYNONYMS.get(told, told) if told else _mime_by_decoder(data)
    if told not in _EXTENSIONS:
        raise UnsupportedFormat
    return told


def _mime_by_decoder(data: bytes) -> str | None:
    return pictures.mime(data) or (_PDF if pdf.opens(data) else None)
