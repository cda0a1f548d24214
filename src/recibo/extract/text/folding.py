"""Normalizes text for comparison: no case, no accents, OCR confusions removed."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# Digits that are misread letters if they are among letters, as in "T0TAL" and "5UBTOTAL".
_LOOKALIKES = {"0": "o", "1": "l", "5": "s", "8": "b"}
# Letters with a stroke, and that without a dot, which Unicode does not decompose.
_PLAIN = str.maketrans("łŁøØđĐðÐı", "llooddddi")
# OCR reads most Greek capitals as the Latin ones that look like them, and lambda as A, pi as N.
_GREEK = str.maketrans("αβγεζηθικλμνοπρςτυχψ", "abtezholkamnonp\u03c3tyxw")
# Two of them in a row are letters only inside a word, after at least three letters: "ADDIT10N".
_TWO_WITHIN_WORD = re.compile(r"(?<=[^\W\d_]{3})[0158]{2}(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class NormalizedText:
    """The letters and digits of a text without spaces, and their positions in the text."""

    letters: str
    #: The index in the text of each of `letters`.
    places: tuple[int, ...]


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return `text` in lower case and without accents; positions stay the same."""
    return text.lower() if text.isascii() else "".join(map(_folded, text))


def without_accents(text: str) -> str:
    """Return `text` without accents; the case stays the same."""
    parts = unicodedata.normalize("NFKD", text)
    bare = "".join(character for character in parts if not unicodedata.combining(character))
    return unicodedata.normalize("NFC", bare)


@lru_cache(maxsize=4096)
def normalize(text: str) -> NormalizedText:
    """Return the letters and digits of `text`; those that OCR confuses become one letter."""
    folded = fold(text)
    letters = list(map(_normalized, folded))
    for index, letter in enumerate(folded):
        if letter in _LOOKALIKES and _is_among_letters(folded, index):
            letters[index] = _LOOKALIKES[letter]
    return NormalizedText(
        "".join(letters), tuple(index for index, letter in enumerate(letters) if letter)
    )


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    # One character in, one out: spans of the folded text are spans of the printed one.
    base = (unicodedata.normalize("NFKD", character)[:1] or character).translate(_PLAIN)
    lower = base.lower()
    return lower if len(lower) == 1 else base


@lru_cache(maxsize=4096)
def _normalized(letter: str) -> str:
    if letter in "i|!":
        return "l"
    return letter.translate(_GREEK) if letter.isalnum() else ""


def _is_among_letters(folded: str, index: int) -> bool:
    before = folded[index - 1 : index]
    after = folded[index + 1 : index + 2]
    if any(_TWO_WITHIN_WORD.match(folded, start) for start in (index - 1, index) if start >= 0):
        return True
    if before.isdigit() or after.isdigit() or (after and after in ".,"):
        return False
    return before.isalpha() or after.isalpha()
