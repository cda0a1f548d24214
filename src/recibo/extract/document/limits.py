"""What a document may cost before it is refused."""

from recibo.extract.errors import TooManyPages, TooManyPixels, Unreadable

#: The largest file. Those who receive files judge it: they refuse while the bytes still come in.
MAX_BYTES = 15 * 1024 * 1024

MAX_PAGES = 30

#: Of one page.
MAX_PIXELS = 100_000_000

#: Pixels or points of the short side; below this no letter fits.
_LEAST_SIDE = 8

#: The longest till rolls are thirty times as long as they are wide.
_MOST_LENGTHS = 40


def check_pages(count: int) -> None:
    """Raise TooManyPages when a document has more pages than are read."""
    if count > MAX_PAGES:
        raise TooManyPages


def check_pixels(width: int, height: int) -> None:
    """Raise TooManyPixels when a page is larger than is decoded."""
    if width * height > MAX_PIXELS:
        raise TooManyPixels


def check_shape(width: float, height: float) -> None:
    """Raise Unreadable when a page has a shape that holds no text, or none at all."""
    short, long = sorted((width, height))
    # Written so that a side that is not a number fails, too.
    if not (short >= _LEAST_SIDE and long <= short * _MOST_LENGTHS):
        raise Unreadable
