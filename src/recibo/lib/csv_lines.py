"""Writes CSV files that are safe to open in a spreadsheet."""

import csv
import io
from collections.abc import Iterable, Sequence

# A spreadsheet takes a cell that begins with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def joined(lines: Iterable[Sequence[str]], *, separator: str = ",") -> bytes:
    """Return lines of a CSV file: RFC 4180, in UTF-8."""
    # The writer ends lines with CR LF and quotes what needs it.
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=separator).writerows(lines)
    return written.getvalue().encode("utf-8", "replace")


def cell(value: str | float | None, *, is_amount: bool) -> str:
    """Return a cell that no spreadsheet takes for a formula; an amount may be negative."""
    if value is None:
        return ""
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) and not is_amount else text
