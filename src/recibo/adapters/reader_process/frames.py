"""How a reader process and its parent talk: frames on a Unix socket, JSON inside.

The parent sends a job as one frame, with the document as an open descriptor beside it. The child
answers with frames of a kind and a length. The parent believes neither: it bounds every length
before it reads on, and validates every answer.
"""

import array
import json
import os
import socket
import struct
from enum import IntEnum
from typing import Any

#: An answer may be so long. Thirty pages as dense as a telephone book make a tenth of it.
MAX_ANSWER_BYTES = 4 << 20

#: The job that every child answers at once, with nothing but what is wrong with its library.
PING = "ping"

#: The kind of a frame and the length of its content.
HEADER = struct.Struct(">BI")

_JOB_LENGTH = struct.Struct(">I")
_JOB_BYTES = 64 << 10


class Kind(IntEnum):
    """What a child says."""

    #: It takes jobs; with the protections that the kernel lacks.
    READY = 1
    #: It has a job. Work that did not begin can be given to another child.
    BEGUN = 2
    #: It begins the next page, or what it does once for all pages.
    STEP = 3
    ANSWER = 4


#: The longest content of each kind.
LONGEST = {Kind.READY: 4096, Kind.BEGUN: 0, Kind.STEP: 0, Kind.ANSWER: MAX_ANSWER_BYTES}


class ChannelClosedError(Exception):
    """The other end is gone."""


def send_job(channel: socket.socket, job: dict[str, Any], document: int | None) -> None:
    """Send a job and the descriptor of its document.

    Raises:
        OSError: the child is gone, or takes no more.
    """
    content = json.dumps(job).encode()
    message = _JOB_LENGTH.pack(len(content)) + content
    sent = socket.send_fds(channel, [message], [] if document is None else [document])
    if sent != len(message):
        raise BlockingIOError("the child takes no more")


def receive_job(channel: socket.socket) -> tuple[dict[str, Any], int | None]:
    """Wait for the next job; return it and the descriptor of its document.

    Raises:
        ChannelClosedError: the parent is gone.
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
        OSError: the parent is gone.
    """
    left = memoryview(HEADER.pack(kind, len(content)) + content)
    while left:
        left = left[os.write(channel, left) :]


def _length(content: bytes) -> int:
    (length,) = _JOB_LENGTH.unpack_from(content)
    return _JOB_LENGTH.size + int(length)
