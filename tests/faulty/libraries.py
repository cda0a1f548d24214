"""The libraries of this package, for the parents of the processes that load them.

A process that loads one imports nothing of the parent's side, which takes most of its start.
"""

from recibo.adapters.reader import Library
from recibo.adapters.reader_process.child_process import Program


def _library(function: str) -> Library:
    program = Program(f"tests.faulty.{function}")
    return Library(program, program, program)


FAULTY = _library("readers:load")
BROKEN = _library("readers:miss_the_models")
DYING = _library("readers:die")
HOSTILE = _library("hostile:load")
