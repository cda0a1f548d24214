"""Normalizes lines for comparison with labels: no accents, no spaces, OCR confusions removed.

OCR joins words, loses accents and reads O for 0. A normalized line has no such differences, and the
position of each of its characters on the page is known.
"""

import functools
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recibo.extract.model import Box, Line, Word

# Characters that OCR confuses. Labels and lines are normalized in the same way. In the fonts of
# thermal printers it reads V as U.
_LOOK_ALIKES = str.maketrans("0QDILJ15826V", "OOOIIIISBZGU")
#: Shorter labels are too similar to each other to allow an error.
_SHORTEST = 6
#: From this length on, two errors are allowed.
_LONG = 14
#: Labels are indexed by their first letters and by the next ones: one of the two has no error.
_PROBE = 3


@dataclass(frozen=True, slots=True)
class NormalizedLine:
    """The normalized characters of a line, with their positions in its words."""

    line: Line
    text: str
    #: The index of each character's word in the line.
    owners: tuple[int, ...]
    #: The index of each character in its word's text.
    places: tuple[int, ...]
    #: Whether a word or a part of one begins at each character.
    starts: tuple[bool, ...]

    def box(self, start: int, end: int) -> Box:
        """Return the box of the characters from `start` to before `end`."""
        first, last = start, end - 1
        left = self._edge(first, self.places[first])
        right = self._edge(last, self.places[last] + 1)
        boxes = [word.box for word in self.line.words[self.owners[first] : self.owners[last] + 1]]
        return Box(left, min(box.y0 for box in boxes), right, max(box.y1 for box in boxes))

    def printed(self, start: int, end: int) -> str:
        """Return the printed text of the characters from `start` to before `end`."""
        words = self.line.words[self.owners[start] : self.owners[end - 1] + 1]
        text = " ".join(word.text for word in words)
        behind = len(words[-1].text) - self.places[end - 1] - 1
        return text[self.places[start] : len(text) - behind]

    def words_after(self, end: int) -> tuple[Word, ...]:
        """Return the words right of the characters before `end`, with a joined word cut in two."""
        if end == 0:
            return self.line.words
        owner, place = self.owners[end - 1], self.places[end - 1] + 1
        word = self.line.words[owner]
        rest = cut(word, place, len(word.text))
        return ((rest,) if rest else ()) + self.line.words[owner + 1 :]

    def words_between(self, start: int, end: int) -> tuple[Word, ...]:
        """Return the words right of the characters before `start` and left of `end`."""
        if end >= len(self.text):
            return self.words_after(start)
        stop = self.box(end, end + 1).x0
        return tuple(word for word in self.words_after(start) if word.box.x_center < stop)

    def _edge(self, index: int, place: int) -> float:
        word = self.line.words[self.owners[index]]
        return word.box.x0 + word.box.width * place / max(len(word.text), 1)


def normalize_label(text: str) -> str:
    """Normalize a label or another text."""
    return "".join(_normalize_character(letter) for letter in text)


def normalize_line(line: Line) -> NormalizedLine:
    """Normalize a line."""
    letters: list[str] = []
    owners: list[int] = []
    places: list[int] = []
    starts: list[bool] = []
    for owner, word in enumerate(line.words):
        begins = True
        for place, letter in enumerate(word.text):
            normalized = _normalize_character(letter)
            for sign in normalized:
                letters.append(sign)
                owners.append(owner)
                places.append(place)
                starts.append(begins)
                begins = False
            begins = begins or not normalized
    return NormalizedLine(line, "".join(letters), tuple(owners), tuple(places), tuple(starts))


def cut(word: Word, start: int, end: int) -> Word | None:
    """Return the part of a word between two positions, with its share of the box; None if blank."""
    text = word.text[start:end]
    if not text.strip(" :.;=-"):
        return None
    lead = len(text) - len(text.lstrip(" :.;="))
    unit = word.box.width / max(len(word.text), 1)
    box = Box(
        word.box.x0 + unit * (start + lead), word.box.y0, word.box.x0 + unit * end, word.box.y1
    )
    return Word(text[lead:].rstrip(), box, word.confidence, word.page)


@functools.lru_cache(maxsize=4096)
def _normalize_character(letter: str) -> str:
    """Return a letter in upper case without its accent; empty for spaces and punctuation."""
    # `N°` is the same as `Nº`.
    spread = unicodedata.normalize("NFKD", letter.replace("°", "º")).upper()
    kept = "".join(sign for sign in spread if sign.isalnum())
    return kept.translate(_LOOK_ALIKES)


@dataclass(frozen=True, slots=True)
class FuzzyPhrases:
    """An index of phrases that finds them with errors."""

    heads: Mapping[str, Sequence[str]]
    seconds: Mapping[str, Sequence[str]]

    def match(self, text: str, start: int) -> tuple[str, int] | None:
        """Return the longest phrase that begins at `start`, errors allowed, and its end."""
        return next(iter(self.every(text, start)), None)

    def every(self, text: str, start: int) -> Sequence[tuple[str, int]]:
        """Return the phrases that begin at `start` with their ends, the longest first."""
        found = (
            (phrase, end)
            for phrase in self._candidates(text, start)
            if (end := _end(phrase, text, start, errors=1 + (len(phrase) >= _LONG))) is not None
        )
        return sorted(found, key=lambda each: -len(each[0]))

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
