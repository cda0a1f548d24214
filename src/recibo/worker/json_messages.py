"""Serializes queue messages as JSON instead of pickles.

Unpickling runs code, so anyone with write access to Redis could run code in every process. docket
has no setting for its serializer, so this module replaces it in docket's modules.
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
    """The serializer interface that docket expects."""

    @staticmethod
    def dumps(value: object) -> bytes:
        """Return a value as JSON; exceptions become text, because they are never read back."""
        return json.dumps(value, default=repr).encode()

    @staticmethod
    def loads(data: bytes) -> Any:
        """Return the value, or None if the data is not JSON."""
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None


def use_json() -> None:
    """Make docket write and read JSON in this process; further calls have no effect.

    Raises:
        RuntimeError: this version of docket serializes in other modules.
    """
    if all(vars(module).get(_SERIALIZER) is _Json for module in _MODULES):
        return
    if not all(hasattr(module, _SERIALIZER) for module in _MODULES):
        raise RuntimeError("docket serializes elsewhere in this version; see json_messages.py")
    for module in _MODULES:
        vars(module)[_SERIALIZER] = _Json
    from_message = Execution.from_message

    async def from_readable(docket: Any, message: dict[bytes, bytes], **rest: Any) -> Execution:
        if not _is_readable(message):
            # Written by an older version, or forged. Pending work is enqueued again periodically.
            log.warning("dropped an unreadable queue message")
            message = message | _NOTHING
        return await from_message(docket, message, **rest)

    Execution.from_message = from_readable  # type: ignore[method-assign, assignment]


def _is_readable(message: dict[bytes, bytes]) -> bool:
    arguments = _Json.loads(message.get(b"args", b""))
    are_strings = isinstance(arguments, list) and all(isinstance(one, str) for one in arguments)
    return are_strings and _Json.loads(message.get(b"kwargs", b"")) == {}
