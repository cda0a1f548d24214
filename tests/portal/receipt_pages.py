"""Upload receipts on the portal's pages and read the results."""

import datetime as dt
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import Extracted, LineItem, Moment, Receipt
from recibo.schemas.ids import OrgId
from tests import installation, make, people
from tests.installation import WAIT_SECONDS, Installation
from tests.people import Session
from tests.portal import accounts, forms, pages

PATH = "/portal/receipts"
RECEIPT = make.jpeg("a receipt")
OTHER_RECEIPT = make.jpeg("another receipt")
GIF = b"GIF89a\x01\x00\x01\x00".ljust(400, b"\0")

#: A morning in São Paulo.
MORNING = Moment(dt.date(2026, 3, 14), dt.time(8, 17, 42), dt.timedelta(hours=-3))

File = tuple[str, bytes]


def make_reading(merchant: str = "Padaria Aurora", **of: Any) -> Receipt:
    """Return a reader's result with one line item."""
    item = LineItem("Pão francês", Decimal("0.535"), Decimal("18.90"), Decimal("10.11"))
    receipt = make.reading(merchant, **{"total": "42.5", "issued": MORNING, **of})
    return replace(receipt, line_items=(Extracted(item, 0.72, "PAO FRANCES 0,535 x 18,90"),))


@asynccontextmanager
async def run_service(
    database_url: str, folder: Path, reader: FakeReader | None = None, **settings: Any
) -> AsyncIterator[tuple[Installation, Session]]:
    """Run an installation with a worker, signed in as the owner of an org."""
    async with installation.start(database_url, folder, reader=reader, **settings) as service:
        owner = await people.signed_up(service)
        await forms.sign_in_as(service, owner)
        yield service, owner


async def send_files(i: Installation, *files: File, **fields: str) -> httpx.Response:
    """Submit the upload form."""
    parts = [("file", (name, data, "application/octet-stream")) for name, data in files]
    return await i.stranger.post(PATH, files=parts, data=fields)


async def upload(i: Installation, data: bytes = RECEIPT, **fields: str) -> str:
    """Upload one file, which must be accepted, and return its receipt's id."""
    target = accounts.redirect_target(await send_files(i, ("receipt.jpg", data), **fields))
    return target.removeprefix(f"{PATH}/").partition("?")[0]


async def read_receipt(i: Installation, owner: Session, receipt_id: str) -> Mapping[str, Any]:
    """Return a receipt from the API once it has no pending reading."""
    i.reader.release()
    secret = await make.key(i.database, OrgId(owner.org_id))
    answer = await i.get(f"/receipts/{receipt_id}", secret=secret, wait=str(WAIT_SECONDS))
    assert answer.status_code == 200, answer.text
    receipt: Mapping[str, Any] = answer.json()
    return receipt


async def get_page(i: Installation, rest: str = "") -> pages.Page:
    """Return a page of receipts."""
    return await forms.get_page(i, f"{PATH}{rest}")


def listed_ids(answer: httpx.Response) -> list[str]:
    """Return the ids of the receipts on a list, in its order."""
    links = re.findall(rf'class="m-link" href="{PATH}/(\w+)\?', answer.text)
    return [str(link) for link in links]
