"""The code blocks of the project's Markdown files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.house.source import ROOT

# A block may be indented, as part of a list. A comment before it says why it is not executed.
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n+)?"
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A code block, and why it cannot be executed, if so."""

    page: str
    line: int
    language: str
    text: str
    reason: str


def pages() -> list[Path]:
    """Return the README and the pages of the documentation.

    The examples of the clients are executed in tests/clients.
    """
    guides = set((ROOT / "docs").glob("*.md")) - {ROOT / "docs" / "clients.md"}
    return [ROOT / "README.md", *sorted(guides)]


def blocks(path: Path) -> Iterator[Block]:
    """Yield the code blocks of a page, from top to bottom."""
    page = path.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(page):
        text = re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
        line = page.count("\n", 0, found.start()) + 1
        name = str(path.relative_to(ROOT))
        yield Block(name, line, found["language"], text, found["reason"] or "")
