"""Fake readers: with scripted answers, slow ones and failing ones."""

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
    """Returns the next of its answers for each reading; repeats the last one."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        super().__init__()
        self._left = list(answers)
        #: The accuracy and the time limit in seconds of each reading.
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
    """Holds readings until `release`; `has_begun` is set when the first one starts."""

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
    """Reads at once, without processes; a file that contains `unreadable` fails."""

    #: The duration of each reading.
    seconds = 0.0

    def __init__(self, **_: object) -> None:
        super().__init__()

    async def start(self) -> None:
        """Do nothing."""

    async def aclose(self) -> None:
        """Do nothing."""

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
    """Takes a while for each reading, so that some are in progress."""

    seconds = 0.5
