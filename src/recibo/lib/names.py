"""Sanitizes user-chosen names for mails: short, on one line, without links."""

import re
import unicodedata

MAX_LENGTH = 80
_NAMELESS = "(no name)"
_SPACES = re.compile(r"\s+")
# Mail clients turn text that looks like a URL, an email address or a network share into a link.
# They recognize it by a dot, colon, slashes or @ inside a word, so a space is put there. The other
# characters in each set look like the first, and browsers read them as such.
_DOTS = re.compile(r"([.\u2024\u3002\uff0e\uff61])(?=\S)")
_COLONS = re.compile(r"([:\ufe13\ufe55\uff1a])(?=\S)")
_ATS = re.compile(r"\s*([@\ufe6b\uff20])\s*")
_SLASHES = re.compile(r"[/\u2044\u2215\u29f8\uff0f]{2,}")
_BACKSLASHES = re.compile(r"[\\\ufe68\uff3c]+")
# Mail programs decode what follows =? in a header, line breaks too (RFC 2047).
_ENCODED = re.compile(r"=(?=\?)")


def sanitize_name(name: str) -> str:
    """Return a name that is safe in a mail: at most 80 characters, without links."""
    visible = "".join(map(_visible, name))
    for pattern, replacement in (
        (_BACKSLASHES, " "),
        (_SLASHES, "/"),
        (_DOTS, r"\1 "),
        (_COLONS, r"\1 "),
        (_ATS, r" \1 "),
        (_ENCODED, "= "),
        (_SPACES, " "),
    ):
        visible = pattern.sub(replacement, visible)
    return visible.strip()[:MAX_LENGTH].strip() or _NAMELESS


def _visible(character: str) -> str:
    """Keep visible characters; line breaks become spaces, invisible characters are removed."""
    if character.isspace():
        return " "
    return "" if unicodedata.category(character).startswith(("C", "Z")) else character
