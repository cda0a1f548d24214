"""Receipts that need a review, and their pages."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import (
    Alternative,
    Box,
    Extracted,
    LineItem,
    Receipt,
    SeenPage,
)
from tests import make
from tests.installation import Installation
from tests.people import Session
from tests.portal import forms, pages, receipt_pages
from tests.portal.receipt_pages import PATH

FILES = [make.jpeg(name) for name in ("first", "second", "third")]
DOUBTFUL_TOTAL = Extracted(
    Decimal("42.10"), 0.5, "TOTAL 42,10", 1, Box(100, 600, 300, 640), (
        Alternative(Decimal("41.20"), 0.4), Alternative(Decimal("47.20"), 0.1),
    ),
)  # fmt: skip


def make_receipt(merchant: str, **of: Any) -> Receipt:
    """Return a reading with a doubtful total; its two items add up to 41.20."""
    items = (
        LineItem("Pão", Decimal(2), Decimal("15.60"), Decimal("31.20")),
        LineItem("Leite", Decimal(1), Decimal("10.00"), Decimal("10.00")),
    )
    evidence = [Extracted(item, 0.9, item.name, 1, Box(50, 300, 450, 330)) for item in items]
    read = receipt_pages.make_reading(merchant)
    pages_seen = (SeenPage(500, 900, 1),)
    given = {"line_items": tuple(evidence), "total": DOUBTFUL_TOTAL, "pages": pages_seen, **of}
    return replace(read, **given)


@dataclass(frozen=True, slots=True)
class Review:
    """Three receipts to review, oldest first, and their owner."""

    service: Installation
    owner: Session
    ids: list[str]

    def path(self, number: int = 0) -> str:
        return f"{PATH}/{self.ids[number]}"

    async def page(self, number: int = 0) -> pages.Page:
        return await forms.get_page(self.service, self.path(number))

    async def receipt(self, number: int = 0) -> Mapping[str, Any]:
        return await receipt_pages.read_receipt(self.service, self.owner, self.ids[number])

    async def post(self, number: int = 0, /, **changed: str) -> httpx.Response:
        """Submit the form as a browser does: all fields, with what was typed."""
        page = await self.page(number)
        values = {
            name: one.get("value") or ""
            for name, one in page.inputs.items()
            if name not in ("next", "accuracy", "boxes-off")
        }
        return await self.service.stranger.post(self.path(number), data={**values, **changed})


@asynccontextmanager
async def reviewing(
    database_url: str, folder: Path, count: int = 1, **of: Any
) -> AsyncIterator[Review]:
    """Run an installation with receipts that are read and need a review."""
    names = ["Padaria Aurora", "Café Brisa", "Mercado Sol"]
    reader = FakeReader(
        {data: make_receipt(name, **of) for data, name in zip(FILES, names, strict=True)}
    )
    async with receipt_pages.run_service(database_url, folder, reader) as (service, owner):
        ids = [await receipt_pages.upload(service, data) for data in FILES[:count]]
        review = Review(service, owner, ids)
        for number in range(count):
            await review.receipt(number)
        yield review
