"""Receipts of Brazilian tills: rows are added from top to bottom."""

import random
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from training.receipts.faces import Case, Face
from training.receipts.prints import MM, Print
from training.receipts.strips import Cell, CodeRow, Row, RuleRow, Strip, set_rows

#: The printable width of 80 and 58 mm wide tapes.
_WIDE, _NARROW = 72 * MM, 48 * MM
_MARGIN = 4 * MM


@dataclass(frozen=True, slots=True)
class Roll:
    """The width of a tape, and the characters per row."""

    width: float
    columns: int

    def strip(self, face: Face) -> Strip:
        """Return the strip in a face; its size follows from the width."""
        size = self.width / self.columns / (face.width("0" * 100, 1) / 100)
        return Strip(columns=self.columns, size=size, pitch=1.2, margin=_MARGIN, face=face)


FISCAL_WIDTHS = (Roll(_WIDE, 42), Roll(_WIDE, 48), Roll(_NARROW, 32))
WIDTHS = (*FISCAL_WIDTHS, Roll(_WIDE, 56), Roll(_WIDE, 64), Roll(_NARROW, 38))


class Tape:
    """A strip being printed."""

    def __init__(self, strip: Strip) -> None:
        self._strip = strip
        self._rows: list[Row | RuleRow | CodeRow] = []

    @property
    def columns(self) -> int:
        """The characters per row."""
        return self._strip.columns

    def center(self, text: str, *, is_bold: bool = False, scale: float = 1) -> None:
        """Print text in the middle, broken into as many rows as it needs."""
        for part in self._broken(text, scale):
            self._add(Row(part, is_centered=True), is_bold=is_bold, scale=scale)

    def left(self, text: str, *, is_bold: bool = False, scale: float = 1) -> None:
        """Print text from the left edge, broken into as many rows as it needs."""
        for part in self._broken(text, scale):
            self._add(Row(part), is_bold=is_bold, scale=scale)

    def pair(self, left: str, right: str, *, is_bold: bool = False, scale: float = 1) -> None:
        """Print a text at the left and one at the right edge, below if there is no room."""
        if self._extent(f"{left} {right}", scale) > self._strip.width:
            self.left(left, is_bold=is_bold, scale=scale)
            left = ""
        self._add(Row(left, right), is_bold=is_bold, scale=scale)

    def cells(self, cells: Sequence[Cell]) -> None:
        """Print a row of columns."""
        self._add(Row(cells=tuple(cells)))

    def rule(self) -> None:
        """Print a row of dashes."""
        self._rows.append(RuleRow())

    def blank(self) -> None:
        """Print an empty row."""
        self._add(Row())

    def qr(self, text: str, *, share: float = 0.45) -> None:
        """Print a QR code in the middle."""
        self._rows.append(CodeRow("QRCode", text, share))

    def bars(self, text: str) -> None:
        """Print a Code 128 over the whole width."""
        self._rows.append(CodeRow("Code128", text, 0.92, 0.13))

    def cut(self) -> Print:
        """Return what was printed."""
        return set_rows(self._rows, self._strip)

    def _add(self, row: Row, *, is_bold: bool = False, scale: float = 1) -> None:
        self._rows.append(
            Row(row.left, row.right, row.is_centered, is_bold, scale, scale, row.cells)
        )

    def _broken(self, text: str, scale: float) -> list[str]:
        """Break a text into rows that fit; a word too long for a row is broken anywhere."""
        rows = [""]
        for word in text.split():
            for part in textwrap.wrap(word, int(self.columns / scale)):
                longer = f"{rows[-1]} {part}".strip()
                is_fitting = self._extent(longer, scale) <= self._strip.width
                rows[-1:] = [longer] if is_fitting else [rows[-1], part]
        return [row for row in rows if row]

    def _extent(self, text: str, scale: float) -> float:
        face, size = self._strip.face, self._strip.size
        # Sums of widths differ by rounding.
        return face.width(text, size, is_bold=True) * scale - 0.01


def tape(rng: random.Random, case: Case, widths: Sequence[Roll] = WIDTHS) -> Tape:
    """Return an empty tape of a random width and face; proportional fonts need a wider one."""
    roll = rng.choice(tuple(widths))
    is_fixed = roll.columns < 40 or rng.random() < 0.75
    return Tape(roll.strip(rng.choice(case.fixed if is_fixed else case.proportional)))


def fiscal_tape(rng: random.Random, case: Case) -> Tape:
    """Return an empty tape of a printer with a built-in font."""
    return Tape(rng.choice(FISCAL_WIDTHS).strip(rng.choice(case.fixed)))
