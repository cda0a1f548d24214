"""The formats that are read, told by the head of a file; imports nothing heavy."""

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

# A PNG with animation is a PNG whose first picture is the page.
_SYNONYMS = {"image/apng": "image/png"}


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is."""

    mime: str
    #: Without a dot.
    extension: str
    page_count: int


def guess(head: bytes) -> str | None:
    """Return the media type that the first bytes of a file tell, None when they tell nothing."""
    mime = filetype.guess_mime(head)
    return _SYNONYMS.get(mime, mime) if mime else None
