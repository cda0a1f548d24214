"""Repeated uploads: recognised by their bytes or by the caller's key, for a day."""

import asyncio
import datetime as dt
from pathlib import Path

import httpx
import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.lib import clock
from recibo.schemas.plans import PlanName
from recibo.store.tables import AuditEvent, Receipt, Replay, UsageEvent, UsageMonth
from tests import installation, make
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.readers import UNREADABLE, ScriptedReader

pytestmark = ON_SQLITE

DOCUMENT = make.jpeg("document")
OTHER = make.jpeg("other")
DARK = make.jpeg("dark")
DAY = dt.timedelta(days=1)
SECOND = dt.timedelta(seconds=1)


def is_replay(answer: httpx.Response) -> bool:
    """Return whether a success says that it is a replay."""
    assert 200 == answer.status_code, answer.text
    return bool(answer.headers.get("Idempotent-Replayed") == "true")


async def test_same_bytes_answer_the_same_receipt_and_cost_nothing(service: Installation) -> None:
    first = await service.extract(DOCUMENT)
    again = await service.extract(DOCUMENT, accuracy="high", type="nfe", metadata='{"a": "b"}')

    assert (False, True) == (is_replay(first), is_replay(again))
    assert first.json() == again.json()
    assert "Idempotent-Replayed" not in first.headers
    assert [DOCUMENT] == service.reader.seen
    assert 1 == len(await service.rows(UsageEvent))
    assert (1, 1) == await service.used()
    created = [row for row in await service.rows(AuditEvent) if row.action == "receipt.created"]
    assert 1 == len(created)


async def test_replay_of_a_changed_receipt_answers_it_as_stored(
    hasty_service: Installation,
) -> None:
    hasty_service.reader.hold()
    pending = await hasty_service.extracted(DOCUMENT)
    await hasty_service.waited(pending["id"])

    again = await hasty_service.extract(DOCUMENT)

    assert is_replay(again)
    assert (pending["id"], "completed") == (again.json()["id"], again.json()["status"])


async def test_other_bytes_of_the_same_name_are_another_receipt(service: Installation) -> None:
    assert (await service.extracted(DOCUMENT))["id"] != (await service.extracted(OTHER))["id"]


@ON_BOTH
async def test_same_key_with_the_same_bytes_is_a_replay_and_with_others_a_conflict(
    service: Installation,
) -> None:
    first = await service.extract(DOCUMENT, key="k")
    again = await service.extract(DOCUMENT, key="k")
    other = await service.extract(OTHER, key="k")

    assert is_replay(again)
    assert first.json() == again.json()
    assert (409, "conflict") == (other.status_code, other.json()["error"]["code"])
    assert [DOCUMENT] == service.reader.seen
    assert (1, 1) == await service.used()


async def test_new_key_of_a_known_file_is_bound_to_it(service: Installation) -> None:
    await service.extract(DOCUMENT)
    replay = await service.extract(DOCUMENT, key="k")
    other = await service.extract(OTHER, key="k")

    assert is_replay(replay)
    assert 409 == other.status_code


async def test_conflict_is_reported_even_if_the_other_file_is_known(service: Installation) -> None:
    await service.extract(DOCUMENT, key="k")
    await service.extract(OTHER)

    assert 409 == (await service.extract(OTHER, key="k")).status_code


async def test_many_keys_may_mean_one_file(service: Installation) -> None:
    answers = [await service.extract(DOCUMENT, key=f"k{number}") for number in range(3)]

    assert [False, True, True] == [is_replay(answer) for answer in answers]


@ON_BOTH
async def test_window_lasts_24_hours_from_the_first_upload(service: Installation) -> None:
    first = (await service.extract(DOCUMENT, key="k")).json()
    with clock.moved(DAY - 10 * SECOND):
        replay = await service.extract(DOCUMENT, key="k")
    with clock.moved(DAY + SECOND):
        new = await service.extract(DOCUMENT, key="k")
        after = await service.extract(DOCUMENT)

    assert is_replay(replay)
    assert not is_replay(new)
    assert first["id"] != new.json()["id"] == after.json()["id"]
    assert (2, 2) == await service.used()


async def test_key_is_free_for_another_file_after_24_hours(service: Installation) -> None:
    await service.extract(DOCUMENT, key="k")
    with clock.moved(DAY + SECOND):
        other = await service.extract(OTHER, key="k")

    assert not is_replay(other)


async def test_deleted_receipt_is_no_replay(service: Installation) -> None:
    first = await service.extract(DOCUMENT, key="k")
    await service.delete(f"/receipts/{first.json()['id']}")
    with_key = await service.extract(DOCUMENT, key="k")

    assert not is_replay(with_key)
    assert first.json()["id"] != with_key.json()["id"]


async def test_key_of_a_deleted_receipt_is_free_for_another_file(service: Installation) -> None:
    first = await service.extract(DOCUMENT, key="k")
    await service.delete(f"/receipts/{first.json()['id']}")

    assert not is_replay(await service.extract(OTHER, key="k"))


async def test_same_bytes_and_key_of_another_org_are_new(service: Installation) -> None:
    first = await service.extract(DOCUMENT, key="k")
    foreign = await make.key(service.database, await make.org(service.database))
    other = await service.extract(DOCUMENT, key="k", secret=foreign)

    assert not is_replay(other)
    assert first.json()["id"] != other.json()["id"]
    assert ((1, 1), (1, 1)) == (await service.used(), await service.used(secret=foreign))


async def test_keys_of_one_org_share_what_is_known(service: Installation) -> None:
    first = await service.extract(DOCUMENT)
    colleague = await make.key(service.database, first.json()["org_id"])

    assert is_replay(await service.extract(DOCUMENT, secret=colleague))


async def test_invalid_option_is_refused_on_a_replay_too(service: Installation) -> None:
    await service.extract(DOCUMENT)

    assert 400 == (await service.extract(DOCUMENT, accuracy="best")).status_code


@ON_BOTH
@pytest.mark.parametrize("key", [None, "k"])
async def test_of_fifty_at_once_one_is_read_and_billed_and_all_get_it(
    service: Installation, key: str | None
) -> None:
    answers = await asyncio.gather(*(service.extract(DOCUMENT, key=key) for _ in range(50)))

    assert 49 == sum(is_replay(answer) for answer in answers)
    assert 1 == len({answer.json()["id"] for answer in answers})
    assert {"completed"} == {answer.json()["status"] for answer in answers}
    assert [DOCUMENT] == service.reader.seen
    assert 1 == len(await service.rows(Receipt)) == len(await service.rows(UsageEvent))
    assert [(1, 1)] == [(row.held, row.completed) for row in await service.rows(UsageMonth)]
    files = list((service.data_dir / "files").glob("??/*"))
    assert 1 == len(files)


@ON_BOTH
async def test_of_fifty_files_at_once_under_one_key_one_is_read(service: Installation) -> None:
    answers = await asyncio.gather(
        *(service.extract(make.jpeg(str(number)), key="k") for number in range(50))
    )

    statuses = sorted(answer.status_code for answer in answers)
    assert [200] + [409] * 49 == statuses
    assert 1 == len(await service.rows(Receipt))
    assert (1, 1) == await service.used()


async def used_key(service: Installation, *, held: int, plan: PlanName = PlanName.FREE) -> str:
    """Return a key of an org that has used so much of its month, of 50 on the free plan."""
    org_id = await make.org(service.database, plan=plan)
    async with service.database.write() as session:
        month = f"{clock.now():%Y-%m}"
        session.add(UsageMonth(org_id=org_id, month=month, held=held, completed=held, credits=held))
    return await make.key(service.database, org_id)


@ON_BOTH
async def test_at_the_edge_of_the_quota_exactly_the_rest_passes(service: Installation) -> None:
    # The free plan has one upload in flight at a time.
    secret = await used_key(service, held=249_995, plan=PlanName.SCALE)

    answers = await asyncio.gather(
        *(service.extract(make.jpeg(str(number)), secret=secret) for number in range(20))
    )

    assert [200] * 5 + [429] * 15 == sorted(answer.status_code for answer in answers)
    assert 5 == len(await service.rows(Receipt)) == len(await service.rows(UsageEvent))
    assert [250_000] == [row.held for row in await service.rows(UsageMonth)]


@ON_BOTH
async def test_copies_at_the_edge_of_the_quota_cost_one(service: Installation) -> None:
    secret = await used_key(service, held=49)

    answers = await asyncio.gather(*(service.extract(DOCUMENT, secret=secret) for _ in range(20)))

    assert {200} == {answer.status_code for answer in answers}


async def test_over_quota_is_429_until_the_month_ends_and_keeps_nothing(
    service: Installation,
) -> None:
    secret = await used_key(service, held=50)

    answer = await service.extract(DOCUMENT, secret=secret)

    error = answer.json()["error"]
    assert (429, "rate_limit_exceeded") == (answer.status_code, error["code"])
    now = clock.now()
    first = (now.replace(day=1, hour=0, minute=0, second=0) + dt.timedelta(days=32)).replace(day=1)
    assert (first - now).total_seconds() == pytest.approx(error["retry_after"], abs=30)
    assert str(error["retry_after"]) == answer.headers["Retry-After"]
    assert [] == await service.rows(Receipt)
    assert [] == service.reader.seen
    with clock.moved(dt.timedelta(seconds=error["retry_after"] + 1)):
        assert 200 == (await service.extract(DOCUMENT, secret=secret)).status_code


async def test_replays_are_answered_over_quota(service: Installation) -> None:
    secret = await used_key(service, held=49)
    await service.extract(DOCUMENT, secret=secret)

    assert 429 == (await service.extract(OTHER, secret=secret)).status_code
    assert is_replay(await service.extract(DOCUMENT, secret=secret))
    assert is_replay(await service.extract(DOCUMENT, secret=secret, key="new"))


async def test_quota_is_checked_before_the_file_is_decoded(
    database_url: str, tmp_path: Path
) -> None:
    encrypted = Failure(FailureKind.INVALID_DOCUMENT, "The document is encrypted.")
    reader = FakeReader(kinds={DOCUMENT: encrypted})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        secret = await used_key(service, held=50)

        assert 429 == (await service.extract(DOCUMENT, secret=secret)).status_code
        assert 400 == (await service.extract(DOCUMENT)).status_code


@ON_BOTH
async def test_failure_gives_the_quota_back_and_is_no_replay(
    database_url: str, tmp_path: Path
) -> None:
    reader = ScriptedReader([UNREADABLE, make.reading()])
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        secret = await used_key(service, held=49)
        failed = await service.extract(DOCUMENT, secret=secret, key="k")
        read = await service.extract(DOCUMENT, secret=secret, key="k")
        full = await service.extract(OTHER, secret=secret)

    assert (422, "low_confidence") == (failed.status_code, failed.json()["error"]["code"])
    assert not is_replay(read)
    assert failed.json()["error"]["receipt_id"] != read.json()["id"]
    assert 429 == full.status_code


async def test_key_of_a_failed_upload_is_free_for_another_file(
    database_url: str, tmp_path: Path
) -> None:
    reader = ScriptedReader([UNREADABLE, make.reading()])
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        await service.extract(DARK, key="k")

        assert not is_replay(await service.extract(DOCUMENT, key="k"))


@ON_BOTH
async def test_file_that_failed_three_times_in_a_day_is_answered_from_the_record(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(
        database_url, tmp_path, reader=FakeReader({DARK: UNREADABLE})
    ) as service:
        answers = [await service.extract(DARK) for _ in range(5)]
        seen_before = len(service.reader.seen)
        high = await service.extract(DARK, accuracy="high")
        with clock.moved(DAY + SECOND):
            tomorrow = await service.extract(DARK)
        seen_after = len(service.reader.seen)
        used = await service.used()
        held = [row.held for row in await service.rows(UsageMonth)]

    assert {422} == {answer.status_code for answer in (*answers, high, tomorrow)}
    body = [answer.json()["error"]["receipt_id"] for answer in answers]
    assert 3 == seen_before == len(set(body))
    assert [body[2]] * 3 == body[2:]
    assert 5 == seen_after
    assert ((0, 0), [0]) == (used, held)


@ON_BOTH
async def test_fifty_at_once_of_a_file_that_fails_all_hear_of_it(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(
        database_url, tmp_path, reader=FakeReader({DARK: UNREADABLE})
    ) as service:
        answers = await asyncio.gather(*(service.extract(DARK) for _ in range(50)))
        seen = len(service.reader.seen)
        receipts = await service.rows(Receipt)
        months = await service.rows(UsageMonth)
        replays = await service.rows(Replay)

    assert {422} == {answer.status_code for answer in answers}
    assert {"failed"} == {row.status for row in receipts}
    assert seen == len(receipts)
    assert [0] == [row.held for row in months]
    assert [] == replays
