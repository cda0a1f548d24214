"""The receipts of this machine, for a server that answers before it has imported the reader."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recibo.mcp.folders import Folders
from recibo.mcp.receipts import Receipt, Search, Upload

if TYPE_CHECKING:
    from recibo.mcp.local import LocalReceipts


@dataclass(slots=True)
class LocalReceiptsLater:
    """Receipts in a folder; the first call imports what reads them."""

    store: Path
    folders: Folders
    _made: "LocalReceipts | None" = None

    async def extract(self, upload: Upload) -> Receipt:
        """Read a document."""
        return await self._receipts().extract(upload)

    async def get(self, receipt_id: str) -> Receipt:
        """Return a receipt."""
        return await self._receipts().get(receipt_id)

    async def search(self, search: Search, limit: int) -> list[Receipt]:
        """Return the receipts that match."""
        return await self._receipts().search(search, limit)

    async def correct(self, receipt_id: str, changes: Mapping[str, Any]) -> Receipt:
        """Change fields."""
        return await self._receipts().correct(receipt_id, changes)

    async def page(self, receipt_id: str, number: int) -> bytes:
        """Return a page."""
        return await self._receipts().page(receipt_id, number)

    async def aclose(self) -> None:
        """End the processes that read."""
        if self._made is not None:
            await self._made.aclose()

    def _receipts(self) -> "LocalReceipts":
        from recibo.mcp.local import LocalReceipts

        self._made = self._made or LocalReceipts(self.store, self.folders)
        return self._made
