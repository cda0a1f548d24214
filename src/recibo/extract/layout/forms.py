"""Finds the labels of a vocabulary on printed forms, and the values of the labels.

A value is right of its label or below it, in the column that ends at the next box. This works for
every layout: several hundred municipal forms differ only in the places of their boxes.
"""

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from recibo.extract.layout.rows import CELL_GAP, Cell
from recibo.extract.model import Box, Extracted, TextPage
from recibo.extract.text import normalized_lines
from recibo.extract.text.normalized_lines import (
    FuzzyPhrases,
    NormalizedLine,
    normalize_label,
    normalize_line,
)

T = TypeVar("T")
K = TypeVar("K", int, str)
#: Reads a value from the text of a box, or returns None.
Reader = Callable[[str], T | None]

#: Labels up to this length are common words: they must begin a cell and end a word.
_SHORT = 6
#: Labels from this length on are found even inside joined words.
_LONG = 10
#: Words of one label are at most this many heights apart: `Alíquota (%)` and the `ISS (R$)` of
#: the next box are not the rate of the ISS.
WIDEST_GAP = 2.0
#: A value is at most this many label heights below its label.
_DEEPEST = 4.5
#: The most rows that fit there, in the smallest type.
_MOST_ROWS = 30
#: The middle of a value may be this many label heights left of its label, as on slanted pictures.
#: Not more, since right-aligned values of the previous box end there.
_OVERHANG = 0.25


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Labels and their kinds."""

    pattern: re.Pattern[str]
    kinds: Mapping[str, str]
    #: The same phrases for text with OCR errors.
    fuzzy: FuzzyPhrases


@dataclass(frozen=True, slots=True)
class Label:
    """A label found on the page."""

    kind: str
    #: Index of its line in the form.
    line: int
    #: Its range in the normalized characters.
    start: int
    end: int
    box: Box
    page: int


def vocabulary(phrases: Mapping[str, Sequence[str]]) -> Vocabulary:
    """Make a vocabulary of phrases by kind."""
    kinds = {normalize_label(phrase): kind for kind, known in phrases.items() for phrase in known}
    longest_first = sorted(kinds, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    return Vocabulary(pattern, kinds, normalized_lines.of(kinds))


@dataclass(frozen=True)
class Form:
    """A document as lines and the labels on them."""

    lines: tuple[NormalizedLine, ...]
    labels: tuple[Label, ...]

    @classmethod
    def of(cls, text_pages: Sequence[TextPage], words: Vocabulary) -> "Form":
        """Find the labels of a vocabulary on all pages."""
        lines = tuple(normalize_line(line) for text_page in text_pages for line in text_page.lines)
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
        """Return the text right of a label, up to the next label of the line."""
        line = self.lines[label.line]
        following = self._following(label)
        words = line.words_between(label.end, following.start if following else len(line.text))
        return Cell(words) if words else None

    def below(self, label: Label) -> Iterator[Cell]:
        """Yield the cells below a label in its column, up to the next label."""
        left = label.box.x0 - _OVERHANG * label.box.height
        right = self._right_edge(label)
        deepest = label.box.y1 + _DEEPEST * label.box.height
        for index, line in enumerate(self._lines_below(label), label.line + 1):
            if line.line.page != label.page or line.line.box.y0 > deepest:
                return
            words = tuple(
                word
                for word in line.line.words
                if left <= word.box.x_center < right
                and word.box.y_center > label.box.y1 - label.box.height * 0.2
            )
            if any(left <= other.box.x0 < right for other in self.on_line(index)):
                return
            if words:
                yield Cell(words)

    def read(self, kinds: Sequence[str], reader: Reader[T]) -> Iterator[Extracted[T]]:
        """Yield the values of the labels of some kinds, in the order of the kinds.

        The text right of a label is tried before the text below it.
        """
        for kind in kinds:
            for label in self.every(kind):
                found = self.read_at(label, reader)
                if found is not None:
                    yield found

    def read_at(self, label: Label, reader: Reader[T]) -> Extracted[T] | None:
        """Read the value of one label."""
        right = self.right(label)
        for cell in ([right] if right else []) + list(self.below(label)):
            value = reader(cell.text)
            if value is not None:
                return cell.found(value)
        return None

    def _right_edge(self, label: Label) -> float:
        """Return the left edge of the next box on the label's line."""
        line = self.lines[label.line]
        reach = label.box.x1
        for word in line.words_after(label.end):
            if word.box.x0 - reach > CELL_GAP * label.box.height:
                return word.box.x0
            reach = max(reach, word.box.x1)
        following = self._following(label)
        return following.box.x0 if following else float("inf")

    def _lines_below(self, label: Label) -> Sequence[NormalizedLine]:
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


def _labels(index: int, lines: Sequence[NormalizedLine], words: Vocabulary) -> Iterator[Label]:
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
    line: NormalizedLine, place: int, words: Vocabulary, *, exact: bool
) -> tuple[str, int] | None:
    """Return the phrase that begins at a position, and its end."""
    match = words.pattern.match(line.text, place)
    for end in range(match.end() if match else place, place, -1):
        phrase = line.text[place:end]
        if phrase in words.kinds and _is_label(line, place, end) and _is_whole(line, place, end):
            return phrase, end
    if exact or not line.starts[place]:
        return None
    for near in words.fuzzy.every(line.text, place):
        # A vertical rule separates headings: the halves of two headings are not a misread label.
        is_label = _is_label(line, place, near[1]) and "|" not in line.printed(place, near[1])
        # The longest may reach into the amount: `valor des serviçes:  RS 15,00`.
        if is_label and _is_whole(line, place, near[1]):
            return near
    return None


def _is_whole(line: NormalizedLine, start: int, end: int) -> bool:
    """Return whether the characters have no wide gap, as between the labels of two boxes."""
    words = line.line.words[line.owners[start] : line.owners[end - 1] + 1]
    return all(
        right.box.x0 - left.box.x1 <= WIDEST_GAP * right.box.height
        for left, right in itertools.pairwise(words)
    )


def _is_label(line: NormalizedLine, start: int, end: int) -> bool:
    """Return whether the characters are separate enough to be a label; short ones more so."""
    length = end - start
    if length >= _LONG:
        return True
    if not line.starts[start]:
        return False
    ends_word = end == len(line.text) or line.starts[end]
    return ends_word and (length > _SHORT or _begins_cell(line, start))


def _begins_cell(line: NormalizedLine, start: int) -> bool:
    if start == 0 or line.owners[start] == line.owners[start - 1]:
        return start == 0
    word, before = line.line.words[line.owners[start]], line.line.words[line.owners[start] - 1]
    return word.box.x0 - before.box.x1 > CELL_GAP * word.box.height
