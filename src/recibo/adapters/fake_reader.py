"""An in-memory reader for tests: no process, no models."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from recibo.adapters.reader import Failure
from recibo.extract.document.formats import Kind
from recibo.extract.model import Accuracy, DocumentType, Extracted, Receipt

_JPEG = Kind(mime="image/jpeg", extension="jpg", page_count=1)


class FakeReader:
    """Returns the answer set for a file's bytes, at once or after `release`.

    Any other file becomes a receipt whose merchant is the text in it.
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
        #: The files read so far, oldest first.
        self.seen: list[bytes] = []

    def hold(self) -> None:
        """Block readings until `release` is called."""
        self._open.clear()

    def release(self) -> None:
        """Let all readings end, current and future ones."""
        self._open.set()

    async def read(
        self,
        path: Path,
        *,
        hint: DocumentType | None,
        accuracy: Accuracy,  # noqa: ARG002 - a fake has one accuracy
        time_limit_s: float,  # noqa: ARG002 - a fake is never late
    ) -> Receipt | Failure:
        """Return the answer set for the file; else a receipt of the hinted type."""
        data = await asyncio.to_thread(path.read_bytes)
        self.seen.append(data)
        await self._open.wait()
        return self._answers.get(data) or _receipt(data, hint or DocumentType.RECEIPT)

    async def inspect(self, path: Path) -> Kind | Failure:
        """Return the kind set for the file; else JPEG."""
        return self._kinds.get(await asyncio.to_thread(path.read_bytes), _JPEG)

    async def draw(
        self, path: Path, number: int, *, turns: int, width: int | None
    ) -> bytes | Failure | None:
        """Return what was asked for, as text; any file has one page."""
        if number != 1 or not await asyncio.to_thread(path.is_file):
            return None
        return f"page {number} turned {turns} width {width}".encode()

    def is_ready(self) -> bool:
        """Return True."""
        return True


def _receipt(data: bytes, kind: DocumentType) -> Receipt:
    text = data.decode(errors="replace")
    return Receipt(
        type=Extracted(kind, 1.0, ""), merchant_name=Extracted(text, 1.0, text), confidence=1.0
    )
