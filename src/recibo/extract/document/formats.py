"""The supported formats, detected from the first bytes of a file; imports nothing heavy."""

from dataclasses import dataclass

import filetype

#: Media type -> extension, without a dot.
EXTENSIONS = {
    "application/pdf": "pdf",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/heic": "heic",
    "image/webp": "webp",
    "image/tiff": "tif",
}

# An animated PNG is a PNG; its first picture is the page.
_SYNONYMS = {"image/apng": "image/png"}


@dataclass(frozen=True, slots=True)
class Kind:
    """The format and page count of a file."""

    mime: str
    #: Without a dot.
    extension: str
    page_count: int


def guess(head: bytes) -> str | None:
    """Return the media type of a file by its first bytes; None if they are unknown."""
    mime = filetype.guess_mime(head)
    return _SYNONYMS.get(mime, mime) if mime else None
