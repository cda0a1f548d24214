"""Names and texts use the words of the field: no quaint words, no private metaphors."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.house import source

# Write "pending" or "enqueue" for "owed", "report" or "return" for "tell", "document" for "paper".
# A single use can be right ("paper size"), so the limit is a rate.
WORDS = """
alike amid anew beat beats bell beside besides bring brings brought clockwork courier crew crews
duties duty embrace goods handed hands house letterhead lies luck mend mended mending mends nobody
opened owe owed owes owing paper papers reckoned remedy rings rolls somebody stain stands stood
strays stray tell telling tells thereof told whoever whomever
"""
PHRASES = """
at hand|by itself|for good|hand back|in hand|is over|let go|made of it|makes of|of its own|put off
|take up|taken up
"""
MOST_PER_THOUSAND_LINES = 3
SUFFIXES = {".py", ".md", ".html", ".js"}
# These checks and a font.
ALLOWED = re.compile(r"\bCOURIER\b|tests[./]house")
# Old migrations name old columns.
EXCLUDED = ("src/recibo/store/migrations/versions/", "tests/house/test_words.py")
# Folders that are still to be rewritten. Only remove entries.
TO_DO = frozenset[str](
    {
        "src/recibo/services",
        "src/recibo/store",  # names of columns
        "tests/house",  # it names functions of src/recibo/services
    }
)
_FOUND = re.compile(
    rf"\b(?:{'|'.join(WORDS.split())})\b|{PHRASES.replace(chr(10), '')}", re.IGNORECASE
)


def _group(top: str, name: str) -> str:
    inner = name.removeprefix(f"{top}/")
    return f"{top}/{inner.partition('/')[0]}" if "/" in inner and top != "docs" else top


@cache
def groups() -> dict[str, list[Path]]:
    """Return the checked files by folder: those of src/recibo and tests one level deep."""
    found: dict[str, list[Path]] = {"README.md": [source.ROOT / "README.md"]}
    for top in ("src/recibo", "tests", "docs"):
        for path in sorted((source.ROOT / top).rglob("*")):
            name = path.relative_to(source.ROOT).as_posix()
            if path.suffix in SUFFIXES and not name.startswith(EXCLUDED):
                found.setdefault(_group(top, name), []).append(path)
    return found


def counted(text: str) -> Counter[str]:
    """Count the words in names and texts."""
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", ALLOWED.sub("", text)).replace("_", " ")
    return Counter(word.lower() for word in _FOUND.findall(text))


@pytest.mark.parametrize("group", sorted(groups().keys() - TO_DO))
def test_folder_is_written_in_plain_words(group: str) -> None:
    texts = [path.read_text(encoding="utf-8") for path in groups()[group]]
    lines = sum(text.count("\n") for text in texts)
    found = sum((counted(text) for text in texts), Counter[str]())

    assert found.total() <= MOST_PER_THOUSAND_LINES * lines / 1000, found.most_common()


def test_folders_to_do_exist() -> None:
    assert set() == TO_DO - groups().keys()


def test_words_are_found_in_names_and_texts() -> None:
    text = "class OwedPaper: '''What is owed is told by itself.'''"

    assert {"owed": 2, "paper": 1, "told": 1, "by itself": 1} == counted(text)
