"""Files without a receipt go to the trash, unless there are too many of them."""

import datetime as dt
import io
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from recibo.lib import clock, ids
from recibo.schemas.ids import ReceiptId
from recibo.services import installation, orphans
from recibo.services.orphans import Swept
from recibo.store import storage
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from tests import core, make, sweeping
from tests.core import Core

DAY = dt.timedelta(days=1)


@pytest.fixture(params=["folder", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """An empty storage, of each kind in turn."""
    url = "" if request.param == "folder" else request.getfixturevalue("bucket_url")
    spool = tmp_path / "spool"
    spool.mkdir()
    return storage.open_storage(url, folder=tmp_path / "files", spool=spool)


@pytest.fixture
async def parts(database: Database, tmp_path: Path, blobs: Blobs) -> Core:
    """What takes uploads in, over files that are marked as its own."""
    await installation.agree(database, blobs)
    return core.build(database, tmp_path, blobs=blobs)


async def test_orphans_go_to_the_trash_and_nothing_else(parts: Core) -> None:
    kept = (await parts.submit(await make.actor(parts.database))).receipt_id
    gone = await sweeping.orphan(parts.blobs)
    done = await sweeping.run_sweeps(parts.database, parts.blobs)

    assert [gone] == await sweeping.trash(parts.blobs)
    assert await sweeping.is_kept(parts.blobs, kept)
    assert 1 == sum(one.trashed for one in done)


async def test_young_orphans_stay(parts: Core) -> None:
    """An upload that is under way has a file and no row yet."""
    with clock.moved(2 * sweeping.LATER - dt.timedelta(minutes=50)):
        young = await sweeping.orphan(parts.blobs)
    await sweeping.run_sweeps(parts.database, parts.blobs, portions=1)

    assert await sweeping.is_kept(parts.blobs, young)


async def test_receipt_that_comes_after_the_listing_keeps_its_file(parts: Core) -> None:
    actor = await make.actor(parts.database)
    late = await sweeping.orphan(parts.blobs)
    await sweeping.run_sweeps(parts.database, parts.blobs, portions=1)
    async with parts.database.write() as session:
        row = make.receipt(actor)
        row.id = late
        session.add(row)

    await sweeping.run_sweeps(parts.database, parts.blobs)

    assert await sweeping.is_kept(parts.blobs, late)


async def test_nothing_is_swept_soon_after_a_start(parts: Core) -> None:
    one = await sweeping.orphan(parts.blobs)
    with clock.moved(sweeping.LATER):
        await orphans.postpone(parts.database)
        for minutes in (0, 14):
            with clock.moved(dt.timedelta(minutes=minutes)):
                await orphans.sweep(parts.database, parts.blobs)
                await orphans.sweep(parts.database, parts.blobs)

    assert await sweeping.is_kept(parts.blobs, one)


@pytest.mark.parametrize(("orphaned", "is_aborted"), [(3, False), (4, True)])
async def test_sweep_that_would_take_too_many_takes_none(
    parts: Core, monkeypatch: pytest.MonkeyPatch, *, orphaned: int, is_aborted: bool
) -> None:
    """They are counted over the whole pass, in however many portions it is made."""
    monkeypatch.setattr(orphans, "_MAX_ORPHANS", 3)
    monkeypatch.setattr("recibo.store.blobs._PAGE_SIZE", 1)
    monkeypatch.setattr("recibo.store.s3._PAGE_SIZE", 1)
    monkeypatch.setattr(type(parts.blobs), "sweep_seconds", 0.01)
    for _ in range(orphaned):
        await sweeping.orphan(parts.blobs)
    with capture_logs() as logs:
        done = await sweeping.run_sweeps(
            parts.database, parts.blobs, portions=3 * orphaned + 3, rest=DAY
        )

    assert (0 if is_aborted else orphaned) == sum(one.trashed for one in done)
    assert is_aborted == any(one.is_aborted for one in done)
    assert is_aborted == any("too many files" in one["event"] for one in logs)


async def test_share_of_a_hundredth_is_not_too_many(
    parts: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphans, "_MAX_ORPHANS", 1)
    monkeypatch.setattr(orphans, "_MAX_SHARE", 0.5)
    actor = await make.actor(parts.database)
    for number in range(2):
        await parts.submit(actor, str(number))
        await sweeping.orphan(parts.blobs)
    done = await sweeping.run_sweeps(parts.database, parts.blobs)

    assert 2 == sum(one.trashed for one in done)


async def test_trash_is_purged_after_30_days(parts: Core) -> None:
    one = await sweeping.orphan(parts.blobs)
    await sweeping.run_sweeps(parts.database, parts.blobs)
    with clock.moved(29 * DAY):
        await sweeping.run_sweeps(parts.database, parts.blobs)
        kept = await sweeping.trash(parts.blobs)
    await sweeping.run_sweeps(parts.database, parts.blobs, later=32 * DAY)

    assert [one] == kept
    assert [] == await sweeping.trash(parts.blobs)


async def test_files_of_another_installation_are_not_swept(parts: Core) -> None:
    """The folder was mounted elsewhere while the service ran."""
    one = await sweeping.orphan(parts.blobs)
    await parts.blobs.write_marker(installation.Marker("ins_other").dumped())
    with capture_logs() as logs:
        done = await sweeping.run_sweeps(parts.database, parts.blobs)

    assert {Swept()} == set(done)
    assert await sweeping.is_kept(parts.blobs, one)
    assert logs


async def test_portions_end_in_time_and_rest_for_a_minute(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock of our own counts half a second a listing, so a portion is one listing."""
    blobs = storage.open_storage("", folder=tmp_path / "files", spool=tmp_path)
    await installation.agree(database, blobs)
    monkeypatch.setattr("recibo.store.blobs._PAGE_SIZE", 1)
    for number in range(3):
        await blobs.put(ReceiptId(f"rcp_{number:032x}"), io.BytesIO(b"bytes"))
    ticks = iter(range(10_000))
    monkeypatch.setattr("recibo.services.orphans.monotonic", lambda: next(ticks) / 2)
    seen = list[str]()
    listing = blobs.list_files

    async def noted(after: str) -> object:
        seen.append(after)
        return await listing(after)

    monkeypatch.setattr(type(blobs), "list_files", lambda _, after: noted(after))
    with clock.moved(sweeping.LATER):
        await orphans.sweep(database, blobs)
    for seconds in (0, 30, 59, 300):
        with clock.moved(2 * sweeping.LATER + dt.timedelta(seconds=seconds)):
            await orphans.sweep(database, blobs)

    assert 2 == len(seen)
    assert ids.is_well_formed(seen[1].rpartition("/")[2])
