"""Lines squeezed for comparison with labels: no accents, no blanks, look-alike signs made one.

Readers glue words together, lose accents and take O for 0; a squeezed line has no such differences,
and each of its characters still knows where it stands on the page.
"""

import functools
import unicodedata
from dataclasses import dataclass

from recibo.extract.model import Box, Line, Word

# Signs that readers take for one another; labels and lines are squeezed alike, so nothing is lost.
_LOOK_ALIKES = str.maketrans("0QDILJ5826", "OOOIIISBZG")


@dataclass(frozen=True, slots=True)
class SqueezedLine:
    """A line as squeezed characters, with the way back to its words."""

    line: Line
    text: str
    #: For each character the index of its word in the line.
    owners: tuple[int, ...]
    #: For each character its place in its word's text.
    places: tuple[int, ...]
    #: For each character whether a word or a part of one begins there.
    starts: tuple[bool, ...]

    def box(self, start: int, end: int) -> Box:
        """Return the box of the characters from `start` to before `end`."""
        first, last = start, end - 1
        left = self._edge(first, self.places[first])
        right = self._edge(last, self.places[last] + 1)
        boxes = [word.box for word in self.line.words[self.owners[first] : self.owners[last] + 1]]
        return Box(left, min(box.y0 for box in boxes), right, max(box.y1 for box in boxes))

    def printed(self, start: int, end: int) -> str:
        """Return the text from which the characters from `start` to before `end` were squeezed."""
        words = self.line.words[self.owners[start] : self.owners[end - 1] + 1]
        text = " ".join(word.text for word in words)
        behind = len(words[-1].text) - self.places[end - 1] - 1
        return text[self.places[start] : len(text) - behind]

    def words_after(self, end: int) -> tuple[Word, ...]:
        """Return what stands right of the characters before `end`, a glued word cut in two."""
        if end == 0:
            return self.line.words
        owner, place = self.owners[end - 1], self.places[end - 1] + 1
        word = self.line.words[owner]
        rest = cut(word, place, len(word.text))
        return ((rest,) if rest else ()) + self.line.words[owner + 1 :]

    def words_between(self, start: int, end: int) -> tuple[Word, ...]:
        """Return what stands right of the characters before `start` and left of `end`."""
        if end >= len(self.text):
            return self.words_after(start)
        stop = self.box(end, end + 1).x0
        return tuple(word for word in self.words_after(start) if word.box.x_centre < stop)

    def _edge(self, index: int, place: int) -> float:
        word = self.line.words[self.owners[index]]
        return word.box.x0 + word.box.width * place / max(len(word.text), 1)


def squeeze(text: str) -> str:
    """Return a label or text squeezed."""
    return "".join(_squeeze_letter(letter) for letter in text)


def squeeze_line(line: Line) -> SqueezedLine:
    """Squeeze a line."""
    letters: list[str] = []
    owners: list[int] = []
    places: list[int] = []
    starts: list[bool] = []
    for owner, word in enumerate(line.words):
        begins = True
        for place, letter in enumerate(word.text):
            squeezed = _squeeze_letter(letter)
            for sign in squeezed:
                letters.append(sign)
                owners.append(owner)
                places.append(place)
                starts.append(begins)
                begins = False
            begins = begins or not squeezed
    return SqueezedLine(line, "".join(letters), tuple(owners), tuple(places), tuple(starts))


def cut(word: Word, start: int, end: int) -> Word | None:
    """Return the part of a word between two places, its box cut in proportion; None if blank."""
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
def _squeeze_letter(letter: str) -> str:
    """Return the letter without its accent in capitals, empty for blanks and punctuation."""
    spread = unicodedata.normalize("NFKD", letter).upper()
    kept = "".join(sign for sign in spread if sign.isalnum())
    return kept.translate(_LOOK_ALIKES)
