"""Logging: one JSON object per line on stderr, including logs of libraries."""

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
# These log every request and task, which our own logs cover. Errors of the payment provider may
# name people.
_QUIET = ("uvicorn.access", "docket", "httpx", "alembic", "stripe")


class _Lines:
    """Writes our own lines without `logging`, whose records take most of the time."""

    def __init__(self, name: str) -> None:
        #: Read by `add_logger_name`.
        self.name = name

    def msg(self, line: str) -> None:
        """Write a line with one call, because threads share the stream."""
        # A full log disk must not fail the operation that is logged.
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")

    debug = info = warning = error = critical = msg


def configure_for_commands() -> None:
    """Send errors to stderr as text; commands print their results themselves."""
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
