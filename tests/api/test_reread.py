"""`reread=true`: a known file read again under the same receipt id."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from recibo.store.tables import AuditEvent, Delivery, Receipt, UsageEvent, UsageMonth
from tests import installation, make
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.readers import CRASHED, UNREADABLE, Answer, ScriptedReader

pytestmark = ON_SQLITE

DOCUMENT = make.jpeg("document")
HIGH = {"accuracy": "high", "reread": "true"}
FIRST = make.reading("Aurora", confidence=0.6, total="10")
BETTER = make.reading("Padaria Aurora", confidence=0.9, total="12.5")
WORSE = make.reading("Au#ra", confidence=0.5)
EQUAL = make.reading("Aurora", confidence=0.6, total="10")
HARDLY_SURER = make.reading("Aurora", confidence=0.6099, total="10")
SURER = make.reading("Aurora", confidence=0.61, total="10")


@asynccontextmanager
async def reading(
    database_url: str, folder: Path, *answers: Answer, wait: float = 25
) -> AsyncIterator[Installation]:
    """Open a service whose reader answers in turn."""
    reader = ScriptedReader(answers)
    async with installation.start(
        database_url, folder, reader=reader, extract_wait_seconds=wait
    ) as service:
        yield service


@ON_BOTH
async def test_better_reading_replaces_the_fields_and_costs_the_difference(
    database_url: str, tmp_path: Path
) -> None:
    async with reading(database_url, tmp_path, FIRST, BETTER) as service:
        first = await service.extracted(DOCUMENT, metadata='{"a": "b"}')
        answer = await service.extract(DOCUMENT, **HIGH)
        stored = await service.get(f"/receipts/{first['id']}", include="evidence,text")
        used = await service.used()
        events = await service.rows(UsageEvent)
        months = await service.rows(UsageMonth)
        audited = [row.action for row in await service.rows(AuditEvent)]

    again = answer.json()
    assert "Idempotent-Replayed" not in answer.headers
    assert ("Padaria Aurora", "12.50", "high") == tuple(
        again[name] for name in ("merchant_name", "total", "accuracy")
    )
    for kept in ("id", "created_at", "created_by", "metadata"):
        assert first[kept] == again[kept]
    assert first["updated_at"] < again["updated_at"]
    assert "Padaria Aurora" == stored.json()["evidence"]["merchant_name"]["text"]
    assert ["Padaria Aurora\npage one"] == stored.json()["text"]
    assert (1, 5) == used
    assert [1, 4] == sorted(event.credits for event in events)
    assert [(1, 1, 5)] == [(row.held, row.completed, row.credits) for row in months]
    assert 1 == audited.count("receipt.reread")


async def test_equal_confidence_is_not_worse(database_url: str, tmp_path: Path) -> None:
    # Rounded to four digits, both are 0.9516.
    first, equal = (make.reading(name, confidence=0.95155001) for name in ("Aurora", "Other"))
    async with reading(database_url, tmp_path, first, equal) as service:
        await service.extracted(DOCUMENT)
        again = await service.extracted(DOCUMENT, **HIGH)

    assert "Other" == again["merchant_name"]


@ON_BOTH
async def test_same_fields_with_more_confidence_are_an_improvement(
    database_url: str, tmp_path: Path
) -> None:
    async with reading(database_url, tmp_path, FIRST, SURER) as service:
        await service.extracted(DOCUMENT)
        again = await service.extracted(DOCUMENT, **HIGH)
        used = await service.used()

    assert (0.61, "high") == (again["confidence"], again["accuracy"])
    assert (1, 5) == used


@ON_BOTH
@pytest.mark.parametrize(
    "answer",
    [EQUAL, HARDLY_SURER],
    ids=["equal", "hardly surer"],
)
async def test_reading_that_confirms_the_receipt_costs_nothing(
    database_url: str, tmp_path: Path, answer: Answer
) -> None:
    async with reading(database_url, tmp_path, FIRST, answer, BETTER) as service:
        first = await service.extracted(DOCUMENT)
        again = await service.extract(DOCUMENT, **HIGH)
        replay = await service.extract(DOCUMENT, **HIGH)
        used = await service.used()

    assert {**first, "accuracy": "high", "version": 2} == again.json() == replay.json()
    assert (1, 1) == used
    assert "true" == replay.headers["Idempotent-Replayed"]


@pytest.mark.parametrize("answer", [WORSE, UNREADABLE, CRASHED], ids=["worse", "none", "crashed"])
async def test_worse_or_failed_reading_changes_and_costs_nothing(
    database_url: str, tmp_path: Path, answer: Answer
) -> None:
    async with reading(database_url, tmp_path, FIRST, answer) as service:
        first = await service.extracted(DOCUMENT)
        again = await service.extract(DOCUMENT, **HIGH)
        used = await service.used()
        replay = await service.extract(DOCUMENT)

    assert first == again.json() == replay.json()
    assert (1, 1) == used
    assert "true" == replay.headers["Idempotent-Replayed"]


@ON_BOTH
async def test_reading_that_was_worse_is_not_made_again(database_url: str, tmp_path: Path) -> None:
    async with reading(database_url, tmp_path, FIRST, WORSE, BETTER) as service:
        first = await service.extracted(DOCUMENT)
        await service.extracted(DOCUMENT, **HIGH)
        again = await service.extract(DOCUMENT, **HIGH)
        seen = len(service.reader.seen)

    assert "true" == again.headers["Idempotent-Replayed"]
    assert (first, 2) == (again.json(), seen)


async def test_reading_again_may_fail_three_times(database_url: str, tmp_path: Path) -> None:
    async with reading(database_url, tmp_path, FIRST, *[UNREADABLE] * 3, BETTER) as service:
        first = await service.extracted(DOCUMENT)
        answers = [await service.extract(DOCUMENT, **HIGH) for _ in range(4)]
        seen = len(service.reader.seen)

    assert [False] * 3 + [True] == ["Idempotent-Replayed" in one.headers for one in answers]
    assert (first, 4) == (answers[-1].json(), seen)


async def test_too_much_waiting_refuses_a_reread_and_no_replay(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(
        database_url, tmp_path, extract_wait_seconds=0, max_queue_seconds=1, readers=1
    ) as service:
        first = await service.waited((await service.extracted(DOCUMENT))["id"])
        service.reader.hold()
        await service.extracted(make.jpeg("other"))
        refused = await service.extract(DOCUMENT, **HIGH)
        replay = await service.extracted(DOCUMENT)
        audited = [row.action for row in await service.rows(AuditEvent)]

    assert (503, "server_error") == (refused.status_code, refused.json()["error"]["code"])
    assert first == replay
    assert "receipt.reread" not in audited


@pytest.mark.parametrize(
    ("before", "after"), [("standard", "standard"), ("high", "standard"), ("high", "high")]
)
async def test_same_or_lower_accuracy_is_a_replay(
    reading_door: Installation, before: str, after: str
) -> None:
    first = await reading_door.extracted(DOCUMENT, accuracy=before)
    again = await reading_door.extract(DOCUMENT, accuracy=after, reread="true")

    assert "true" == again.headers["Idempotent-Replayed"]
    assert first == again.json()
    assert 1 == len(reading_door.reader.seen)


async def test_after_a_reread_at_high_another_is_a_replay(
    database_url: str, tmp_path: Path
) -> None:
    async with reading(database_url, tmp_path, FIRST, BETTER) as service:
        await service.extracted(DOCUMENT)
        await service.extracted(DOCUMENT, **HIGH)
        again = await service.extract(DOCUMENT, **HIGH)
        used = await service.used()

    assert "true" == again.headers["Idempotent-Replayed"]
    assert (1, 5) == used


@pytest.mark.parametrize("own", ["https://hooks.acme.test/again", None])
async def test_webhook_of_a_reread_goes_to_the_url_of_its_request(
    database_url: str, tmp_path: Path, own: str | None
) -> None:
    async with reading(database_url, tmp_path, FIRST, BETTER) as service:
        await service.extracted(DOCUMENT, webhook_url="https://hooks.acme.test/first")
        await service.extracted(DOCUMENT, **HIGH, **({"webhook_url": own} if own else {}))
        deliveries = await service.rows(Delivery)

    result = sorted((row.event_id, row.url) for row in deliveries)
    assert ["https://hooks.acme.test/first", own][: 1 + bool(own)] == [url for _, url in result]


async def test_unknown_file_is_read_as_without_it(service: Installation) -> None:
    receipt = await service.extracted(DOCUMENT, **HIGH)

    assert ("completed", "high") == (receipt["status"], receipt["accuracy"])
    assert (1, 5) == await service.used()
    assert [5] == [event.credits for event in await service.rows(UsageEvent)]


async def test_without_it_a_known_file_is_a_replay_at_any_accuracy(service: Installation) -> None:
    await service.extracted(DOCUMENT)

    assert "standard" == (await service.extracted(DOCUMENT, accuracy="high"))["accuracy"]
    assert (1, 1) == await service.used()


@ON_BOTH
async def test_receipt_stays_completed_while_it_is_read_again(
    database_url: str, tmp_path: Path
) -> None:
    async with reading(database_url, tmp_path, FIRST, BETTER, wait=0) as service:
        first = await service.waited((await service.extracted(DOCUMENT))["id"])
        service.reader.hold()
        meanwhile = await service.extracted(DOCUMENT, **HIGH)
        at_once = (await service.get(f"/receipts/{first['id']}")).json()
        after = await service.waited(first["id"])

    assert first == meanwhile == at_once
    assert ("completed", "Padaria Aurora") == (after["status"], after["merchant_name"])


@ON_BOTH
async def test_deleted_while_it_is_read_again_it_costs_nothing_more(
    database_url: str, tmp_path: Path
) -> None:
    async with reading(database_url, tmp_path, FIRST, BETTER, wait=0) as service:
        first = await service.waited((await service.extracted(DOCUMENT))["id"])
        service.reader.hold()
        await service.extracted(DOCUMENT, **HIGH)
        await service.delete(f"/receipts/{first['id']}")
        service.reader.release()
        await service.waited((await service.extracted(make.jpeg("next")))["id"])
        events = [row.credits for row in await service.rows(UsageEvent)]
        rows = {row.id: row.merchant_name for row in await service.rows(Receipt)}

    assert [1, 1] == events
    assert "Aurora" == rows[first["id"]]


@ON_BOTH
async def test_many_at_once_are_one_reading_and_one_bill(database_url: str, tmp_path: Path) -> None:
    async with reading(database_url, tmp_path, FIRST, BETTER) as service:
        await service.extracted(DOCUMENT)
        answers = await asyncio.gather(*(service.extract(DOCUMENT, **HIGH) for _ in range(10)))
        used = await service.used()
        seen = len(service.reader.seen)

    assert {"Padaria Aurora"} == {answer.json()["merchant_name"] for answer in answers}
    assert 9 == sum("Idempotent-Replayed" in answer.headers for answer in answers)
    assert ((1, 5), 2) == (used, seen)
