"""Receipts on a server, by its API."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from recibo.errors import ServiceError, ValidationFailed
from recibo.mcp.receipts import Receipt, Search, Upload
from recibo_client import APIError, AsyncRecibo, Correction, Filters, ReciboError
from recibo_client import models as client_models

# The most that a page of the API has.
_PAGE = 200


@dataclass(frozen=True, slots=True)
class RemoteReceipts:
    """The receipts of the organization of an API key."""

    client: AsyncRecibo

    async def extract(self, upload: Upload) -> Receipt:
        """Upload a document and wait for its receipt."""
        name = upload.name.rpartition("/")[2][:256]
        options: dict[str, Any] = {"accuracy": upload.accuracy, "type": upload.type or None}
        async with _errors():
            return _shown(
                await self.client.receipts.extract(
                    upload.content, metadata={"filename": name}, **options
                )
            )

    async def get(self, receipt_id: str) -> Receipt:
        """Return a receipt with the text of its pages."""
        async with _errors():
            return _shown(await self.client.receipts.get(receipt_id, include="text"))

    async def search(self, search: Search, limit: int) -> list[Receipt]:
        """Return the receipts that match, the newest upload first."""
        given = {
            "q": search.query,
            "merchant": search.merchant,
            "after": search.after,
            "before": search.before,
            "currency": search.currency,
            "category": search.category,
            "review": search.review,
        }
        filters: Any = {name: value for name, value in given.items() if value}
        return await self._listed(filters, limit)

    async def correct(self, receipt_id: str, changes: Mapping[str, Any]) -> Receipt:
        """Change fields of a receipt."""
        if unknown := changes.keys() - Correction.__annotations__.keys():
            raise ValidationFailed(f"{', '.join(sorted(unknown))}: not a field of a receipt.")
        async with _errors():
            return _shown(await self.client.receipts.correct(receipt_id, **dict(changes)))

    async def page(self, receipt_id: str, number: int) -> bytes:
        """Return a page as WebP."""
        async with _errors():
            return await self.client.receipts.page(receipt_id, number)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    async def _listed(self, filters: Filters, limit: int) -> list[Receipt]:
        found: list[Receipt] = []
        async with _errors():
            async for receipt in self.client.receipts.list(page_size=min(limit, _PAGE), **filters):
                found.append(_shown(receipt))
                if len(found) >= limit:
                    break
        return found


def _shown(receipt: client_models.Receipt) -> Receipt:
    shown = receipt.model_dump(mode="json", exclude_unset=True)
    return {name: value for name, value in shown.items() if name not in {"org_id", "created_by"}}


@asynccontextmanager
async def _errors() -> AsyncIterator[None]:
    """Raise what the client says as an error of the tools."""
    try:
        yield
    except APIError as e:
        raise ServiceError(e.message) from None
    except ReciboError as e:
        raise ServiceError(str(e)) from None
