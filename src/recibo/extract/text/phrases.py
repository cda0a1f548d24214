"""Finds known phrases in a line, whatever its case, accents, blanks and punctuation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from recibo.extract.text.folding import Skeleton, skeleton

# Engines drop blanks ("TOTALINCLUSIVE"), so a phrase of at least this many letters may be glued
# to what follows it. A shorter one must end with its word, or "tax" would stand in "taxi".
_GLUED_LETTERS = 5

# Shorter words are one edit away from too many others.
_REPAIRED_LETTERS = 4

# Phrases are looked up by so many of their first letters, so that most words of a line are passed
# by at once.
_HEAD_LETTERS = 2


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that was found, and its place in the line's text."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Bones:
    """A line's letters as books that repair the same words compare them."""

    letters: str
    #: For each letter its index in the line.
    places: tuple[int, ...]
    #: The letters at which a word begins, as indices into `letters`.
    starts: tuple[int, ...]


class Phrasebook:
    """Phrases of several kinds, looked up together so that the longest one wins."""

    def __init__(
        self,
        kinds: Mapping[str, Iterable[str]],
        *,
        glued: bool = True,
        repaired: Iterable[str] = (),
    ) -> None:
        """Make a book of phrases by kind.

        Args:
            kinds: The phrases; one that stands in two kinds is the first's.
            glued: Whether engines lose blanks here: a long phrase is then found in front of more
                letters, and one word in two pieces. If not, words are words.
            repaired: Words that are also known with one letter wrong, lost or too many.
        """
        self._glued = glued
        self._repaired = _skeletons(tuple(repaired))
        self._kinds: dict[str, str] = {}
        self._blanks: dict[str, int] = {}
        self._single: set[str] = set()
        for kind, phrases in kinds.items():
            for phrase in phrases:
                letters = skeleton(phrase).letters
                self._kinds.setdefault(letters, kind)
                self._blanks[letters] = max(self._blanks.get(letters, 0), phrase.count(" "))
                if " " not in phrase:
                    self._single.add(letters)
        self._head = min([_HEAD_LETTERS, *map(len, self._kinds)])
        self._lengths = _lengths_by_head(self._kinds, self._head)

    def find(self, text: str) -> tuple[Phrase, ...]:
        """Return the phrases in `text` from left to right; none overlaps another."""
        bones = _bones(text, self._repaired)
        found: list[Phrase] = []
        index = 0
        for start in bones.starts:
            if start < index:
                continue
            index = start
            # What directly follows a phrase may begin another one, though no word begins there.
            while length := self._longest(text, bones, index):
                found.append(self._phrase(bones, index, length))
                index += length
                if index == len(bones.places) or bones.places[index] != found[-1].end:
                    break
        return tuple(found)

    def kinds(self, text: str) -> frozenset[str]:
        """Return the kinds of the phrases in `text`."""
        return frozenset(phrase.kind for phrase in self.find(text))

    def is_all(self, text: str) -> bool:
        """Tell whether `text` consists of known phrases and nothing else."""
        covered = sum(
            sum(text[place].isalnum() for place in range(phrase.start, phrase.end))
            for phrase in self.find(text)
        )
        return covered > 0 and covered == sum(character.isalnum() for character in text)

    def _longest(self, text: str, bones: _Bones, index: int) -> int:
        for length in self._lengths.get(bones.letters[index : index + self._head], ()):
            if bones.letters[index : index + length] in self._kinds and self._ends(
                text, bones, index, length
            ):
                return length
        return 0

    def _ends(self, text: str, bones: _Bones, index: int, length: int) -> bool:
        if index + length > len(bones.letters):
            return False
        places = bones.places[index : index + length]
        if self._is_glued(text, places, bones.letters[index : index + length]):
            return False
        if not self._glued and self._is_torn(text, places, bones.letters[index : index + length]):
            return False
        if not text[places[-1] + 1 : places[-1] + 2].isalpha():
            return True
        # The word that goes on must itself be long: "TOTALRM", but not the "e" of "total excl".
        tail = places[-_GLUED_LETTERS:]
        is_long = length >= _GLUED_LETTERS and tail[-1] - tail[0] == _GLUED_LETTERS - 1
        return self._glued and is_long

    def _is_glued(self, text: str, places: Sequence[int], letters: str) -> bool:
        """Tell whether short words stand glued: "i alt" is a Danish total, "lait" French milk."""
        is_short = len(letters) < _GLUED_LETTERS
        return is_short and letters not in self._single and text[places[0] : places[-1]].isalpha()

    def _is_torn(self, text: str, places: Sequence[int], letters: str) -> bool:
        """Tell whether more blanks stand within the letters than within the phrase."""
        return text[places[0] : places[-1]].count(" ") > self._blanks.get(letters, 0)

    def _phrase(self, bones: _Bones, index: int, length: int) -> Phrase:
        kind = self._kinds[bones.letters[index : index + length]]
        return Phrase(kind, bones.places[index], bones.places[index + length - 1] + 1)


@lru_cache(maxsize=64)
def _skeletons(words: tuple[str, ...]) -> frozenset[str]:
    """Return the letters of words: one set for all books that repair them."""
    return frozenset(skeleton(word).letters for word in words)


def _lengths_by_head(phrases: Iterable[str], head: int) -> Mapping[str, tuple[int, ...]]:
    """Return the lengths of the phrases with the same `head` first letters, the longest first."""
    lengths: dict[str, set[int]] = {}
    for phrase in phrases:
        lengths.setdefault(phrase[:head], set()).add(len(phrase))
    return {head: tuple(sorted(known, reverse=True)) for head, known in lengths.items()}


@lru_cache(maxsize=4096)
def _bones(text: str, known: frozenset[str]) -> _Bones:
    """Return the letters of `text`, words one edit away from a known one put right."""
    bones = skeleton(text)
    bones = _repaired(text, bones, known) if known else bones
    starts = (index for index, place in enumerate(bones.places) if _is_start(text, place))
    return _Bones(bones.letters, bones.places, tuple(starts))


def _repaired(text: str, bones: Skeleton, known: frozenset[str]) -> Skeleton:
    letters, places = "", list[int]()
    before = 0
    for start, end in _words(text, bones):
        word, spots = bones.letters[start:end], bones.places[start:end]
        # The end of a word that was torn is a word of its own by chance: "SubT otal".
        right = word if bones.letters[before:end] in known else _nearest(word, known)
        before = start
        letters += right
        places += [spots[min(index, len(spots) - 1)] for index in range(len(right) - 1)]
        places.append(spots[-1])
    return Skeleton(letters, tuple(places))


def _is_start(text: str, place: int) -> bool:
    before = text[place - 1] if place else " "
    return not before.isalpha() and not (before.isdigit() and text[place].isdigit())


def _words(text: str, bones: Skeleton) -> list[tuple[int, int]]:
    """Return the spans of the skeleton's words: runs of letters, or of figures."""
    cuts = [0]
    for index, (place, following) in enumerate(pairwise(bones.places), start=1):
        is_apart = following > place + 1
        if is_apart or text[place].isdigit() != text[following].isdigit():
            cuts.append(index)
    return list(pairwise([*cuts, len(bones.letters)])) if bones.letters else []


@lru_cache(maxsize=8192)
def _nearest(word: str, known: frozenset[str]) -> str:
    """Return the known word that is one edit away from `word`, else `word`."""
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
