"""The protocol between a reader process and its parent: frames of JSON on a Unix socket.

The parent sends a job as one frame, with the document as an open descriptor. The child answers with
frames of a kind and a length. The parent trusts neither: it limits every length before it reads on
and validates every answer.
"""

import array
import json
import os
import socket
import struct
from enum import IntEnum
from typing import Any

#: The longest answer. Thirty pages as dense as a telephone book make a tenth of it.
MAX_ANSWER_BYTES = 4 << 20

#: The job that every child answers at once, with the failure of its library if there is one.
PING = "ping"

#: The kind of a frame and the length of its content.
HEADER = struct.Struct(">BI")

_JOB_LENGTH = struct.Struct(">I")
_JOB_BYTES = 64 << 10


class Kind(IntEnum):
    """The kind of a frame from a child."""

    #: The child can take jobs; the content names the protections that the kernel lacks.
    READY = 1
    #: It has started a job. A job that was not started can go to another child.
    BEGUN = 2
    #: It starts the next page, or a step for all pages.
    STEP = 3
    ANSWER = 4


#: The longest content of each kind.
LONGEST = {Kind.READY: 4096, Kind.BEGUN: 0, Kind.STEP: 0, Kind.ANSWER: MAX_ANSWER_BYTES}


class ChannelClosedError(Exception):
    """The other end of the channel is closed."""


def send_job(channel: socket.socket, job: dict[str, Any], document: int | None) -> None:
    """Send a job and the descriptor of its document.

    Raises:
        OSError: the child has ended, or its buffer is full.
    """
    content = json.dumps(job).encode()
    message = _JOB_LENGTH.pack(len(content)) + content
    sent = socket.send_fds(channel, [message], [] if document is None else [document])
    if sent != len(message):
        raise BlockingIOError("the child takes no more")


def receive_job(channel: socket.socket) -> tuple[dict[str, Any], int | None]:
    """Wait for the next job; return it and the descriptor of its document.

    Raises:
        ChannelClosedError: the parent has ended.
    """
    descriptors = array.array("i")
    content = b""
    while len(content) < _JOB_LENGTH.size or len(content) < _length(content):
        room = socket.CMSG_SPACE(descriptors.itemsize)
        part, notes, _, _ = channel.recvmsg(_JOB_BYTES, room)
        if not part:
            raise ChannelClosedError
        content += part
        for _, _, data in notes:
            descriptors.frombytes(data)
    job: dict[str, Any] = json.loads(content[_JOB_LENGTH.size :])
    return job, descriptors[0] if descriptors else None


def send(channel: int, kind: Kind, content: bytes = b"") -> None:
    """Send a frame to the parent.

    Raises:
        OSError: the parent has ended.
    """
    left = memoryview(HEADER.pack(kind, len(content)) + content)
    while left:
        left = left[os.write(channel, left) :]


def _length(content: bytes) -> int:
    (length,) = _JOB_LENGTH.unpack_from(content)
    return _JOB_LENGTH.size + int(length)
