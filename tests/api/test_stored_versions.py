"""What any version of the service stored is answered by this one.

A sample for each version is in `tests/stored`; none is ever changed.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from recibo.extract.model import Accuracy
from recibo.lib import clock
from recibo.schemas import stored
from recibo.schemas.receipts import Evidence, Reading, Receipt
from recibo.schemas.states import ReceiptStatus
from recibo.store import tables
from tests import installation, make
from tests.installation import Installation

SAMPLES = sorted((Path(__file__).parents[1] / "stored").glob("version_*.json"))


async def put(to: Installation, sample: dict[str, Any]) -> str:
    """Store a completed receipt as a version did; return its id."""
    (org, *_) = await to.rows(tables.Org)
    row = make.receipt_of(org.id)
    row.status, row.reading = ReceiptStatus.COMPLETED, sample["reading"]
    async with to.database.write() as session:
        session.add(row)
        await session.flush()
        session.add(
            tables.Evidence(receipt_id=row.id, evidence=sample["evidence"], texts=sample["texts"])
        )
    return row.id


@pytest.fixture(params=SAMPLES, ids=lambda path: path.stem)
def sample(request: pytest.FixtureRequest) -> Any:
    """What each version stored."""
    return json.loads(request.param.read_text(encoding="utf-8"))


async def test_stored_sample_is_answered(
    database_url: str, tmp_path: Path, sample: dict[str, Any]
) -> None:
    async with installation.start(database_url, tmp_path) as started:
        receipt_id = await put(started, sample)
        plain = (await started.get(f"/receipts/{receipt_id}")).json()
        full = (await started.get(f"/receipts/{receipt_id}", include="evidence,text")).json()
        listed = (await started.get("/receipts")).json()

    for name in set(sample["reading"]) - {"schema_version", "line_items"}:
        assert sample["reading"][name] == plain[name]
    for known, result in zip(sample["reading"]["line_items"], plain["line_items"], strict=True):
        assert known == {name: result[name] for name in known}
    assert set(Receipt.model_fields) <= set(plain)
    assert "schema_version" not in plain
    assert set(Evidence.model_fields) == set(full["evidence"])
    assert sample["texts"] == full["text"]
    assert [receipt_id] == [one["id"] for one in listed["data"]]


def test_there_is_a_sample_of_the_version_that_is_written() -> None:
    newest = json.loads(SAMPLES[-1].read_text(encoding="utf-8"))

    assert f"version_{stored.VERSION}" == SAMPLES[-1].stem
    assert stored.VERSION == newest["reading"]["schema_version"]


async def test_what_is_stored_says_its_version(database_url: str, tmp_path: Path) -> None:
    async with installation.start(database_url, tmp_path) as started:
        await started.extracted(make.jpeg(f"at {clock.now()}"))
        (receipt,), (evidence,) = (
            await started.rows(tables.Receipt),
            await started.rows(tables.Evidence),
        )

    assert receipt.reading is not None
    versions = [one["schema_version"] for one in (receipt.reading, evidence.evidence)]
    assert [stored.VERSION] * 2 == versions
    assert Accuracy.STANDARD == receipt.accuracy


class Newer(Reading):
    """A reading with fields that are yet to come."""

    loyalty_number: str | None
    vouchers: tuple[Reading, ...]


def test_fields_that_are_added_later_are_filled() -> None:
    sample = json.loads(SAMPLES[0].read_text(encoding="utf-8"))["reading"]
    loaded = Newer.model_validate(stored.load(Newer, sample))

    assert (None, ()) == (loaded.loyalty_number, loaded.vouchers)
    assert sample["total"] == loaded.total
