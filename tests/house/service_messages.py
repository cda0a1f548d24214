"""Find the messages of errors in the source code."""

import ast
from collections.abc import Iterator

from recibo import errors
from tests.house import source

# What pages may show comes from these.
_LAYERS = ("adapters", "lib", "schemas", "services", "web")
# They serve operators, who read English.
_OF_OPERATORS = (
    "adapters/mail.py", "adapters/mailbox.py", "adapters/payments.py", "adapters/reader_process/",
    "lib/names.py", "services/backups.py", "services/identity/operator", "services/installation.py",
    "services/mail", "services/restores.py",
)  # fmt: skip
_ERRORS = frozenset(
    name
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, errors.ServiceError | errors.Detail)
)


def found() -> set[str]:
    """Return the messages of errors that pages may show, with an `x` for each inserted value."""
    return {
        message
        for layer in _LAYERS
        for path in source.python_files(source.PACKAGE / layer)
        if not path.relative_to(source.PACKAGE).as_posix().startswith(_OF_OPERATORS)
        for message in _messages(source.tree(path))
    }


def _messages(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_error(node.func) and node.args:
            # The last argument is the message; `of` has the field before it.
            yield from _text(node.args[-1])
        elif isinstance(node, ast.Assign) and _is_message(node.targets[0]):
            yield from _text(node.value)


def _is_error(function: ast.expr) -> bool:
    names = ast.unparse(function).split(".")
    return bool(_ERRORS & set(names[-2:])) and "lacking" not in names


def _is_message(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id in ("message", "problem")


def _text(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values
        )
