"""Messages in the queue: JSON in place of pickles.

To unpickle a text is to run what it says, so whoever can write to the Redis could run code in every
process. docket has no setting for its serializer; its modules get this one in place of theirs.
"""

import json
from typing import Any

import structlog
from docket import execution, strikelist, worker
from docket.execution import Execution

log = structlog.get_logger(__name__)

_MODULES = (execution, strikelist, worker)
_SERIALIZER = "cloudpickle"
# No task has this name, and docket drops messages of unknown tasks.
_NOTHING = {b"function": b"unreadable", b"args": b"[]", b"kwargs": b"{}"}


class _Json:
    """What docket asks of its serializer."""

    @staticmethod
    def dumps(value: object) -> bytes:
        """Return a value as JSON; exceptions, which nobody reads back, as text."""
        return json.dumps(value, default=repr).encode()

    @staticmethod
    def loads(data: bytes) -> Any:
        """Return the value; None of what is no JSON."""
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None


def use_json() -> None:
    """Have docket write and read JSON in this process; again is no change.

    Raises:
        RuntimeError: this version of docket serializes elsewhere.
    """
    if all(vars(module).get(_SERIALIZER) is _Json for module in _MODULES):
        return
    if not all(hasattr(module, _SERIALIZER) for module in _MODULES):
        raise RuntimeError("docket serializes elsewhere in this version; see queue_messages.py")
    for module in _MODULES:
        vars(module)[_SERIALIZER] = _Json
    from_message = Execution.from_message

    async def from_readable(docket: Any, message: dict[bytes, bytes], **rest: Any) -> Execution:
        if not _is_readable(message):
            # Of an earlier version, or forged. What is pending is enqueued again by itself.
            log.warning("a message of the queue is dropped: it is no task of ours")
            message = message | _NOTHING
        return await from_message(docket, message, **rest)

    Execution.from_message = from_readable  # type: ignore[method-assign, assignment]


def _is_readable(message: dict[bytes, bytes]) -> bool:
    arguments = _Json.loads(message.get(b"args", b""))
    are_texts = isinstance(arguments, list) and all(isinstance(one, str) for one in arguments)
    return are_texts and _Json.loads(message.get(b"kwargs", b"")) == {}
