"""The project's source code, parsed for the checks of this folder."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "recibo"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or method and its file."""

    path: Path
    node: Function

    @property
    def name(self) -> str:
        """`services.receipts.page`, for messages and lists."""
        inside = self.path.relative_to(PACKAGE).with_suffix("")
        return ".".join((*inside.parts, self.node.name))

    @property
    def length(self) -> int:
        """Lines of the body, without the signature and the docstring."""
        body = self.node.body
        has_docstring = ast.get_docstring(self.node) is not None
        if has_docstring and len(body) == 1:
            return 0
        start = body[1 if has_docstring else 0].lineno
        return (self.node.end_lineno or start) - start + 1


def python_files(folder: Path = PACKAGE) -> list[Path]:
    """Return all Python files below a folder."""
    return sorted(folder.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    """Return a file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(folder: Path = PACKAGE) -> Iterator[Definition]:
    """Yield every function and method below a folder."""
    for path in python_files(folder):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield Definition(path, node)
