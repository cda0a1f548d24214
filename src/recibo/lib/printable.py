"""Texts from outside, such as file names, for a terminal."""

import os


def line(text: str) -> str:
    """Return the text on one line: what controls a terminal or is not visible is escaped."""
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def file_name(name: str) -> str:
    """Return a file name with bytes that are not UTF-8 replaced."""
    return os.fsencode(name).decode("utf-8", "replace")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
