"""Labels that a reader got almost right: a letter wrong, lost or doubled."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

#: Shorter labels are too much alike to allow for an error.
_SHORTEST = 6
#: From this length on two errors leave no doubt.
_LONG = 14
#: Labels are looked up by so many letters, at their head and behind it: one of them is sound.
_PROBE = 3


@dataclass(frozen=True, slots=True)
class Misreadings:
    """Phrases, found in spite of errors."""

    heads: Mapping[str, Sequence[str]]
    seconds: Mapping[str, Sequence[str]]

    def match(self, text: str, start: int) -> tuple[str, int] | None:
        """Return the longest phrase that begins at a place with errors, and where it ends."""
        found = (
            (phrase, end)
            for phrase in self._candidates(text, start)
            if (end := _end(phrase, text, start, errors=1 + (len(phrase) >= _LONG))) is not None
        )
        return max(found, key=lambda each: len(each[0]), default=None)

    def _candidates(self, text: str, start: int) -> Iterator[str]:
        yield from self.heads.get(text[start : start + _PROBE], ())
        second = start + _PROBE
        yield from self.seconds.get(text[second : second + _PROBE], ())


def of(phrases: Iterable[str]) -> Misreadings:
    """Prepare phrases, squeezed, for look-up."""
    heads: dict[str, list[str]] = {}
    seconds: dict[str, list[str]] = {}
    for phrase in phrases:
        if len(phrase) >= _SHORTEST:
            heads.setdefault(phrase[:_PROBE], []).append(phrase)
            seconds.setdefault(phrase[_PROBE : 2 * _PROBE], []).append(phrase)
    return Misreadings(heads, seconds)


def _end(phrase: str, text: str, start: int, *, errors: int) -> int | None:
    """Return where a phrase ends in a text if it stands there with at most so many errors."""
    place = 0
    while place < len(phrase) and text[start + place : start + place + 1] == phrase[place]:
        place += 1
    if place == len(phrase):
        return start + place
    if errors == 0 or start + place >= len(text):
        return None
    rest, at = phrase[place:], start + place
    # A letter wrong, one lost, one too many.
    trials = ((rest[1:], at + 1), (rest[1:], at), (rest, at + 1))
    ends = (_end(left, text, next_at, errors=errors - 1) for left, next_at in trials)
    return next((end for end in ends if end is not None), None)
