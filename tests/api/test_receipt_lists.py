"""GET /v1/receipts: order, filters, pages."""

import datetime as dt
from collections.abc import AsyncIterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.extract.model import DocumentType, Moment, Receipt
from tests import installation, make
from tests.installation import Installation

BRASILIA = dt.timedelta(hours=-3)
SINGAPORE = dt.timedelta(hours=8)
UNREADABLE = Failure(FailureKind.UNREADABLE, "too dark")


def issued(day: int, hour: int | None = None, offset: dt.timedelta | None = None) -> Moment:
    """Return a moment in March 2026."""
    return Moment(dt.date(2026, 3, day), None if hour is None else dt.time(hour), offset)


READINGS: dict[str, Receipt | Failure] = {
    "undated": make.reading(),
    "evening": make.reading(issued=issued(14, 23, BRASILIA), type_=DocumentType.NFCE),
    "morning": make.reading(issued=issued(15, 1, SINGAPORE)),
    "untimed": make.reading(issued=issued(15)),
    "invoice": make.reading(issued=issued(20, 12, BRASILIA), type_=DocumentType.INVOICE),
    "dark": UNREADABLE,
}
TAGS = {"evening": '{"project": "a", "n": 1.50}', "morning": '{"project": "b"}'}


@pytest.fixture
async def stocked(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service that has read each of READINGS, in their order."""
    reader = FakeReader({make.jpeg(name): answer for name, answer in READINGS.items()})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        for name in READINGS:
            await service.extract(make.jpeg(name), metadata=TAGS.get(name, "{}"))
        yield service


async def names(stocked: Installation, query: str) -> list[str]:
    """Return which of READINGS a list holds, in its order."""
    answer = await stocked.client.get(f"/v1/receipts?{query}")
    assert 200 == answer.status_code, answer.text
    return [await name(stocked, receipt) for receipt in answer.json()["data"]]


async def name(stocked: Installation, receipt: dict[str, Any]) -> str:
    """Return the name of a receipt's file."""
    data = (await stocked.get(f"/receipts/{receipt['id']}/file")).content
    return data.removeprefix(make.JPEG_HEAD).decode()


QUERIES = {
    "": ["dark", "invoice", "untimed", "morning", "evening", "undated"],
    "type=nfce": ["evening"],
    "type=receipt": ["untimed", "morning", "undated"],
    "type=nfe": [],
    "status=failed": ["dark"],
    "status=pending": [],
    "status=completed&type=invoice": ["invoice"],
    "status=failed&type=invoice": [],
    # The date on the document, in any time zone.
    "after=2026-03-15": ["invoice", "untimed", "morning"],
    "before=2026-03-15": ["evening"],
    "after=2026-03-15&before=2026-03-20": ["untimed", "morning"],
    "after=2026-03-20&before=2026-03-20": [],
    "after=20260320": ["invoice"],
    # An instant: the morning in Singapore was before the evening in Brasília.
    "after=2026-03-14T17:00:01Z": ["invoice", "untimed", "evening"],
    "before=2026-03-14T17:00:00Z": [],
    "before=2026-03-14T17:00:01Z": ["morning"],
    "after=2026-03-15T02:00:00Z": ["invoice", "evening"],
    "after=2026-03-14T23:00:00-03:00": ["invoice", "evening"],
    "after=2026-03-15T10:00:00%2B08:00": ["invoice", "evening"],
    # The + was not coded and arrives as a blank.
    "after=2026-03-15T10:00:00+08:00": ["invoice", "evening"],
    "after=2026-03-15T10:00:00+0800": ["invoice", "evening"],
    "after=2026-03-15T02:00:00": ["invoice", "evening"],
    "metadata.project=a": ["evening"],
    "metadata.project=A": [],
    "metadata.project=": [],
    "metadata.colour=a": [],
    "metadata.=a": [],
    "metadata.n=1.50": ["evening"],
    "metadata.n=1.5": [],
    "metadata.project=a&metadata.n=1.50": ["evening"],
    "metadata.project=b&metadata.n=1.50": [],
    "metadata.project=a&type=nfce&status=completed&after=2026-03-14&before=2026-03-15": ["evening"],
    "colour=red&limit=2": ["dark", "invoice"],
}


async def test_list_is_newest_first_and_all_filters_must_fit(stocked: Installation) -> None:
    assert QUERIES == {query: await names(stocked, query) for query in QUERIES}


REFUSED = [
    "type=bill",
    "type=",
    "status=done",
    "status=",
    "limit=0",
    "limit=201",
    "limit=-1",
    "limit=ten",
    "limit=",
    "limit=1e2",
    "limit=5.0",
    "limit=%205",
    "after=yesterday",
    "after=",
    "after=2026-02-30",
    "after=2026-13-01",
    "before=2026-03-14T25:00:00Z",
    "before=14/03/2026",
    "before=0001-01-01T00:00:00%2B14:00",
    "before=9999-12-31T23:59:59-01:00",
    "before=%00",
    "cursor=",
    "cursor=broken",
    "cursor=%00",
    "cursor=" + "a" * 5000,
    "type=receipt&type=receipt",
    "limit=1&limit=1",
    "after=2026-03-14&after=2026-03-14",
    "metadata.project=a&metadata.project=b",
    "metadata.project=%00",
    "metadata.%00=a",
    "&".join(f"metadata.k{number}=a" for number in range(17)),
]


async def test_invalid_parameters_are_400(service: Installation) -> None:
    answers = {query: await service.client.get(f"/v1/receipts?{query}") for query in REFUSED}

    assert dict.fromkeys(REFUSED, (400, "validation_error")) == {
        query: (answer.status_code, answer.json()["error"]["code"])
        for query, answer in answers.items()
    }
    error = answers["limit=201"].json()["error"]
    assert ["limit"] == [detail["field"] for detail in error["details"]]


async def test_as_many_metadata_filters_as_a_receipt_has_keys_pass(service: Installation) -> None:
    query = {f"metadata.k{number}": "a" for number in range(16)}

    assert 200 == (await service.get("/receipts", **query)).status_code


async def pages(stocked: Installation, **query: str) -> list[dict[str, Any]]:
    """Return all pages of a list."""
    found = [(await stocked.get("/receipts", **query)).json()]
    while found[-1]["has_more"]:
        query["cursor"] = found[-1]["next_cursor"]
        found.append((await stocked.get("/receipts", **query)).json())
    return found


async def test_pages_hold_every_receipt_once(stocked: Installation) -> None:
    whole = (await stocked.get("/receipts")).json()["data"]

    for limit in (1, 2, 5, 6, 200):
        found = await pages(stocked, limit=str(limit))

        assert whole == [receipt for page in found for receipt in page["data"]], limit
        assert -(-len(whole) // limit) == len(found), limit
        assert found[-1]["next_cursor"] is None, limit


async def test_pages_do_not_shift_when_receipts_come_and_go(stocked: Installation) -> None:
    first = (await stocked.get("/receipts", limit="2")).json()
    await stocked.extracted(make.jpeg("a newer one"))
    await stocked.delete(f"/receipts/{first['data'][-1]['id']}")

    second = (await stocked.get("/receipts", limit="2", cursor=first["next_cursor"])).json()

    assert ["untimed", "morning"] == [await name(stocked, one) for one in second["data"]]


async def test_filters_hold_on_every_page(stocked: Installation) -> None:
    found = await pages(stocked, limit="1", after="2026-03-15", status="completed")

    assert ["invoice", "untimed", "morning"] == [
        await name(stocked, receipt) for page in found for receipt in page["data"]
    ]


async def test_cursor_is_bound_to_its_filters_its_org_and_its_bytes(stocked: Installation) -> None:
    query = {"metadata.project": "a", "limit": "1", "status": "completed"}
    both = {"limit": "1", "status": "completed"}
    cursor = (await stocked.get("/receipts", **both)).json()["next_cursor"]
    foreign = await make.key(stocked.database, await make.org(stocked.database))
    changed = ("b" if cursor[0] == "a" else "a") + cursor[1:]

    statuses = [
        (await stocked.get("/receipts", **both, cursor=cursor)).status_code,
        (await stocked.get("/receipts", status="completed", cursor=cursor)).status_code,
        (await stocked.get("/receipts", **query, cursor=cursor)).status_code,
        (await stocked.get("/receipts", limit="1", cursor=cursor)).status_code,
        (await stocked.get("/receipts", **both, cursor=changed)).status_code,
        (await stocked.get("/receipts", **both, cursor=cursor, secret=foreign)).status_code,
    ]

    assert [200, 200, 400, 400, 400, 400] == statuses


async def test_cursor_does_not_depend_on_the_order_of_the_filters(service: Installation) -> None:
    for number in range(2):
        await service.extracted(make.jpeg(str(number)), metadata='{"a": 1, "b": 2}')
    one, other = "metadata.a=1&metadata.b=2", "metadata.b=2&metadata.a=1"
    first = (await service.client.get(f"/v1/receipts?limit=1&{one}")).json()

    second = await service.client.get(f"/v1/receipts?{other}&cursor={first['next_cursor']}")

    assert 200 == second.status_code
    assert 1 == len(second.json()["data"])


async def test_page_is_50_by_default(service: Installation) -> None:
    actor = await make.actor_of(service.database, service.secret)
    async with service.database.write() as session:
        session.add_all([make.receipt(actor) for _ in range(51)])

    found = (await service.get("/receipts")).json()

    assert (50, True) == (len(found["data"]), found["has_more"])


async def test_list_takes_as_many_queries_for_many_receipts_as_for_one(
    stocked: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    execute = AsyncSession.execute
    # Background jobs were started before, so they do not have the value.
    is_counted = ContextVar("is_counted", default=False)
    is_counted.set(True)

    async def counting(self: AsyncSession, *args: Any, **kwargs: Any) -> Any:
        if is_counted.get():
            counted.append(1)
        return await execute(self, *args, **kwargs)

    monkeypatch.setattr(AsyncSession, "execute", counting)
    await stocked.get("/receipts", limit="1")
    of_one = len(counted)
    await stocked.get("/receipts")

    assert of_one
    assert of_one == len(counted) - of_one
