"""`recibo backup` and `recibo restore`: a second installation answers as the first one did."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recibo.cli import backup_commands
from recibo.schemas.ids import ReceiptId
from recibo.settings import Settings
from recibo.startup import StartError
from recibo.store import tables
from tests import installation as installations
from tests import make, people, servers
from tests.installation import Installation
from tests.people import Session

OTHER_SECRET = "another secret that is long enough for all of it"  # noqa: S105
SECRET = "the secret of both installations, long enough for all"  # noqa: S105
PATHS = ("/auth/me", "/org", "/audit", "/analytics/usage", "/analytics/categories",
         "/analytics/top-vendors")  # fmt: skip
Kind = tuple[str, str]
KINDS = [(database, files) for database in ("sqlite", "postgres") for files in ("folder", "s3")]


@pytest.fixture
def second_postgres(postgres: servers.Postgres) -> str:
    """The address of a second, empty database of the server."""
    postgres.execute("DROP DATABASE IF EXISTS second WITH (FORCE)", "CREATE DATABASE second")
    return postgres.url("second")


@dataclass(frozen=True)
class Pair:
    """Two installations that are not running."""

    first: Settings
    second: Settings


def pair_of(request: pytest.FixtureRequest, tmp_path: Path, first: Kind, second: Kind) -> Pair:
    """Return installations of two kinds; the second one is empty."""
    urls = [
        request.getfixturevalue(f"{first[0]}_url"),
        "" if second[0] == "sqlite" else request.getfixturevalue("second_postgres"),
    ]
    made = []
    for name, url, (_, files) in zip(("first", "second"), urls, (first, second), strict=True):
        bucket = "" if files == "folder" else f"{request.getfixturevalue('bucket_url')}/{name}"
        settings = {"secret_key": SECRET, "database_url": url, "storage_url": bucket}
        made.append(installations.make_settings(tmp_path / name, **settings))
    return Pair(*made)


@pytest.fixture(params=KINDS, ids="-".join)
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    """From each kind of database and storage into the other kinds."""
    database, files = request.param
    other = (
        "sqlite" if database == "postgres" else "postgres",
        "s3" if files == "folder" else "folder",
    )
    return pair_of(request, tmp_path, request.param, other)


@pytest.fixture(params=["sqlite", "postgres"])
def folders(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    """From each kind of database into SQLite, with files in folders."""
    return pair_of(request, tmp_path, (request.param, "folder"), ("sqlite", "folder"))


def start(
    settings: Settings, *, with_worker: bool = True
) -> AbstractAsyncContextManager[Installation]:
    """Open an installation."""
    return installations.start(
        settings.database,
        settings.data_dir,
        with_worker=with_worker,
        secret_key=settings.secret_key,
        storage_url=settings.storage_url,
    )


async def answers(asked: Installation, secret: str, owner: Session, known: list[str]) -> Any:
    """Return what the interface says of all that is known, to a key and to a session."""
    found: dict[str, Any] = {}
    for path in ("/receipts", "/key", "/webhooks/events"):
        found[path] = (await asked.get(path, secret=secret)).json()
    for receipt_id in known:
        path = f"/receipts/{receipt_id}"
        found[path] = (await asked.get(path, secret=secret, include="evidence,text")).json()
        found[f"{path}/file"] = (await asked.get(f"{path}/file", secret=secret)).content
    for path in PATHS:
        answer = await asked.stranger.get(f"/v1{path}", headers=owner.headers)
        assert 200 == answer.status_code, (path, answer.text)
        found[path] = answer.json()
    # Each question is a use.
    del found["/key"]["last_used_at"]
    return found


def rows_in(backup: Path) -> dict[str, list[Any]]:
    """Return the rows of a backup's tables, in an order that databases have no say in."""
    return {
        path.stem: sorted(map(json.loads, path.read_text().splitlines()), key=str)
        for path in (backup / "tables").iterdir()
    }


async def uploaded(to: Installation, count: int, name: str) -> list[str]:
    return [(await to.extracted(make.jpeg(f"{name} {n}")))["id"] for n in range(count)]


async def test_restored_installation_answers_as_the_first_did(pair: Pair, tmp_path: Path) -> None:
    async with start(pair.first) as first:
        secret, owner = first.secret, await people.signed_up(first)
        known = await uploaded(first, 2, "kept")
        await uploaded(first, 1, "other")
        await backup_commands.back_up_to(pair.first, tmp_path / "backup")
        before = await answers(first, secret, owner, known)
    await backup_commands.restore_from(pair.second, tmp_path / "backup")
    await backup_commands.back_up_to(pair.second, tmp_path / "again")
    async with start(pair.second) as second:
        after = await answers(second, secret, owner, known)
        body = {"email": owner.email, "password": people.PASSWORD}
        signed_in = await second.stranger.post("/v1/auth/login", json=body)
        new = (await second.extracted(make.jpeg("new"), secret=secret))["id"]
        found = (await second.get("/receipts", secret=secret, q="new")).json()["data"]

    assert before == after
    assert 200 == signed_in.status_code
    assert [new] == [one["id"] for one in found]
    rows, again = rows_in(tmp_path / "backup"), rows_in(tmp_path / "again")
    (entry,) = [one for one in again["audit_events"] if one not in rows["audit_events"]]
    assert "installation.restored" in entry
    again["audit_events"].remove(entry)
    assert rows == again


async def test_backup_under_load_is_of_one_moment(folders: Pair, tmp_path: Path) -> None:
    """Each receipt in it has its audit entry, its file and its part of the quota."""
    async with start(folders.first) as first:
        await uploaded(first, 2, "before")
        load = asyncio.create_task(uploaded(first, 20, "during"))
        await backup_commands.back_up_to(folders.first, tmp_path / "backup")
        await load
    await backup_commands.restore_from(folders.second, tmp_path / "backup")
    async with start(folders.second, with_worker=False) as second:
        receipts = await second.rows(tables.Receipt)
        entries = await second.rows(tables.AuditEvent)
        (month,) = await second.rows(tables.UsageMonth)
        files = [await second.file(one.id) for one in receipts]

    assert len(receipts) >= 2
    created = [one.resource_id for one in entries if one.action == "receipt.created"]
    assert {one.id for one in receipts} == set(created)
    assert len(receipts) == month.held
    assert all(files)


@pytest.fixture
async def backup(sqlite_url: str, tmp_path: Path) -> tuple[Path, str]:
    """A small backup, and the id of a receipt in it."""
    settings = {"secret_key": SECRET, "database_url": sqlite_url}
    async with installations.start(sqlite_url, tmp_path / "first", secret_key=SECRET) as first:
        (receipt_id,) = await uploaded(first, 1, "one")
    folder = tmp_path / "backup"
    await backup_commands.back_up_to(
        installations.make_settings(tmp_path / "first", **settings), folder
    )
    return folder, receipt_id


def target_of(tmp_path: Path, **settings: str) -> Settings:
    return installations.make_settings(tmp_path / "second", **({"secret_key": SECRET} | settings))


async def refusal(target: Settings, folder: Path) -> str:
    """Return why a restore is refused, which leaves nothing behind."""
    with pytest.raises((ValueError, StartError)) as raised:
        await backup_commands.restore_from(target, folder)
    assert not target.has_database
    assert not [one for one in target.files_dir.rglob("*") if one.is_file()]
    return str(raised.value)


async def test_backup_is_readable_by_its_maker_only(backup: tuple[Path, str]) -> None:
    folder, _ = backup

    assert 0o700 == folder.stat().st_mode & 0o777


async def test_backup_goes_into_no_folder_with_something_in_it(
    backup: tuple[Path, str], tmp_path: Path, sqlite_url: str
) -> None:
    settings = installations.make_settings(
        tmp_path / "first", secret_key=SECRET, database_url=sqlite_url
    )

    with pytest.raises(ValueError, match="is not empty"):
        await backup_commands.back_up_to(settings, backup[0])


def break_off(folder: Path, _: str) -> None:
    (folder / "manifest.json").unlink()


def lose_file(folder: Path, receipt_id: str) -> None:
    (folder / "files" / receipt_id[-2:] / receipt_id).unlink()


def change_file(folder: Path, receipt_id: str) -> None:
    (folder / "files" / receipt_id[-2:] / receipt_id).write_bytes(b"another")


def change_table(folder: Path, _: str) -> None:
    with (folder / "tables" / "orgs.jsonl").open("a") as file:
        file.write("[]\n")


def age(folder: Path, _: str) -> None:
    path = folder / "manifest.json"
    stored = json.loads(path.read_text())
    path.write_text(json.dumps(stored | {"revision": "9999"}))


def link_file(folder: Path, receipt_id: str) -> None:
    """Put a link to a file of the machine in place of one that is noted as damaged."""
    path = folder / "files" / receipt_id[-2:] / receipt_id
    path.unlink()
    path.symlink_to("/etc/hostname")
    change_manifest(folder, lambda stored: stored["files"]["damaged"].append(receipt_id))


def name_file_elsewhere(folder: Path, receipt_id: str) -> None:
    """Have a receipt name a file outside of all files, and the manifest vouch for it."""
    table = folder / "tables" / "receipts.jsonl"
    table.write_text(table.read_text().replace(receipt_id, "../../manifest.json"))
    digest = hashlib.sha256(table.read_bytes()).hexdigest()

    def vouch(stored: dict[str, Any]) -> None:
        next(one for one in stored["tables"] if one["name"] == "receipts")["sha256"] = digest
        stored["files"]["damaged"].append("../../manifest.json")

    change_manifest(folder, vouch)


def name_table_elsewhere(folder: Path, _: str) -> None:
    change_manifest(folder, lambda stored: stored["tables"][0].update(name="../../orgs"))


def change_manifest(folder: Path, change: Callable[[Any], object]) -> None:
    path = folder / "manifest.json"
    stored = json.loads(path.read_text())
    change(stored)
    path.write_text(json.dumps(stored))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (link_file, "is a link"),
        (name_file_elsewhere, "is no id of a receipt"),
        (name_table_elsewhere, "is no table's name"),
        (break_off, "broke off"),
        (lose_file, "missing or damaged"),
        (change_file, "missing or damaged"),
        (change_table, "orgs.jsonl is damaged"),
        (age, "newer version"),
    ],
)
async def test_spoilt_backup_is_refused_before_anything_is_written(
    backup: tuple[Path, str], tmp_path: Path, spoil: Callable[[Path, str], None], why: str
) -> None:
    spoil(*backup)

    assert why in await refusal(target_of(tmp_path), backup[0])


async def test_restore_with_another_key_is_refused(
    backup: tuple[Path, str], tmp_path: Path
) -> None:
    other = target_of(tmp_path, secret_key=OTHER_SECRET)

    assert "RECIBO_SECRET_KEY" in await refusal(other, backup[0])


async def test_restore_over_existing_data_is_refused(
    backup: tuple[Path, str], tmp_path: Path
) -> None:
    folder, _ = backup
    await backup_commands.restore_from(target_of(tmp_path), folder)

    with pytest.raises(ValueError, match="the database is not empty"):
        await backup_commands.restore_from(target_of(tmp_path), folder)


async def test_restore_that_broke_off_keeps_servers_out_and_is_begun_again(
    backup: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, receipt_id = backup
    target = target_of(tmp_path)

    async def fail(*_: object) -> None:
        raise OSError

    with monkeypatch.context() as broken:
        broken.setattr("recibo.store.table_files.read_all", fail)
        with pytest.raises(OSError):  # noqa: PT011 - our own
            await backup_commands.restore_from(target, folder)
    with pytest.raises(StartError, match="run `recibo restore` again"):
        async with installations.start(target.database, target.data_dir, secret_key=SECRET):
            pass
    await backup_commands.restore_from(target, folder)

    async with (
        backup_commands.open_installation(target) as own,
        own.blobs.local_file(ReceiptId(receipt_id)) as path,
    ):
        assert path is not None


async def test_generated_secret_is_in_the_backup_and_restored(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with installations.start(sqlite_url, tmp_path / "first"):
        pass
    first = installations.make_settings(tmp_path / "first", database_url=sqlite_url)
    await backup_commands.back_up_to(first, tmp_path / "backup")
    second = installations.make_settings(tmp_path / "second")
    await backup_commands.restore_from(second, tmp_path / "backup")

    secrets = [(one.data_dir / "secret_key").read_text() for one in (first, second)]
    assert secrets[0] == secrets[1]
    assert 0o600 == (second.data_dir / "secret_key").stat().st_mode & 0o777
