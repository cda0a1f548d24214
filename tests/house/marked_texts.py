"""Find texts of the portal that are not marked for translation."""

import ast
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

from jinja2 import Environment, nodes

MARKS = frozenset(
    {
        "_",
        "gettext",
        "ngettext",
        "pgettext",
        "npgettext",
        "lazy_gettext",
        "lazy_pgettext",
        "gettext_noop",
    }
)
#: Attributes with text that people read or hear.
_ATTRIBUTES = frozenset({"alt", "aria-label", "placeholder", "title"})
# The value of an expression, which is checked where it is written.
_VALUE = "\ue000"
# A word, or words, as in a sentence or on a button: identifiers begin with a small letter.
_TEXT = re.compile(
    r"[A-Z][a-zà-ÿ’']+(?![A-Za-z]*[-_/:])|[A-Z]+,? [a-z]|.*[a-z][,;:] [a-z]|.*[a-z] [a-z].*[.!?]$"
)


def in_template(environment: Environment, source: str) -> list[str]:
    """Return the unmarked texts of a template."""
    tree = environment.parse(source)
    parser = _Texts()
    parser.feed("".join(_outputs(tree)))
    parser.close()
    return parser.found + [text for text in _constants(tree) if _is_text(text)]


def evaluated_once(environment: Environment, source: str) -> list[str]:
    """Return the marks at the top of a template, which imports keep from the first request on."""
    tree = environment.parse(source)
    return [
        call.node.name
        for node in tree.body
        if isinstance(node, nodes.Assign)
        for call in node.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in MARKS
        if not call.node.name.startswith("lazy_")
    ]


def in_module(tree: ast.Module) -> list[str]:
    """Return the unmarked texts of a module, without its docstrings."""
    ignored = {id(node) for node in _ignored(tree)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in ignored and _is_text(node.value)
    ]


def _is_text(text: str) -> bool:
    return _TEXT.match(text.strip()) is not None


class _Texts(HTMLParser):
    """Collects the texts and the readable attributes of a template."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in _ATTRIBUTES:
                self.handle_data(value or "")

    def handle_data(self, data: str) -> None:
        found = (text.strip() for text in data.split(_VALUE))
        self.found += [text for text in found if re.search(r"[A-Za-zÀ-ÿ]{2}", text)]


def _outputs(node: nodes.Node) -> Iterator[str]:
    for child in node.iter_child_nodes():
        if isinstance(child, nodes.TemplateData):
            yield child.data
        elif isinstance(child, nodes.Expr) and isinstance(node, nodes.Output):
            yield _VALUE
        else:
            yield from _outputs(child)


def _constants(node: nodes.Node) -> Iterator[str]:
    """Yield the strings in expressions that no mark contains."""
    if isinstance(node, nodes.Const) and isinstance(node.value, str):
        yield node.value
    if not isinstance(node, nodes.Call):
        children: Iterable[nodes.Node] = node.iter_child_nodes()
    elif isinstance(node.node, nodes.Name) and node.node.name in MARKS:
        # Values that are inserted need their own marks.
        children = node.kwargs
    else:
        children = node.iter_child_nodes()
    for child in children:
        yield from _constants(child)


def _ignored(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the constants that are docstrings or inside a mark."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Call) and _name(node.func) in MARKS:
            for argument in node.args:
                yield from ast.walk(argument)
        elif isinstance(node, ast.AnnAssign):
            yield from ast.walk(node.annotation)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def templates(folder: Path) -> list[Path]:
    """Return the templates of the portal."""
    return sorted((folder / "templates").rglob("*.html"))
