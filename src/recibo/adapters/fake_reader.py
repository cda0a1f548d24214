"""A reader in memory, for tests and trials of what stands above it: no process, no models."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from recibo.adapters.reader import Failure
from recibo.extract.load.formats import Kind
from recibo.extract.model import Accuracy, DocumentType, Found, Receipt

_JPEG = Kind(mime="image/jpeg", extension="jpg", page_count=1)


class FakeReader:
    """Answers by the file's bytes, at once or when it is let go.

    A file that it was told nothing of is read as a receipt whose merchant is the text in it.
    """

    def __init__(
        self,
        answers: Mapping[bytes, Receipt | Failure] | None = None,
        *,
        kinds: Mapping[bytes, Kind | Failure] | None = None,
    ) -> None:
        self._answers = answers or {}
        self._kinds = kinds or {}
        self._open = asyncio.Event()
        self._open.set()
        #: The files read so far, in the order in which they came.
        self.seen: list[bytes] = []

    def hold(self) -> None:
        """Let readings begin, but not end."""
        self._open.clear()

    def release(self) -> None:
        """Let all readings end, those that wait and those to come."""
        self._open.set()

    async def read(
        self,
        path: Path,
        *,
        hint: DocumentType | None,
        accuracy: Accuracy,  # noqa: ARG002 - a fake works as hard at each
        time_limit_s: float,  # noqa: ARG002 - and is never late
    ) -> Receipt | Failure:
        """Answer as told; the hint is believed."""
        data = await asyncio.to_thread(path.read_bytes)
        self.seen.append(data)
        await self._open.wait()
        return self._answers.get(data) or _receipt(data, hint or DocumentType.RECEIPT)

    async def inspect(self, path: Path) -> Kind | Failure:
        """Answer as told, or that it is a JPEG."""
        return self._kinds.get(await asyncio.to_thread(path.read_bytes), _JPEG)

    def is_ready(self) -> bool:
        """Tell that it can read, which it always can."""
        return True


def _receipt(data: bytes, kind: DocumentType) -> Receipt:
    text = data.decode(errors="replace")
    return Receipt(type=Found(kind, 1.0, ""), merchant_name=Found(text, 1.0, text), confidence=1.0)
