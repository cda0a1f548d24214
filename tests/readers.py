"""Readers that answer in turn, and some that fail."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.extract.model import Accuracy, DocumentType, Receipt

CRASHED = Failure(FailureKind.CRASHED, "The reader failed on this document; try again.")
UNREADABLE = Failure(FailureKind.UNREADABLE, "Nothing on the document could be read.")

Answer = Receipt | Failure | Exception


class ScriptedReader(FakeReader):
    """Gives the next of its answers at each reading, whatever is read; the last one for good."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        super().__init__()
        self._left = list(answers)
        #: How each reading was ordered: its accuracy and its time limit, seconds.
        self.orders: list[tuple[Accuracy, float]] = []

    async def read(
        self,
        path: Path,
        *,
        hint: DocumentType | None,
        accuracy: Accuracy,
        time_limit_s: float,
    ) -> Receipt | Failure:
        self.orders.append((accuracy, time_limit_s))
        await super().read(path, hint=hint, accuracy=accuracy, time_limit_s=time_limit_s)
        answer = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class HeldReader(FakeReader):
    """Begins readings and ends none until it is let go; tells when the first one has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.hold()
        self.has_begun = asyncio.Event()

    async def read(
        self,
        path: Path,
        *,
        hint: DocumentType | None,
        accuracy: Accuracy,
        time_limit_s: float,
    ) -> Receipt | Failure:
        self.has_begun.set()
        return await super().read(path, hint=hint, accuracy=accuracy, time_limit_s=time_limit_s)


class QuickReader(FakeReader):
    """Reads at once, without processes; a file that says that it is unreadable fails."""

    #: How long each reading takes.
    seconds = 0.0

    def __init__(self, **_: object) -> None:
        super().__init__()

    async def start(self) -> None:
        """Start nothing; nothing is wrong."""

    async def aclose(self) -> None:
        """End nothing."""

    async def read(
        self,
        path: Path,
        *,
        hint: DocumentType | None,
        accuracy: Accuracy,
        time_limit_s: float,
    ) -> Receipt | Failure:
        await asyncio.sleep(self.seconds)
        if b"unreadable" in await asyncio.to_thread(path.read_bytes):
            return UNREADABLE
        return await super().read(path, hint=hint, accuracy=accuracy, time_limit_s=time_limit_s)


class SlowReader(QuickReader):
    """Takes a while for each reading, so that there is something in hand."""

    seconds = 0.5
