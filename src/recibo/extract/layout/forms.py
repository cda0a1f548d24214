"""Printed forms: labels of a vocabulary on the page, and the values that belong to them.

A value stands right of its label or under it, in the column that reaches to the next box. Nothing
here knows a layout: several hundred municipal forms differ only in where their boxes stand.
"""

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from recibo.extract.model import Box, Extracted, TextPage, Word, around
from recibo.extract.text import fuzzy_labels
from recibo.extract.text.fuzzy_labels import Misreadings
from recibo.extract.text.squeezed import SqueezedLine, squeeze, squeeze_line

T = TypeVar("T")
K = TypeVar("K", int, str)
#: Reads a value from the text of a box, or declines.
Reader = Callable[[str], T | None]

#: Up to this length a label is a common word, and must begin a cell and end a word.
_SHORT = 6
#: From this length on a label is itself even in the middle of a glued word.
_LONG = 10
#: Words of one label stand at most this many heights apart: `Alíquota (%)` and the `ISS (R$)` of
#: the next box are not the rate of the ISS.
_WIDEST_GAP = 2.0
#: A gap wider than this many heights parts two cells of a line.
_CELL_GAP = 0.9
#: A value stands at most this many label heights under its label.
_DEEPEST = 4.5
#: No more rows of the smallest type fit there.
_MOST_ROWS = 30
#: The middle of a value may lie this many label heights left of its label: pictures are slanted.
#: No more, for the values of the box before end there when they are set to the right.
_OVERHANG = 0.25


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Labels by what they announce."""

    pattern: re.Pattern[str]
    kinds: Mapping[str, str]
    #: The same phrases for recognised text, which has errors.
    misreadings: Misreadings


@dataclass(frozen=True, slots=True)
class Label:
    """A label met on the page."""

    kind: str
    #: Index of its line in the form.
    line: int
    #: The squeezed characters it spans.
    start: int
    end: int
    box: Box
    page: int


@dataclass(frozen=True, slots=True)
class Cell:
    """Words that belong together."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words with blanks between."""
        return " ".join(word.text for word in self.words)

    @property
    def box(self) -> Box:
        """The box around the words."""
        return around([word.box for word in self.words])

    @property
    def confidence(self) -> float:
        """The lowest of the words' confidences."""
        return min(word.confidence for word in self.words)

    @property
    def type_height(self) -> float:
        """The height of the tallest word; the box of a slanted row is taller than its type."""
        return max(word.box.height for word in self.words)

    @property
    def is_exact(self) -> bool:
        """Whether the words come from a text layer, which misreads nothing."""
        return self.confidence >= 1

    def found(self, value: T, *, confidence: float = 1.0) -> Extracted[T]:
        """Return a value read from this cell, with the cell as its evidence."""
        return Extracted(
            value, confidence * self.confidence, self.text, self.words[0].page, self.box
        )


def vocabulary(phrases: Mapping[str, Sequence[str]]) -> Vocabulary:
    """Make a vocabulary of phrases by kind."""
    kinds = {squeeze(phrase): kind for kind, known in phrases.items() for phrase in known}
    longest_first = sorted(kinds, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    return Vocabulary(pattern, kinds, fuzzy_labels.of(kinds))


@dataclass(frozen=True)
class Form:
    """A document as lines and the labels on them."""

    lines: tuple[SqueezedLine, ...]
    labels: tuple[Label, ...]

    @classmethod
    def of(cls, text_pages: Sequence[TextPage], words: Vocabulary) -> "Form":
        """Look for the labels of a vocabulary on every text_page."""
        lines = tuple(squeeze_line(line) for text_page in text_pages for line in text_page.lines)
        labels = [label for index in range(len(lines)) for label in _labels(index, lines, words)]
        return cls(lines, tuple(labels))

    def every(self, kind: str) -> Sequence[Label]:
        """Return the labels of a kind in reading order."""
        return self._by_kind.get(kind, ())

    def on_line(self, index: int) -> Sequence[Label]:
        """Return the labels on a line from left to right."""
        return self._by_line.get(index, ())

    def first(self, kind: str) -> Label | None:
        """Return the first label of a kind."""
        return next(iter(self.every(kind)), None)

    def right(self, label: Label) -> Cell | None:
        """Return what stands right of a label, up to the next label of the line."""
        line = self.lines[label.line]
        following = self._following(label)
        words = line.words_between(label.end, following.start if following else len(line.text))
        return Cell(words) if words else None

    def below(self, label: Label) -> Iterator[Cell]:
        """Return what stands under a label in its column, row by row, up to the next label."""
        left = label.box.x0 - _OVERHANG * label.box.height
        right = self._right_edge(label)
        deepest = label.box.y1 + _DEEPEST * label.box.height
        for index, line in enumerate(self._lines_below(label), label.line + 1):
            if line.line.page != label.page or line.line.box.y0 > deepest:
                return
            words = tuple(
                word
                for word in line.line.words
                if left <= word.box.x_centre < right
                and word.box.y_centre > label.box.y1 - label.box.height * 0.2
            )
            if any(left <= other.box.x0 < right for other in self.on_line(index)):
                return
            if words:
                yield Cell(words)

    def read(self, kinds: Sequence[str], reader: Reader[T]) -> Iterator[Extracted[T]]:
        """Read the values of the labels of some kinds, the first kind first.

        The text right of a label goes before the text under it.
        """
        for kind in kinds:
            for label in self.every(kind):
                found = self.read_at(label, reader)
                if found is not None:
                    yield found

    def read_at(self, label: Label, reader: Reader[T]) -> Extracted[T] | None:
        """Read the value of one label."""
        beside = self.right(label)
        for cell in ([beside] if beside else []) + list(self.below(label)):
            value = reader(cell.text)
            if value is not None:
                return cell.found(value)
        return None

    def _right_edge(self, label: Label) -> float:
        """Return where the next box of the label's line begins."""
        line = self.lines[label.line]
        reach = label.box.x1
        for word in line.words_after(label.end):
            if word.box.x0 - reach > _CELL_GAP * label.box.height:
                return word.box.x0
            reach = max(reach, word.box.x1)
        following = self._following(label)
        return following.box.x0 if following else float("inf")

    def _lines_below(self, label: Label) -> Sequence[SqueezedLine]:
        return self.lines[label.line + 1 : label.line + 1 + _MOST_ROWS]

    def _following(self, label: Label) -> Label | None:
        """Return the next label on the line of a label."""
        others = self.on_line(label.line)
        return next((other for other in others if other.start >= label.end), None)

    @functools.cached_property
    def _by_kind(self) -> Mapping[str, Sequence[Label]]:
        return _grouped(self.labels, lambda label: label.kind)

    @functools.cached_property
    def _by_line(self) -> Mapping[int, Sequence[Label]]:
        return _grouped(self.labels, lambda label: label.line)


def _grouped(labels: Iterable[Label], key: Callable[[Label], K]) -> Mapping[K, Sequence[Label]]:
    groups: defaultdict[K, list[Label]] = defaultdict(list)
    for label in labels:
        groups[key(label)].append(label)
    return groups


def cells(words: Sequence[Word]) -> Iterator[Cell]:
    """Part words of one row into cells at the wide gaps."""
    current: list[Word] = []
    for word in words:
        if current and word.box.x0 - current[-1].box.x1 > _CELL_GAP * word.box.height:
            yield Cell(tuple(current))
            current = []
        current.append(word)
    if current:
        yield Cell(tuple(current))


def _labels(index: int, lines: Sequence[SqueezedLine], words: Vocabulary) -> Iterator[Label]:
    line = lines[index]
    is_exact = line.line.confidence >= 1
    place = 0
    while place < len(line.text):
        found = _match(line, place, words, exact=is_exact)
        if found is None:
            place += 1
            continue
        phrase, end = found
        box = line.box(place, end)
        yield Label(words.kinds[phrase], index, place, end, box, line.line.page)
        place = end


def _match(
    line: SqueezedLine, place: int, words: Vocabulary, *, exact: bool
) -> tuple[str, int] | None:
    """Return the phrase that begins at a place and where it ends."""
    match = words.pattern.match(line.text, place)
    for end in range(match.end() if match else place, place, -1):
        phrase = line.text[place:end]
        if phrase in words.kinds and _is_label(line, place, end) and _is_whole(line, place, end):
            return phrase, end
    if exact or not line.starts[place]:
        return None
    near = words.misreadings.match(line.text, place)
    # A rule parts headings: two halves of their own are no label read wrongly.
    if near is None or "|" in line.printed(place, near[1]):
        return None
    is_label = _is_label(line, place, near[1]) and _is_whole(line, place, near[1])
    return near if is_label else None


def _is_whole(line: SqueezedLine, start: int, end: int) -> bool:
    """Tell whether no wide gap parts the characters, as between the labels of two boxes."""
    words = line.line.words[line.owners[start] : line.owners[end - 1] + 1]
    return all(
        right.box.x0 - left.box.x1 <= _WIDEST_GAP * right.box.height
        for left, right in itertools.pairwise(words)
    )


def _is_label(line: SqueezedLine, start: int, end: int) -> bool:
    """Tell whether the characters stand apart enough to be a label, the shorter the stricter."""
    length = end - start
    if length >= _LONG:
        return True
    if not line.starts[start]:
        return False
    ends_word = end == len(line.text) or line.starts[end]
    return ends_word and (length > _SHORT or _begins_cell(line, start))


def _begins_cell(line: SqueezedLine, start: int) -> bool:
    if start == 0 or line.owners[start] == line.owners[start - 1]:
        return start == 0
    word, before = line.line.words[line.owners[start]], line.line.words[line.owners[start] - 1]
    return word.box.x0 - before.box.x1 > _CELL_GAP * word.box.height
