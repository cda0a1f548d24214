"""Text made comparable: without case and accents, and without what an OCR engine mixes up."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# Figures that stand for a letter when they stand among letters, as "T0TAL" and "5UBTOTAL".
_LOOKALIKES = {"0": "o", "1": "l", "5": "s", "8": "b"}
# Two of them side by side are letters only deep within a word, "ADDIT10N".
_TWO_WITHIN_WORD = re.compile(r"(?<=[^\W\d_]{3})[0158]{2}(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The letters and digits of a text, run together, and where each one stood."""

    letters: str
    #: For each of `letters` its index in the text.
    places: tuple[int, ...]


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return `text` in lower case and without accents, every character in its place."""
    return "".join(_folded(character) for character in text)


def without_accents(text: str) -> str:
    """Return `text` with its case and without accents."""
    parts = unicodedata.normalize("NFKD", text)
    bare = "".join(character for character in parts if not unicodedata.combining(character))
    return unicodedata.normalize("NFC", bare)


@lru_cache(maxsize=4096)
def skeleton(text: str) -> Skeleton:
    """Return the letters and digits of `text`; those that engines confuse become one letter."""
    folded = fold(text)
    kept = [(index, _likeness(folded, index)) for index in range(len(folded))]
    kept = [(index, letter) for index, letter in kept if letter]
    return Skeleton("".join(letter for _, letter in kept), tuple(index for index, _ in kept))


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    # One character in, one out: spans found in the folded text hold in the printed one.
    base = unicodedata.normalize("NFKD", character)[:1] or character
    lower = base.lower()
    return lower if len(lower) == 1 else base


def _likeness(folded: str, index: int) -> str:
    letter = folded[index]
    if letter in _LOOKALIKES:
        return _LOOKALIKES[letter] if _stands_among_letters(folded, index) else letter
    if letter in "i|!":
        return "l"
    return letter if letter.isalnum() else ""


def _stands_among_letters(folded: str, index: int) -> bool:
    before = folded[index - 1 : index]
    after = folded[index + 1 : index + 2]
    if any(match.start() <= index < match.end() for match in _TWO_WITHIN_WORD.finditer(folded)):
        return True
    if before.isdigit() or after.isdigit() or (after and after in ".,"):
        return False
    return before.isalpha() or after.isalpha()
