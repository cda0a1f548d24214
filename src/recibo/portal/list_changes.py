"""What changed between two versions of a list, such as the line items of a receipt."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
from typing import Any

# More lines that differ are compared by their places: each with each would take too long.
_MOST_COMPARED = 200

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


def differing(
    before: Sequence[Line], after: Sequence[Line]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the places of changed lines of the later version, with the values that they had.

    Where values were only added, that is the whole line.
    """
    for old, new, is_same in kept(before, after):
        if not is_same:
            line, now = before[old], after[new]
            lost = {name: one for name, one in line.items() if one not in (None, now.get(name))}
            yield new, lost or dict(line)


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
    old, new = _texts(before), _texts(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    first, last = old[head : len(old) - tail], new[head : len(new) - tail]
    steps = [("equal", 0, head, 0, head)] if head else []
    if max(len(first), len(last)) > _MOST_COMPARED:
        steps.append(("replace", head, head + len(first), head, head + len(last)))
    else:
        found = SequenceMatcher(None, first, last, autojunk=False).get_opcodes()
        steps += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in found]
    if tail:
        steps.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return steps


def _common(some: Sequence[str], others: Sequence[str]) -> int:
    """Return how many lines at the beginning are the same."""
    pairs = zip(some, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _texts(lines: Sequence[Line]) -> list[str]:
    return [json.dumps(dict(line), sort_keys=True, default=str) for line in lines]
