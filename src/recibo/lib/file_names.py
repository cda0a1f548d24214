"""Cleans names that strangers chose: of files, and of what else is shown on one line."""

import re

_MAX_NAME = 256
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


def bare(name: str) -> str:
    """Return a file name without folders, which some browsers and mail programs send."""
    return printable(re.split(r"[/\\]", name)[-1])


def printable(text: str, most: int = _MAX_NAME) -> str:
    """Return the beginning of a text without characters that cannot be stored or shown."""
    return _UNPRINTABLE.sub("", text)[:most].strip()
