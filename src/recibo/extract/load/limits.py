"""What a document may cost before it is refused."""

from recibo.extract.errors import TooManyPages, TooManyPixels

#: The largest file. Those who receive files judge it: they refuse while the bytes still come in.
MAX_BYTES = 15 * 1024 * 1024

MAX_PAGES = 30

#: Of one page.
MAX_PIXELS = 100_000_000


def check_pages(count: int) -> None:
    """Raise TooManyPages when a document has more pages than are read."""
    if count > MAX_PAGES:
        raise TooManyPages


def check_pixels(width: int, height: int) -> None:
    """Raise TooManyPixels when a page is larger than is decoded."""
    if width * height > MAX_PIXELS:
        raise TooManyPixels
