"""Names that strangers chose, made harmless for a mail: short, on one line, without links."""

import re
import unicodedata

MAX_LENGTH = 80
_NAMELESS = "(no name)"
_SPACES = re.compile(r"\s+")
# Mail clients make links of anything like an address, of a page, a mailbox or a server's share.
# They tell it by a dot, a colon, slashes or an @ amid the word; so none stays amid one. The others
# in each row are what fonts show and browsers read as the first.
_DOTS = re.compile(r"([.\u2024\u3002\uff0e\uff61])(?=\S)")
_COLONS = re.compile(r"([:\ufe13\ufe55\uff1a])(?=\S)")
_ATS = re.compile(r"\s*([@\ufe6b\uff20])\s*")
_SLASHES = re.compile(r"[/\u2044\u2215\u29f8\uff0f]{2,}")
_BACKSLASHES = re.compile(r"[\\\ufe68\uff3c]+")


def sanitize_name(name: str) -> str:
    """Return a name as a mail may show it: at most 80 characters, whatever was given."""
    visible = "".join(map(_visible, name))
    for pattern, replacement in (
        (_BACKSLASHES, " "),
        (_SLASHES, "/"),
        (_DOTS, r"\1 "),
        (_COLONS, r"\1 "),
        (_ATS, r" \1 "),
        (_SPACES, " "),
    ):
        visible = pattern.sub(replacement, visible)
    return visible.strip()[:MAX_LENGTH].strip() or _NAMELESS


def _visible(character: str) -> str:
    """Keep what is seen; line breaks become spaces, and what is unseen could hide the rest."""
    if character.isspace():
        return " "
    return "" if unicodedata.category(character).startswith(("C", "Z")) else character
