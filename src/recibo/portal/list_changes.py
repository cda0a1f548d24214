"""What changed between two versions of a list, such as the line items of a receipt."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

#: A line of a list, as the API spells it.
Line = Mapping[str, Any]


def kept(before: Sequence[Line], after: Sequence[Line]) -> Iterator[tuple[int, int, bool]]:
    """Yield the places of each line in both versions, and whether it is the same in both.

    Lines that differ are paired if as many were put in their place.
    """
    for tag, first, last, start, end in _steps(before, after):
        if tag == "equal" or last - first == end - start:
            for offset in range(last - first):
                yield first + offset, start + offset, tag == "equal"


def changed(
    before: Sequence[Line], after: Sequence[Line]
) -> Iterator[tuple[Line | None, Line | None]]:
    """Yield the lines that differ, before and after; None for one that was added or removed."""
    for tag, first, last, start, end in _steps(before, after):
        if tag != "equal":
            yield from zip_longest(before[first:last], after[start:end])


def _steps(
    before: Sequence[Line], after: Sequence[Line]
) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, _texts(before), _texts(after), autojunk=False).get_opcodes()


def _texts(lines: Sequence[Line]) -> list[str]:
    return [json.dumps(dict(line), sort_keys=True, default=str) for line in lines]
