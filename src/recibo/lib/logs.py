"""Logs: one JSON object a line on stderr, the libraries' own included."""

import contextlib
import logging
import sys
from typing import Any

import structlog

_SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
_RENDERING: list[Any] = [
    structlog.processors.format_exc_info,
    structlog.processors.JSONRenderer(),
]
# They tell of every request and task at their own length; ours tell it once. What the payment
# provider says in its errors may name people.
_QUIET = ("uvicorn.access", "docket", "httpx", "alembic", "stripe")


class _Lines:
    """Writes our own lines, past `logging`: its records take most of the time that a line costs."""

    def __init__(self, name: str) -> None:
        #: What `add_logger_name` tells.
        self.name = name

    def msg(self, line: str) -> None:
        """Write a line, in one piece: threads share the stream."""
        # What was to be told has happened all the same, be the disk of the logs full or not.
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")

    debug = info = warning = error = critical = msg


def configure_for_commands() -> None:
    """Send what goes wrong to stderr as text; a command tells its result itself."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=_Lines,
    )


def configure() -> None:
    """Send every log line of this process to stderr as JSON."""
    structlog.configure(
        processors=[*_SHARED, *_RENDERING],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=_Lines,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_RENDERING],
        )
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
