"""Receipts that look like the same document."""

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import Extracted, Moment, Receipt
from tests import installation, make, receipts
from tests.installation import Installation

KEY = Extracted("35250311222333000181650010000123451000864157", 1.0, "key")
OTHER_NUMBER = Extracted("999", 0.97, "999")
TAX_ID = Extracted("11222333000181", 0.97, "11.222.333/0001-81")
OTHER_TAX_ID = Extracted("11444777000161", 0.97, "11.444.777/0001-61")
PICTURE, NEAR, FAR = "00ff00ff00ff00ff", "00ff00ff00ff00f0", "ff00ff00ff00ff00"


def at(hour: int, minute: int, second: int = 0) -> Extracted[Moment]:
    """Return a time of one day."""
    moment = Moment(dt.date(2026, 3, 14), dt.time(hour, minute, second), dt.timedelta(hours=-3))
    return Extracted(moment, 0.97, "date")


UNTIMED = Extracted(Moment(dt.date(2026, 3, 14)), 0.97, "date")
BASE = receipts.sure(issued_at=at(8, 17, 42))
PAIRS: dict[str, tuple[Receipt, Receipt, bool]] = {
    "number and total": (BASE, replace(BASE, issued_at=at(9, 0)), True),
    "another total": (BASE, receipts.sure(total="1.00", issued_at=at(9, 0)), False),
    "the same minute": (
        BASE, replace(BASE, document_number=OTHER_NUMBER, issued_at=at(8, 17, 1)), True
    ),
    "the next minute": (
        BASE, replace(BASE, document_number=OTHER_NUMBER, issued_at=at(8, 18)), False
    ),
    "the same day without a time": (
        replace(BASE, issued_at=UNTIMED),
        replace(BASE, document_number=OTHER_NUMBER, issued_at=UNTIMED),
        False,
    ),
    "another merchant": (BASE, replace(BASE, merchant_name=Extracted("Mercado", 0.97, "")), False),
    "the name written otherwise": (
        BASE, replace(BASE, merchant_name=Extracted("PADARIA  AURÓRA.", 0.97, "")), True
    ),
    "a name with dots": (
        replace(BASE, merchant_name=Extracted("Padaria Aurora S.A.", 0.97, "")),
        replace(BASE, merchant_name=Extracted("PADARIA AURORA SA", 0.97, "")),
        True,
    ),
    "nearly the same picture with another number and time": (
        replace(BASE, picture_hash=PICTURE),
        replace(BASE, document_number=OTHER_NUMBER, issued_at=at(9, 0), picture_hash=NEAR),
        False,
    ),
    "another name with the same tax id": (
        replace(BASE, merchant_tax_id=TAX_ID),
        replace(BASE, merchant_tax_id=TAX_ID, merchant_name=Extracted("Aurora", 0.97, "")),
        True,
    ),
    "the same name with another tax id": (
        replace(BASE, merchant_tax_id=TAX_ID), replace(BASE, merchant_tax_id=OTHER_TAX_ID), False
    ),
    "a tax id on one of them only": (replace(BASE, merchant_tax_id=TAX_ID), BASE, True),
    "the same key": (
        replace(BASE, document_key=KEY),
        receipts.sure("Mercado", total="1.00", document_key=KEY),
        True,
    ),
    "nearly the same picture": (
        replace(BASE, picture_hash=PICTURE),
        replace(
            BASE, merchant_name=None, document_number=None, issued_at=None, picture_hash=NEAR
        ),
        True,
    ),
    "the picture of another": (
        replace(BASE, picture_hash=PICTURE),
        replace(BASE, merchant_name=None, document_number=None, picture_hash=FAR),
        False,
    ),
    "the picture alone": (
        replace(BASE, picture_hash=PICTURE),
        receipts.sure("Mercado", total="1.00", issued_at=at(9, 0), picture_hash=PICTURE),
        False,
    ),
}  # fmt: skip


async def both(service: Installation, **options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Upload two documents and return both receipts afterwards."""
    first = await service.extracted(make.jpeg("0"), **options)
    second = await service.extracted(make.jpeg("1"), **options)
    return (await service.get(f"/receipts/{first['id']}")).json(), second


def reader(*answers: Receipt) -> FakeReader:
    """Return a reader of documents named by numbers."""
    return FakeReader({make.jpeg(str(n)): answer for n, answer in enumerate(answers)})


@pytest.mark.parametrize("name", PAIRS)
async def test_duplicates_are_found_in_both_directions(
    name: str, database_url: str, tmp_path: Path
) -> None:
    *pair, are_same = PAIRS[name]
    async with installation.start(database_url, tmp_path, reader=reader(*pair)) as service:
        first, second = await both(service)

    reason = {"code": "possible_duplicate", "field": None}
    expected = ([second["id"]], [first["id"]]) if are_same else ([], [])
    assert expected == (first["duplicates"], second["duplicates"])
    for receipt in (first, second):
        assert are_same == (reason in receipt["review"]["reasons"])


async def test_deleted_duplicates_leave_the_list(database_url: str, tmp_path: Path) -> None:
    async with installation.start(database_url, tmp_path, reader=reader(BASE, BASE)) as service:
        first, second = await both(service)
        listed = (await service.get("/receipts", duplicates="true")).json()["data"]
        await service.delete(f"/receipts/{first['id']}")
        left = (await service.get(f"/receipts/{second['id']}")).json()
        none_left = (await service.get("/receipts", duplicates="true")).json()["data"]

    assert {first["id"], second["id"]} == {one["id"] for one in listed}
    assert ([], "ready", []) == (left["duplicates"], left["review"]["status"], none_left)


async def test_corrections_make_and_unmake_duplicates(database_url: str, tmp_path: Path) -> None:
    other = receipts.sure("Mercado", total="1.00", issued_at=at(9, 0), document_number=OTHER_NUMBER)
    async with installation.start(database_url, tmp_path, reader=reader(BASE, other)) as service:
        first, second = await both(service)
        made = await service.patched(second["id"], document_key=KEY.value)
        made = await service.patched(first["id"], document_key=KEY.value)
        linked = (await service.get(f"/receipts/{second['id']}")).json()
        unmade = await service.patched(first["id"], document_key=None)
        unlinked = (await service.get(f"/receipts/{second['id']}")).json()

    assert ([second["id"]], [first["id"]]) == (made["duplicates"], linked["duplicates"])
    assert ([], []) == (unmade["duplicates"], unlinked["duplicates"])
    assert ("needs_review", "ready") == (linked["review"]["status"], unlinked["review"]["status"])


async def test_duplicates_stay_if_only_the_merchant_is_corrected(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(database_url, tmp_path, reader=reader(BASE, BASE)) as service:
        first, second = await both(service)
        named = await service.patched(first["id"], merchant_name="Mercado do Porto")
        renumbered = await service.patched(
            first["id"], document_number="77", issued_at="2026-01-05T08:30:00Z"
        )
        other = (await service.get(f"/receipts/{second['id']}")).json()

    assert ([second["id"]], "needs_review") == (named["duplicates"], named["review"]["status"])
    assert ([], []) == (renumbered["duplicates"], other["duplicates"])


async def test_receipts_of_other_orgs_are_no_duplicates(database_url: str, tmp_path: Path) -> None:
    async with installation.start(database_url, tmp_path, reader=reader(BASE, BASE)) as service:
        other = await make.key(service.database, await make.org(service.database))
        await service.extracted(make.jpeg("0"))
        alone = await service.extracted(make.jpeg("1"), secret=other)

    assert [] == alone["duplicates"]
