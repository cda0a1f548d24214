"""Finds known phrases in a line, ignoring case, accents, spaces and punctuation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from recibo.extract.text.folding import NormalizedText, normalize

# OCR drops spaces ("TOTALINCLUSIVE"), so a phrase of at least this many letters may be joined to
# the next word. A shorter one must end with its word, or "tax" would be found in "taxi".
_JOINED_LETTERS = 5

# Shorter words are one edit from too many others.
_REPAIRED_LETTERS = 4

# Phrases are indexed by their first letters, so most words of a line are skipped at once.
_HEAD_LETTERS = 2

# Longer texts are not remembered, since they are not rows.
_ROW_LETTERS = 600


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that was found, and its position in the line's text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _RepairedText:
    """The normalized text of a line after the repair of misread words."""

    letters: str
    #: The index in the line of each letter.
    places: tuple[int, ...]
    #: The indices into `letters` at which a word begins.
    starts: tuple[int, ...]


class Phrasebook:
    """Phrases of several kinds; where several match, the longest one is found."""

    def __init__(
        self,
        kinds: Mapping[str, Iterable[str]],
        *,
        joined: bool = True,
        repaired: Iterable[str] = (),
        exact: Iterable[str] = (),
    ) -> None:
        """Index phrases by kind.

        Args:
            kinds: The phrases by kind; one that is in two kinds belongs to the first.
            joined: Whether spaces may be missing or extra: a long phrase is then found before
                further letters, and a word in two pieces. If not, words must match exactly.
            repaired: Words that are also found with one wrong, missing or extra letter.
            exact: Words that are none of these with such a letter.
        """
        self._joined = joined
        self._repaired = _normalized_words(tuple(repaired))
        self._exact = _normalized_words(tuple(exact))
        self._kinds: dict[str, str] = {}
        self._spaces: dict[str, int] = {}
        self._single: set[str] = set()
        for kind, phrases in kinds.items():
            for phrase in phrases:
                letters = normalize(phrase).letters
                self._kinds.setdefault(letters, kind)
                self._spaces[letters] = max(self._spaces.get(letters, 0), phrase.count(" "))
                if " " not in phrase:
                    self._single.add(letters)
        self._head = min([_HEAD_LETTERS, *map(len, self._kinds)])
        self._lengths = _lengths_by_head(self._kinds, self._head)

    def find(self, text: str) -> tuple[Phrase, ...]:
        """Return the phrases in `text` from left to right, without overlaps."""
        return _found(self, text) if len(text) <= _ROW_LETTERS else self.search(text)

    def search(self, text: str) -> tuple[Phrase, ...]:
        """Return what `find` returns, without remembering it."""
        normalized = _repaired_text(text, self._repaired, self._exact)
        found: list[Phrase] = []
        index = 0
        for start in normalized.starts:
            if start < index:
                continue
            index = start
            # Right after a phrase another one may begin, even inside a word.
            while length := self._longest(text, normalized, index):
                found.append(self._phrase(normalized, index, length))
                index += length
                if index == len(normalized.places) or normalized.places[index] != found[-1].end:
                    break
        return tuple(found)

    def kinds(self, text: str) -> frozenset[str]:
        """Return the kinds of the phrases in `text`."""
        return frozenset(phrase.kind for phrase in self.find(text))

    def is_all(self, text: str) -> bool:
        """Return whether `text` consists of known phrases and nothing else."""
        covered = sum(
            sum(text[place].isalnum() for place in range(phrase.start, phrase.end))
            for phrase in self.find(text)
        )
        return covered > 0 and covered == sum(character.isalnum() for character in text)

    def _longest(self, text: str, normalized: _RepairedText, index: int) -> int:
        for length in self._lengths.get(normalized.letters[index : index + self._head], ()):
            if normalized.letters[index : index + length] in self._kinds and self._ends(
                text, normalized, index, length
            ):
                return length
        return 0

    def _ends(self, text: str, normalized: _RepairedText, index: int, length: int) -> bool:
        if index + length > len(normalized.letters):
            return False
        places = normalized.places[index : index + length]
        if self._is_joined(text, places, normalized.letters[index : index + length]):
            return False
        if length < _JOINED_LETTERS and _is_in_code(text, places[0], places[-1] + 1):
            return False
        if not self._joined and self._is_split(
            text, places, normalized.letters[index : index + length]
        ):
            return False
        if not text[places[-1] + 1 : places[-1] + 2].isalpha():
            return True
        # The last word must itself be long: "TOTALRM", but not the "e" of "total excl".
        tail = places[-_JOINED_LETTERS:]
        is_long = length >= _JOINED_LETTERS and tail[-1] - tail[0] == _JOINED_LETTERS - 1
        return self._joined and is_long

    def _is_joined(self, text: str, places: Sequence[int], letters: str) -> bool:
        """Return whether short words are joined: "i alt" is a total, but "lait" is French milk."""
        is_short = len(letters) < _JOINED_LETTERS
        return is_short and letters not in self._single and text[places[0] : places[-1]].isalpha()

    def _is_split(self, text: str, places: Sequence[int], letters: str) -> bool:
        """Return whether the text has more spaces within the letters than the phrase has."""
        return text[places[0] : places[-1]].count(" ") > self._spaces.get(letters, 0)

    def _phrase(self, normalized: _RepairedText, index: int, length: int) -> Phrase:
        kind = self._kinds[normalized.letters[index : index + length]]
        return Phrase(kind, normalized.places[index], normalized.places[index + length - 1] + 1)


# Several finders ask for the same labels of a row: half of the calls on a document.
@lru_cache(maxsize=8192)
def _found(book: Phrasebook, text: str) -> tuple[Phrase, ...]:
    return book.search(text)


@lru_cache(maxsize=64)
def _normalized_words(words: tuple[str, ...]) -> frozenset[str]:
    """Return the normalized words, the same set for all phrasebooks that repair them."""
    return frozenset(normalize(word).letters for word in words)


def _lengths_by_head(phrases: Iterable[str], head: int) -> Mapping[str, tuple[int, ...]]:
    """Return the lengths of the phrases with the same `head` first letters, the longest first."""
    lengths: dict[str, set[int]] = {}
    for phrase in phrases:
        lengths.setdefault(phrase[:head], set()).add(len(phrase))
    return {head: tuple(sorted(known, reverse=True)) for head, known in lengths.items()}


@lru_cache(maxsize=4096)
def _repaired_text(text: str, known: frozenset[str], exact: frozenset[str]) -> _RepairedText:
    """Normalize `text`, and repair words that are one edit from a known one."""
    normalized = normalize(text)
    normalized = _repaired(text, normalized, known, exact) if known else normalized
    starts = (index for index, place in enumerate(normalized.places) if _is_start(text, place))
    return _RepairedText(normalized.letters, normalized.places, tuple(starts))


def _repaired(
    text: str, normalized: NormalizedText, known: frozenset[str], exact: frozenset[str]
) -> NormalizedText:
    letters, places = "", list[int]()
    before = 0
    for start, end in _words(text, normalized):
        word, spots = normalized.letters[start:end], normalized.places[start:end]
        # The second half of a split word may be a word by chance: "SubT otal".
        is_right = word in exact or normalized.letters[before:end] in known
        right = word if is_right else _nearest(word, known)
        before = start
        letters += right
        places += [spots[min(index, len(spots) - 1)] for index in range(len(right) - 1)]
        places.append(spots[-1])
    return NormalizedText(letters, tuple(places))


def _is_in_code(text: str, start: int, end: int) -> bool:
    """Return whether a word is a part of a code: no CIF is in 7C1F0A22, and no CB in E58CB267."""
    sides = [text[max(start - 1, 0) : start].isdigit(), text[end : end + 1].isdigit()]
    is_repaired = any(map(str.isdigit, text[start:end])) and any(map(str.isalpha, text[start:end]))
    return all(sides) or (is_repaired and any(sides))


def _is_start(text: str, place: int) -> bool:
    before = text[place - 1] if place else " "
    return not before.isalpha() and not (before.isdigit() and text[place].isdigit())


def _words(text: str, normalized: NormalizedText) -> list[tuple[int, int]]:
    """Return the spans of the words in the normalized text: runs of letters, or of digits."""
    cuts = [0]
    for index, (place, following) in enumerate(pairwise(normalized.places), start=1):
        is_apart = following > place + 1
        if is_apart or text[place].isdigit() != text[following].isdigit():
            cuts.append(index)
    return list(pairwise([*cuts, len(normalized.letters)])) if normalized.letters else []


@lru_cache(maxsize=8192)
def _nearest(word: str, known: frozenset[str]) -> str:
    """Return the known word that is one edit from `word`, else `word`."""
    if len(word) < _REPAIRED_LETTERS or word in known:
        return word
    near = [other for other in known if _is_one_edit_away(word, other)]
    return near[0] if len(near) == 1 else word


def _is_one_edit_away(word: str, other: str) -> bool:
    if abs(len(word) - len(other)) > 1:
        return False
    start = next(
        (index for index, (a, b) in enumerate(zip(word, other, strict=False)) if a != b),
        min(len(word), len(other)),
    )
    rest, other_rest = word[start:], other[start:]
    return rest[1:] == other_rest[1:] or rest[1:] == other_rest or rest == other_rest[1:]
