"""Finds rows with suggested tips, whose amounts were not paid."""

from collections.abc import Sequence

from recibo.extract.layout.rows import Row
from recibo.extract.text import lexicon

# "18%", "20%", "22%", with one or two rows each.
_MOST_ROWS = 9


def suggestions(rows: Sequence[Row]) -> frozenset[int]:
    """Return the indexes of the rows with a suggested tip or the total with it."""
    found: set[int] = set()
    for row in rows:
        if _is_offer(row):
            found.add(row.index)
        if lexicon.wordbook("suggested").find(row.text):
            found.add(row.index)
            found.update(_below(row, rows))
    return frozenset(found)


def _is_offer(row: Row) -> bool:
    """Return whether a row has a percentage, its tip and total: "20% (Tip 2 Total 12)"."""
    kinds = {label.kind for label in row.labels}
    return _has_share(row) and {"charge", "total"} <= kinds


def _below(heading: Row, rows: Sequence[Row]) -> list[int]:
    """Return the rows right below a heading that each begin with a share of the bill."""
    found = []
    for row in rows[heading.index + 1 : heading.index + 1 + _MOST_ROWS]:
        if not _has_share(row):
            break
        found.append(row.index)
    return found


def _has_share(row: Row) -> bool:
    return any(amount.is_percent for amount in row.amounts)
