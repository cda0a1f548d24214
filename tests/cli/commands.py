"""Runs `recibo` in this process as a shell would: a new process takes a second to import."""

import contextlib
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import structlog

from recibo.__main__ import main
from tests import environments


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    status: int
    stdout: str
    stderr: str


def run(folder: Path, *arguments: str, **settings: str) -> Done:
    """Run a command over the data in a folder, and in it."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        environments.with_settings(folder, settings),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
        _process_state_kept(),
    ):
        try:
            status = main(arguments)
        except SystemExit as e:
            status = cast("int", e.code)
    return Done(status, stdout.getvalue(), stderr.getvalue())


@contextlib.contextmanager
def _process_state_kept() -> Iterator[None]:
    umask = os.umask(0o022)
    os.umask(umask)
    structlog.reset_defaults()
    try:
        yield
    finally:
        os.umask(umask)
        structlog.reset_defaults()
