"""Limits on the length of files and functions, and rules for modules."""

import ast
import statistics

from tests.house import source

MAX_LINES = 500
MAX_FUNCTION_LINES = 60
# A rising median is an early warning that functions grow.
MEDIAN_FUNCTION_LINES = 10
# Tables and migrations are lists of entries, which may be long.
FREE_FILES = ("store/tables.py", "store/migrations/")


def test_no_file_is_longer_than_the_limit() -> None:
    too_long = {
        path.name: lines
        for folder in ("src", "tests", "benchmarks", "training")
        for path in source.python_files(source.ROOT / folder)
        if not any(free in path.as_posix() for free in FREE_FILES)
        and (lines := path.read_text(encoding="utf-8").count("\n")) > MAX_LINES
    }

    assert {} == too_long


def test_no_function_is_longer_than_the_limit() -> None:
    too_long = {
        definition.name: definition.length
        for definition in source.functions()
        if definition.length > MAX_FUNCTION_LINES
        and not any(free in definition.path.as_posix() for free in FREE_FILES)
    }

    assert {} == too_long


def test_functions_are_short_in_the_median() -> None:
    lengths = [definition.length for definition in source.functions()]

    assert statistics.median(lengths) <= MEDIAN_FUNCTION_LINES


def test_init_files_contain_only_a_docstring() -> None:
    offenders = [
        path
        for path in source.PACKAGE.rglob("__init__.py")
        if len(source.tree(path).body) != 1 or not ast.get_docstring(source.tree(path))
    ]

    assert [] == offenders


def test_every_module_has_a_docstring() -> None:
    silent = [
        path
        for path in source.python_files()
        if ast.get_docstring(source.tree(path)) is None and "/versions/" not in path.as_posix()
    ]

    assert [] == silent


def test_no_module_is_called_utils() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "misc"}

    assert [] == [path for path in source.PACKAGE.rglob("*") if path.stem in vague]
