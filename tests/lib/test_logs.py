"""The log output, from a separate process, because logging is configured once per process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = """
import logging, structlog
from recibo.lib import logs
logs.configure()
log = structlog.get_logger("recibo.test")
with structlog.contextvars.bound_contextvars(request_id="req_1"):
    log.debug("whispered")
    log.info("event", number=1, text="line\\nbreak \\ud83e")
    logging.getLogger("library").warning("of a %s", "library")
    logging.getLogger("docket").info("chatter")
    try:
        1 / 0
    except ZeroDivisionError:
        log.exception("failed")
print("went on")
"""


def lines() -> list[dict[str, Any]]:
    """Return what a process logs, line by line."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, encoding="utf-8"
    )
    assert "went on\n" == done.stdout
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_every_line_is_one_json_object_with_the_request_id() -> None:
    event, library, failed = lines()

    assert ("event", 1, "info", "recibo.test") == tuple(
        event[key] for key in ("event", "number", "level", "logger")
    )
    assert ("of a library", "warning") == (library["event"], library["level"])
    assert "ZeroDivisionError" in failed["exception"]
    assert {"req_1"} == {line["request_id"] for line in (event, library, failed)}
    assert all("timestamp" in line for line in (event, library, failed))


def test_log_line_that_cannot_be_written_raises_nothing() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=full, check=False
        )

    assert b"went on\n" == done.stdout
