"""The failures that the reader returns instead of a receipt."""

from dataclasses import dataclass
from enum import StrEnum

from recibo.schemas.states import FailureCode

TIMED_OUT = "Reading this document took too long; send fewer pages, or a plainer picture of it."
CRASHED = "The reader failed on this document; try again."
OUT_OF_MEMORY = (
    "Reading this document took more memory than it may; send a smaller picture, or fewer pages."
)


class FailureKind(StrEnum):
    """Why a document could not be read."""

    UNSUPPORTED_FORMAT = "unsupported_format"
    INVALID_DOCUMENT = "invalid_document"
    UNREADABLE = "unreadable"
    #: A page or the document exceeded its time limit.
    TIMED_OUT = "timed_out"
    #: Reading exceeded the memory limit.
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    BROKEN = "broken"

    @property
    def code(self) -> FailureCode:
        """The error code for clients."""
        return _CODES.get(self, FailureCode.SERVER_ERROR)

    @property
    def is_the_documents_fault(self) -> bool:
        """Whether another attempt would end the same way."""
        return self in _CODES


_CODES = {
    FailureKind.UNSUPPORTED_FORMAT: FailureCode.UNSUPPORTED_FORMAT,
    FailureKind.INVALID_DOCUMENT: FailureCode.VALIDATION_ERROR,
    FailureKind.UNREADABLE: FailureCode.LOW_CONFIDENCE,
    FailureKind.TIMED_OUT: FailureCode.LOW_CONFIDENCE,
    FailureKind.OUT_OF_MEMORY: FailureCode.LOW_CONFIDENCE,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a document could not be read, this time or ever."""

    kind: FailureKind
    #: For the client.
    message: str
    #: For the log: how the child died, or a traceback.
    detail: str = ""
