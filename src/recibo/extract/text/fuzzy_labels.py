"""Finds labels with OCR errors: a wrong, missing or extra letter."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

#: Shorter labels are too similar to each other to allow an error.
_SHORTEST = 6
#: From this length on, two errors are allowed.
_LONG = 14
#: Labels are indexed by their first letters and by the next ones: one of the two has no error.
_PROBE = 3


@dataclass(frozen=True, slots=True)
class FuzzyPhrases:
    """An index of phrases that finds them with errors."""

    heads: Mapping[str, Sequence[str]]
    seconds: Mapping[str, Sequence[str]]

    def match(self, text: str, start: int) -> tuple[str, int] | None:
        """Return the longest phrase that begins at `start`, errors allowed, and its end."""
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


def of(phrases: Iterable[str]) -> FuzzyPhrases:
    """Index normalized phrases."""
    heads: dict[str, list[str]] = {}
    seconds: dict[str, list[str]] = {}
    for phrase in phrases:
        if len(phrase) >= _SHORTEST:
            heads.setdefault(phrase[:_PROBE], []).append(phrase)
            seconds.setdefault(phrase[_PROBE : 2 * _PROBE], []).append(phrase)
    return FuzzyPhrases(heads, seconds)


def _end(phrase: str, text: str, start: int, *, errors: int) -> int | None:
    """Return the end of a phrase that begins at `start` with at most this many errors."""
    place = 0
    while place < len(phrase) and text[start + place : start + place + 1] == phrase[place]:
        place += 1
    if place == len(phrase):
        return start + place
    if errors == 0 or start + place >= len(text):
        return None
    rest, at = phrase[place:], start + place
    # A wrong letter, a missing one, an extra one.
    trials = ((rest[1:], at + 1), (rest[1:], at), (rest, at + 1))
    ends = (_end(left, text, next_at, errors=errors - 1) for left, next_at in trials)
    return next((end for end in ends if end is not None), None)
