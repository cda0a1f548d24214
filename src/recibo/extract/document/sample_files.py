"""A small receipt in every format, with which a process loads everything before it reads."""

from collections.abc import Iterator
from importlib import resources

from recibo.extract.document import samples

_PICTURE, _TEXT = "receipt.jpg", "receipt.pdf"

#: The last one is a PDF without text.
NAMES = (
    _PICTURE,
    "receipt.png",
    "receipt.heic",
    "receipt.webp",
    "receipt.tif",
    _TEXT,
    "scan.pdf",
)


def every() -> Iterator[bytes]:
    """Yield the files."""
    return map(_read, NAMES)


def picture() -> bytes:
    """Return a picture, which needs OCR."""
    return _read(_PICTURE)


def text() -> bytes:
    """Return a PDF with a text layer."""
    return _read(_TEXT)


def _read(name: str) -> bytes:
    return resources.files(samples).joinpath(name).read_bytes()
