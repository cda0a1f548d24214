"""`recibo completion`: prints a script that completes commands in a shell."""

import argparse
import sys
from collections.abc import Iterator

import shtab

from recibo.extract.model import Accuracy, DocumentType
from recibo.extract.ocr.runtime import Runtime

_CHOICES = {"A": Accuracy, "T": DocumentType, "R": Runtime}
_FILES = {"FILE": shtab.FILE, "DIR": shtab.DIRECTORY, "FOLDER": shtab.DIRECTORY}


def run(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the script and return the exit status."""
    for action in _actions(parser):
        if action.metavar in _CHOICES:
            action.choices = tuple(_CHOICES[action.metavar])
        if action.metavar in _FILES:
            # shtab reads this attribute.
            vars(action)["complete"] = _FILES[action.metavar]
    sys.stdout.write(shtab.complete(parser, shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of all commands."""
    # argparse has no public list of them.
    for action in vars(parser)["_actions"]:
        yield action
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                yield from _actions(command)
