"""Runs a command and prints a one-line error if it fails."""

import contextlib
import sys
from collections.abc import Coroutine
from typing import Any

import structlog
import uvloop
from sqlalchemy.exc import SQLAlchemyError

from recibo.errors import ServiceError
from recibo.lib import logs
from recibo.store.db import NewerSchemaError
from recibo.store.folder_lock import FolderInUseError


class StartError(Exception):
    """The service cannot start; the message says what to do."""


def run(main: Coroutine[Any, Any, None]) -> int:
    """Run a command and return its exit status."""
    if not structlog.is_configured():
        logs.configure_for_commands()
    try:
        with contextlib.suppress(KeyboardInterrupt):
            uvloop.run(main)
    except SQLAlchemyError as e:
        # The lines after the first (the statement and a link) do not help an operator.
        sys.stderr.write(f"recibo: the database fails: {str(e).splitlines()[0]}\n")
        return 1
    except (StartError, FolderInUseError, NewerSchemaError, ServiceError, OSError, ValueError) as e:
        sys.stderr.write(f"recibo: {e}\n")
        return 1
    return 0
