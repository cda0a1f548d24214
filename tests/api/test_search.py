"""GET /v1/receipts: the search and the filters of the review."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.extract.model import Category, Extracted, Receipt
from recibo.services.reading import receipt_lists
from tests import installation, make, receipts
from tests.installation import Installation

READINGS: dict[str, Receipt] = {
    "bakery": receipts.sure(
        "Pão & Cia São João",
        merchant_tax_id=Extracted("11222333000181", 0.97, "11.222.333/0001-81"),
        texts=("PÃO & CIA\nCNPJ 11.222.333/0001-81\nTotal 42,59",),
        category=Category.RESTAURANTS,
    ),
    "café": receipts.sure(
        "Café Zürich",
        total="7.50",
        currency=Extracted("CHF", 0.9, "CHF"),
        document_number=Extracted("AB-77/2026", 0.97, "AB-77/2026"),
        texts=(f"Café Zürich\nTotal 7.50\nStraße 5\n{'long' * 25}\n17:30 42 kg",),
        confidence=0.95,
    ),
    "dark": replace(
        receipts.sure("Mercado", total="100.00", texts=("MERCADO\nTotal 100",)), confidence=0.5
    ),
}


@asynccontextmanager
async def stocked(database_url: str, folder: Path) -> AsyncIterator[Installation]:
    """Open a service that has read each of READINGS, in their order."""
    reader = FakeReader({make.jpeg(name): answer for name, answer in READINGS.items()})
    async with installation.start(database_url, folder, reader=reader) as service:
        for name in READINGS:
            await service.extracted(make.jpeg(name))
        yield service


async def found(service: Installation, **query: str) -> list[str]:
    """Return which of READINGS a list holds, in its order."""
    answer = await service.get("/receipts", **query)
    assert 200 == answer.status_code, answer.text
    names = {extracted.merchant_name.value: name for name, extracted in READINGS.items()
             if extracted.merchant_name}  # fmt: skip
    return [names[one["merchant_name"]] for one in answer.json()["data"]]


SEARCHES = {
    # Without regard to case and accents, and by the beginnings of words.
    "pao": ["bakery"],
    "PÃO joão": ["bakery"],
    "sao": ["bakery"],
    "zuri": ["café"],
    "strasse": ["café"],
    "total": ["dark", "café", "bakery"],
    "cafe": ["café", "bakery"],
    "tal": [],
    # All words must be there.
    "total zurich": ["café"],
    "zurich joao": [],
    # Numbers, with and without punctuation.
    "11.222.333/0001-81": ["bakery"],
    "11222333000181": ["bakery"],
    "112223330": ["bakery"],
    "42,59": ["bakery"],
    "17,42": [],
    "long" * 20: ["café"],
    "long" * 21: ["café"],
    "ab-77": ["café"],
    "AB77": ["café"],
    # Of an item, which is not in the text of the page.
    "frances": ["bakery"],
    # No operators.
    "zurich OR joao": [],
    "NOT zurich": [],
    '"zurich"': ["café"],
    "zurich*": ["café"],
    "(zurich": ["café"],
    "merchant_name:zurich": [],
    # Punctuation alone finds nothing.
    "&": [],
    "***": [],
    "_": [],
    "_019": [],
    "%": [],
}


@pytest.fixture(params=["scanned", "indexed"])
def _path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search the newest receipts word by word, or all of them by the index."""
    if request.param == "indexed":
        monkeypatch.setattr(receipt_lists, "SCANNED", 0)


@pytest.mark.usefixtures("_path")
async def test_search_finds_words_and_their_beginnings(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        assert SEARCHES == {query: await found(service, q=query) for query in SEARCHES}


@pytest.mark.usefixtures("_path")
async def test_search_finds_the_name_of_the_file_also_of_what_failed(
    database_url: str, tmp_path: Path
) -> None:
    blank = make.jpeg("blank")
    reader = FakeReader({blank: Failure(FailureKind.UNREADABLE, "no")})
    files = {"IMG_2034.jpg": make.jpeg("lunch"), "scan from Tuesday.jpg": blank}
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        for name, content in files.items():
            await service.extract(content, metadata=json.dumps({"filename": name}))
        listed = {
            query: [
                (one["status"], one["metadata"]["filename"])
                for one in (await service.get("/receipts", q=query)).json()["data"]
            ]
            for query in ("img_2034.jpg", "2034", "tuesday scan", "wednesday")
        }

    read, failed = ("completed", "IMG_2034.jpg"), ("failed", "scan from Tuesday.jpg")
    assert {"img_2034.jpg": [read], "2034": [read], "tuesday scan": [failed], "wednesday": []} == (
        listed
    )


@pytest.mark.usefixtures("_path")
async def test_search_goes_by_pages(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        names, cursor = list[str](), None
        while True:
            query = {"q": "total", "limit": "1", **({"cursor": cursor} if cursor else {})}
            page = (await service.get("/receipts", **query)).json()
            names += [one["merchant_name"] for one in page["data"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        other = await service.get("/receipts", q="zurich", cursor="x")

    assert ["Mercado", "Café Zürich", "Pão & Cia São João"] == names
    assert 400 == other.status_code


@pytest.mark.usefixtures("_path")
async def test_search_follows_corrections_and_deletions(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        [cafe] = (await service.get("/receipts", q="zurich")).json()["data"]
        await service.patched(cafe["id"], document_number="XY9000")
        corrected = await found(service, q="xy9000 zurich")
        await service.delete(f"/receipts/{cafe['id']}")
        deleted = await found(service, q="zurich")

    assert (["café"], []) == (corrected, deleted)


@pytest.mark.usefixtures("_path")
async def test_search_stays_in_the_org(database_url: str, tmp_path: Path) -> None:
    async with stocked(database_url, tmp_path) as service:
        other = await make.key(service.database, await make.org(service.database))

        assert [] == (await service.get("/receipts", secret=other, q="total")).json()["data"]


FILTERS: list[tuple[dict[str, str], list[str]]] = [
    ({"review": "needs_review"}, ["dark"]),
    ({"review": "ready"}, ["café", "bakery"]),
    ({"review": "approved"}, []),
    ({"merchant": "cafe zurich"}, ["café"]),
    ({"merchant": "Pão & Cia, São João"}, ["bakery"]),
    ({"merchant": "PAO CIA S.A.O. JOAO"}, ["bakery"]),
    ({"merchant": "cafe"}, []),
    ({"merchant": "&"}, []),
    ({"currency": "CHF"}, ["café"]),
    ({"category": "restaurants"}, ["bakery"]),
    ({"category": "fuel"}, []),
    ({"min_total": "42.59"}, ["dark", "bakery"]),
    ({"max_total": "42.59"}, ["café", "bakery"]),
    ({"min_total": "7.5", "max_total": "42.59"}, ["café", "bakery"]),
    ({"min_total": "42.60", "max_total": "99.99"}, []),
    ({"max_confidence": "0.5"}, ["dark"]),
    ({"max_confidence": "0.95"}, ["dark", "café"]),
    ({"duplicates": "true"}, []),
    ({"q": "total", "review": "ready", "min_total": "10"}, ["bakery"]),
]


@pytest.mark.parametrize("few", [True, False])
async def test_filters(
    few: bool, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not few:
        monkeypatch.setattr(receipt_lists, "_FEW", 0)
    async with stocked(database_url, tmp_path) as service:
        assert FILTERS == [(query, await found(service, **query)) for query, _ in FILTERS]


INVALID: list[dict[str, Any]] = [
    {"q": ""},
    {"q": "x" * 201},
    {"q": "a\0"},
    {"review": "done"},
    {"merchant": ""},
    {"currency": "chf"},
    {"category": "food"},
    {"min_total": "1e5"},
    {"max_total": "NaN"},
    {"max_total": "1,5"},
    {"max_confidence": "2"},
    {"max_confidence": "nan"},
    {"duplicates": "yes"},
    {"duplicates": "false"},
    {"q": ["a", "b"]},
]


@pytest.mark.parametrize("query", INVALID)
async def test_invalid_filters_are_refused_by_name(
    query: dict[str, Any], door: Installation
) -> None:
    answer = await door.get("/receipts", **query)

    assert 400 == answer.status_code
    assert [*query] == [one["field"] for one in answer.json()["error"]["details"]]
