"""`recibo admin`, with and without a running server."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from recibo.services.identity import demo_org
from recibo.services.identity.passwords import Passwords
from recibo.store import tables
from recibo.store.db import Database
from recibo.store.tables import Table
from tests.cli import commands
from tests.cli.commands import Done
from tests.serving.running import Server, serving

PASSWORD = "correct horse battery"  # noqa: S105 - made up


def admin(folder: Path, *arguments: str) -> Done:
    """Run a command of operators over the data in a folder."""
    return commands.run(folder, "admin", *arguments)


@pytest.fixture
def folder(sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with the demo org and its owner."""
    # A weak hash is enough for tests.
    monkeypatch.setattr("recibo.services.identity.passwords._MEMORY_KIB", 8)
    monkeypatch.setattr("recibo.services.identity.passwords._PASSES", 1)
    assert url(tmp_path) == sqlite_url
    asyncio.run(seed(sqlite_url))
    return tmp_path


def url(folder: Path) -> str:
    """Return the address of the embedded database."""
    return f"sqlite:///{folder / 'recibo.db'}"


async def seed(database_url: str) -> None:
    """Add the demo org."""
    database = Database(database_url)
    await demo_org.seed(database, Passwords())
    await database.close()


def rows(folder: Path, table: type[Table]) -> list[Any]:
    """Return all rows of a table."""

    async def read() -> list[Any]:
        database = Database(url(folder))
        async with database.read() as session:
            found = list((await session.execute(select(table))).scalars())
        await database.close()
        return found

    return asyncio.run(read())


def audit_actions(folder: Path) -> list[str]:
    """Return the actions in the audit log, in their order."""
    return [row.action for row in sorted(rows(folder, tables.AuditEvent), key=lambda row: row.id)]


def test_commands_say_in_a_line_what_they_did(folder: Path) -> None:
    done = [
        admin(folder, "disable-user", demo_org.OWNER_EMAIL),
        admin(folder, "disable-user", demo_org.OWNER_EMAIL),
        admin(folder, "enable-user", demo_org.OWNER_EMAIL),
        admin(folder, "reset-2fa", demo_org.OWNER_EMAIL),
        admin(folder, "set-plan", "demo", "indie"),
    ]

    assert [(0, "")] * 5 == [(one.status, one.stderr) for one in done]
    assert [
        f"{demo_org.OWNER_EMAIL} is disabled; all sessions ended.\n",
        "No change.\n",
        f"{demo_org.OWNER_EMAIL} is enabled.\n",
        "No change.\n",
        "demo is on the plan indie.\n",
    ] == [one.stdout for one in done]
    assert ["user.disabled", "user.enabled", "subscription.updated"] == audit_actions(folder)[-3:]


def test_command_is_its_own_process(folder: Path) -> None:
    """The other tests run commands in this process."""
    environment = {"RECIBO_DATA_DIR": str(folder)}
    command = [sys.executable, "-m", "recibo", "admin", "set-plan", "demo", "gold"]
    refused = subprocess.run(command, env=environment, capture_output=True, check=False)
    command = [sys.executable, "-m", "recibo", "admin", "set-plan", "nowhere", "indie"]
    failed = subprocess.run(command, env=environment, capture_output=True, check=False)
    done = subprocess.run(
        [*command[:-2], "demo", "indie"], env=environment, capture_output=True, check=False
    )

    assert [2, 1, 0] == [one.returncode for one in (refused, failed, done)]
    assert [b"", b"", b"demo is on the plan indie.\n"] == [
        one.stdout for one in (refused, failed, done)
    ]
    assert b"recibo: There is no org 'nowhere'.\n" == failed.stderr


def test_second_factor_is_reset_by_id(folder: Path) -> None:
    (owner,) = rows(folder, tables.User)
    asyncio.run(enrol(url(folder), owner.id))

    done = admin(folder, "reset-2fa", owner.id)

    assert (0, f"{owner.id} has no second factor any more; all sessions ended.\n") == (
        done.status,
        done.stdout,
    )
    assert rows(folder, tables.User)[0].totp_secret is None
    assert "user.2fa_disabled" == audit_actions(folder)[-1]


async def enrol(database_url: str, user_id: str) -> None:
    """Give a user a second factor."""
    database = Database(database_url)
    async with database.write() as session:
        user = await session.get_one(tables.User, user_id)
        user.totp_secret, user.totp_enabled_at = "sealed", user.created_at
    await database.close()


def test_only_the_key_is_printed_and_audited(folder: Path) -> None:
    done = admin(folder, "create-key", "demo", "--name", "Till", "--scope", "read")

    assert (0, "") == (done.status, done.stderr)
    assert done.stdout.startswith("sk_live_")
    assert 1 == len(done.stdout.splitlines())
    assert "apikey.created" == audit_actions(folder)[-1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("disable-user", "nobody@recibo.test"), "There is no user 'nobody@recibo.test'."),
        (("enable-user", "usr_1"), "There is no user 'usr_1'."),
        (("reset-2fa", ""), "There is no user ''."),
        (("set-plan", "nowhere", "indie"), "There is no org 'nowhere'."),
        (("create-key", "nowhere"), "There is no org 'nowhere'."),
    ],
)
def test_unknown_name_is_reported_in_one_line_with_status_1(
    folder: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    before = audit_actions(folder)

    done = admin(folder, *arguments)

    assert (1, "", f"recibo: {complaint}\n") == (done.status, done.stdout, done.stderr)
    assert before == audit_actions(folder)


@pytest.mark.parametrize(
    "arguments",
    [(), ("disable-user",), ("disable-user", "a", "b"), ("set-plan", "demo"),
     ("set-plan", "demo", "gold"), ("set-plan", "demo", "INDIE"), ("explode", "demo")],
)  # fmt: skip
def test_wrong_usage_is_status_2(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = admin(tmp_path, *arguments)

    assert (2, "") == (done.status, done.stdout)
    assert "usage:" in done.stderr


def test_unusable_database_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "recibo.db").write_text("no database")

    done = admin(tmp_path, "disable-user", "usr_1")

    assert (1, "") == (done.status, done.stdout)
    assert done.stderr.startswith("recibo: ")
    assert 1 == len(done.stderr.splitlines())


def test_commands_take_effect_on_a_running_server_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, "--no-worker") as server:
        token = sign(server, "signup", org_name="Aurora").json()["access_token"]
        statuses = [me(server, token)]
        for command in ("disable-user", "enable-user"):
            done = admin(tmp_path, command, "ana@recibo.test")
            assert 0 == done.status, done.stderr
            statuses += [me(server, token), sign(server, "login").status_code]
        admin(tmp_path, "set-plan", "aurora", "startup")
        token = sign(server, "login").json()["access_token"]
        answer = get(server, "/v1/audit?limit=2&resource_type=subscription", token)
        plan = get(server, "/v1/auth/me", token).json()["org"]["plan"]

    # The old session stays ended; a new sign-in works.
    assert [200, 401, 401, 401, 200] == statuses
    assert "startup" == plan
    (item,) = answer.json()["items"]
    assert ({"plan": "free"}, {"plan": "startup"}) == (item["before"], item["after"])


def sign(server: Server, how: str, **fields: str) -> httpx.Response:
    """Sign up or in."""
    body = {"email": "ana@recibo.test", "password": PASSWORD, **fields}
    return httpx.post(f"{server.url}/v1/auth/{how}", json=body)


def get(server: Server, path: str, token: str) -> httpx.Response:
    """Ask for something with a session."""
    return httpx.get(f"{server.url}{path}", headers={"Authorization": f"Bearer {token}"})


def me(server: Server, token: str) -> int:
    """Return the status of `/me` for a session."""
    return get(server, "/v1/auth/me", token).status_code


def test_folder_without_a_database_is_reported_and_stays_empty(tmp_path: Path) -> None:
    ran = admin(tmp_path, "disable-user", "ana@recibo.test")

    assert 1 == ran.status
    assert "there is no database in" in ran.stderr
    assert "RECIBO_DATA_DIR" in ran.stderr
    assert [] == list(tmp_path.iterdir())
