"""Splits long pictures into overlapping tiles, each of which owns a part."""

import itertools
import math
from dataclasses import dataclass

#: The share of a tile that overlaps the next one: more than the height of a line.
OVERLAP = 0.1


@dataclass(frozen=True, slots=True)
class Span:
    """The range of a tile, and the range of middles of the regions that it owns."""

    start: int
    end: int
    owned_from: float
    owned_to: float

    def owns(self, place: float) -> bool:
        """Return whether a region with its middle here belongs to this tile."""
        return self.owned_from <= place < self.owned_to


def spans(length: int, tile: int) -> list[Span]:
    """Split a length into equal overlapping spans of at most `tile`."""
    overlap = tile * OVERLAP
    count = max(1, math.ceil((length - overlap) / (tile - overlap)))
    size = min(tile, length)
    starts = [round(number * (length - size) / max(1, count - 1)) for number in range(count)]
    borders = [(before + size + after) / 2 for before, after in itertools.pairwise(starts)]
    owned = itertools.pairwise([-math.inf, *borders, math.inf])
    return [Span(start, start + size, *bounds) for start, bounds in zip(starts, owned, strict=True)]
