"""Normalizes text for search: its words without case and accents."""

import re
import unicodedata
from collections.abc import Iterator

_MAX_KEY = 255
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """Return the words of a text, folded: runs of letters and digits, in their order."""
    return _WORD.findall(_folded(text))


def chunks(text: str) -> Iterator[list[str]]:
    """Yield the words of each part between spaces: `12.345/0001` has the words 12, 345 and 0001."""
    for chunk in _folded(text).split():
        if found := _WORD.findall(chunk):
            yield found


def key(name: str) -> str:
    """Return the letters and digits of a name, folded, to compare names by an index."""
    return "".join(words(name))[:_MAX_KEY]


def _folded(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in parts if not unicodedata.combining(character))
