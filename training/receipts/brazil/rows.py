"""The rows of a printed receipt and what they are, for what is lost of them later."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from training.receipts.prints import Page, Text

_BELOW_HEAD = re.compile(
    r"documento auxiliar|danfe|cupom fiscal|\d\d/\d\d/\d{4} \d\d:", re.IGNORECASE
)
_SUM = re.compile(r"valor total|subtotal", re.IGNORECASE)
_PAYMENTS = re.compile(r"forma.*pagamento|total {1,2}r\$", re.IGNORECASE)
_PAYMENT = re.compile(
    r"valor pago|(?:dinheiro|cart[aã]o|pix|vale|outros|troco)\b|.*\d,\d\d$", re.IGNORECASE
)
#: The fewest digits by which a row is part of a key.
_KEY_PART = 12


@dataclass(frozen=True, slots=True)
class Row:
    """Texts on one base line."""

    marks: tuple[Text, ...]

    @property
    def text(self) -> str:
        """The texts from left to right, with one space between words."""
        ordered = sorted(self.marks, key=lambda mark: mark.left)
        return " ".join(" ".join(mark.text for mark in ordered).split())

    @property
    def y(self) -> float:
        """The base line."""
        return self.marks[0].y

    @property
    def size(self) -> float:
        """The largest type size."""
        return max(mark.size for mark in self.marks)

    @property
    def bottom(self) -> float:
        """The lower end of its letters."""
        return self.y + 0.3 * self.size


def rows(page: Page) -> list[Row]:
    """Return the rows of words from top to bottom, without those of dashes."""
    by_line: dict[float, list[Text]] = {}
    for mark in page.marks:
        if isinstance(mark, Text) and signs(mark.text):
            by_line.setdefault(mark.y, []).append(mark)
    return [Row(tuple(marks)) for _, marks in sorted(by_line.items())]


def head(printed: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of the seller, above the title or the date."""
    below = (at for at, row in enumerate(printed) if _BELOW_HEAD.search(row.text))
    return printed[: next(below, 0)]


def paid(printed: Sequence[Row]) -> int:
    """Return the place of the last row of the payments."""
    last = next(place for place, row in enumerate(printed) if _PAYMENTS.match(row.text))
    while last + 1 < len(printed) and _PAYMENT.match(printed[last + 1].text):
        last += 1
    return last


def is_sum(row: Row) -> bool:
    """Return whether a row has the sum of the items."""
    return bool(_SUM.match(row.text))


def is_of_key(row: Row, key: str | None) -> bool:
    """Return whether a row is a key or a part of it."""
    read = signs(row.text)
    return key is not None and len(read) >= _KEY_PART and read in key


def signs(text: str) -> str:
    """Return the letters and digits of a text."""
    return re.sub(r"[\W_]", "", text)
