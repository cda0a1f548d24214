"""Cuts long strips into overlapping tiles, of which each owns a part."""

import itertools
import math
from dataclasses import dataclass

#: How much of a tile its neighbour sees too: more than a line is tall.
OVERLAP = 0.1


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a strip, which owns what has its middle between two places."""

    start: int
    end: int
    owned_from: float
    owned_to: float

    def owns(self, place: float) -> bool:
        """Tell whether what stands here is this span's and no neighbour's."""
        return self.owned_from <= place < self.owned_to


def spans(length: int, tile: int) -> list[Span]:
    """Cut a length into equal spans of at most `tile` that overlap."""
    overlap = tile * OVERLAP
    count = max(1, math.ceil((length - overlap) / (tile - overlap)))
    size = min(tile, length)
    starts = [round(number * (length - size) / max(1, count - 1)) for number in range(count)]
    seams = [(before + size + after) / 2 for before, after in itertools.pairwise(starts)]
    owned = itertools.pairwise([-math.inf, *seams, math.inf])
    return [Span(start, start + size, *bounds) for start, bounds in zip(starts, owned, strict=True)]
