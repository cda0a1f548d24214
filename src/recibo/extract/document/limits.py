"""The limits beyond which a document is refused."""

from recibo.extract.errors import TooManyPages, TooManyPixels, Unreadable

#: The largest file. It is checked by the receivers of files, while the bytes arrive.
MAX_BYTES = 15 * 1024 * 1024

MAX_PAGES = 30

#: Of one page.
MAX_PIXELS = 100_000_000

#: The shortest side that can contain text, pixels or points.
_LEAST_SIDE = 8

#: The longest receipts are thirty times as long as wide.
_MOST_LENGTHS = 40


def check_pages(count: int) -> None:
    """Raise TooManyPages if a document has more than `MAX_PAGES`."""
    if count > MAX_PAGES:
        raise TooManyPages


def check_pixels(width: int, height: int) -> None:
    """Raise TooManyPixels if a page has more than `MAX_PIXELS`."""
    if width * height > MAX_PIXELS:
        raise TooManyPixels


def check_shape(width: float, height: float) -> None:
    """Raise Unreadable if a page is too small or too narrow to contain text."""
    short, long = sorted((width, height))
    # Written so that a side that is NaN fails, too.
    if not (short >= _LEAST_SIDE and long <= short * _MOST_LENGTHS):
        raise Unreadable
