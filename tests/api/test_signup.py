"""POST /v1/auth/signup."""

import asyncio
import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from recibo.lib import clock
from recibo.store import tables
from tests import inbox, installation
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import PASSWORD, bearer, signed_up
from tests.sign_ins import ask, audit_entries, client_at, outcome

pytestmark = ON_SQLITE

ANA = {"email": "ana@people.test", "password": PASSWORD, "org_name": "Padaria Aurora"}
HOUR = dt.timedelta(hours=1)
PRODUCTION: dict[str, Any] = {
    "environment": "production",
    "secret_key": "s" * 32,
    "base_url": "https://recibo.test",
    "email_url": "smtp://127.0.0.1:9",
}
EMOJI = "\N{GRINNING FACE}"


async def me(i: Installation, access_token: str) -> dict[str, Any]:
    """Return the user's own account."""
    answer = await ask(i, "/me", method="GET", **bearer(access_token))
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


async def test_signup_makes_the_owner_of_a_new_org_and_a_session(
    idle_service: Installation,
) -> None:
    body = ANA | {"email": "Ana@People.TEST", "full_name": "Ana"}
    answer = await ask(idle_service, "/signup", body)
    tokens = answer.json()
    told_ = await me(idle_service, tokens["access_token"])

    assert 201 == answer.status_code
    assert {
        "access_token", "refresh_token", "token_type", "expires_in", "user_id", "org_id"
    } == tokens.keys()  # fmt: skip
    assert ("Bearer", 900) == (tokens["token_type"], tokens["expires_in"])
    assert tokens["user_id"].startswith("usr_")
    assert tokens["org_id"].startswith("org_")
    created_at = told_["user"].pop("created_at")
    assert dt.datetime.fromisoformat(created_at).utcoffset() == dt.timedelta(0)
    assert {
        "user": {
            "id": tokens["user_id"],
            "email": "ana@people.test",
            "name": "Ana",
            "email_verified": False,
            "two_factor_enabled": False,
        },
        "org": {
            "id": tokens["org_id"],
            "name": "Padaria Aurora",
            "slug": "padaria-aurora",
            "plan": "free",
            "billing_email": "ana@people.test",
        },
        "role": "owner",
    } == told_


async def test_signup_mails_a_verify_email_link_to_the_address_alone(
    idle_service: Installation,
) -> None:
    await signed_up(idle_service, email="Ana@People.test")

    (mail,) = await inbox.new_mails(idle_service)

    assert ("ana@people.test", "Confirm your email address") == (mail["To"], mail["Subject"])


@pytest.mark.parametrize(
    "fields",
    [
        {"password": "12345678"},
        {"password": EMOJI * 8},
        {"password": "a" * 128},
        {"password": EMOJI * 128},
        {"password": " " * 8},
        {"full_name": "a" * 255},
        {"full_name": ""},
        {"full_name": None},
        {"org_name": "a"},
        {"org_name": "a" * 255},
        {"org_name": EMOJI * 255},
        {"email": "a" * 64 + "@people.test"},
        {"slug": "mine", "plan": "scale", "role": "owner", "nonsense": [{}]},
    ],
    ids=ascii,
)
async def test_fields_within_their_bounds_pass(door: Installation, fields: dict[str, Any]) -> None:
    answer = await ask(door, "/signup", ANA | fields)

    assert (201, "") == outcome(answer)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"password": "1234567"}, "password"),
        ({"password": EMOJI * 7}, "password"),
        ({"password": "a" * 129}, "password"),
        ({"password": None}, "password"),
        ({"password": 12345678}, "password"),
        ({"full_name": "a" * 256}, "full_name"),
        ({"full_name": 1}, "full_name"),
        ({"org_name": ""}, "org_name"),
        ({"org_name": "a" * 256}, "org_name"),
        ({"org_name": None}, "org_name"),
        ({"org_name": ["Padaria"]}, "org_name"),
        ({"email": ""}, "email"),
        ({"email": "ana"}, "email"),
        ({"email": None}, "email"),
        ({"email": ["ana@people.test"]}, "email"),
        ({"email": "ana@people.test\r\nBcc: bea@people.test"}, "email"),
        ({"email": "ana@tempmail.com"}, "email"),
        ({"email": "ana@mx.throwaway.email"}, "email"),
        ({"email": "ana@MAILINATOR.com"}, "email"),
    ],
    ids=ascii,
)
async def test_fields_beyond_them_are_400_and_named(
    door: Installation, fields: dict[str, Any], named: str
) -> None:
    answer = await ask(door, "/signup", ANA | fields)

    assert (400, "validation_error") == outcome(answer)
    assert [named] == [one["field"] for one in answer.json()["error"]["details"]]
    assert ["demo@recibo.localhost"] == [row.email for row in await door.rows(tables.User)]


@pytest.mark.parametrize("missing", ["email", "password", "org_name"])
async def test_fields_that_are_missing_are_400_and_named(door: Installation, missing: str) -> None:
    body = {name: value for name, value in ANA.items() if name != missing}

    answer = await ask(door, "/signup", body)

    assert (400, "validation_error") == outcome(answer)
    assert [missing] == [one["field"] for one in answer.json()["error"]["details"]]


@ON_BOTH
async def test_address_that_is_registered_is_409_in_any_case(idle_service: Installation) -> None:
    await signed_up(idle_service)

    answer = await ask(idle_service, "/signup", ANA | {"email": "ANA@people.TEST"})

    assert (409, "conflict") == outcome(answer)
    assert 2 == len(await idle_service.rows(tables.Org))


@ON_BOTH
async def test_of_two_at_once_with_one_address_one_gets_it(idle_service: Installation) -> None:
    clients = [client_at(idle_service) for _ in range(2)]
    answers = await asyncio.gather(*(ask(client, "/signup", ANA) for client in clients))

    assert [(201, ""), (409, "conflict")] == sorted(map(outcome, answers))
    assert 2 == len(await idle_service.rows(tables.Org))
    assert 2 == len(await idle_service.rows(tables.Membership))


@ON_BOTH
async def test_orgs_of_one_name_get_slugs_of_their_own(idle_service: Installation) -> None:
    bodies = [ANA | {"email": f"ana{number}@people.test"} for number in range(10)]
    answers = await asyncio.gather(
        *(ask(client_at(idle_service), "/signup", body) for body in bodies)
    )

    assert [201] * 10 == [answer.status_code for answer in answers]
    slugs = {row.slug for row in await idle_service.rows(tables.Org)} - {"demo"}
    assert {"padaria-aurora", *(f"padaria-aurora-{n}" for n in range(2, 11))} == slugs


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Café São João & Cia.", "cafe-sao-joao-cia"),
        ("  ACME -- Ltda  ", "acme-ltda"),
        ("東京", "org"),
        ("---", "org"),
        ("a" * 70, "a" * 60),
        ("a" * 59 + " b", "a" * 59),
    ],
)
async def test_slug_is_derived_from_the_name(door: Installation, name: str, slug: str) -> None:
    tokens = (await ask(door, "/signup", ANA | {"org_name": name})).json()

    assert slug == (await me(door, tokens["access_token"]))["org"]["slug"]


async def test_long_slugs_make_room_for_their_numbers(door: Installation) -> None:
    for number in range(3):
        await signed_up(door, email=f"ana{number}@people.test", org="a" * 70)

    slugs = {row.slug for row in await door.rows(tables.Org)} - {"demo"}
    assert {"a" * 60, "a" * 58 + "-2", "a" * 58 + "-3"} == slugs


@ON_BOTH
async def test_names_cannot_add_headers_to_mails(idle_service: Installation) -> None:
    evil = "Evil\r\nBcc: bea@people.test\r\n\r\nhttp://evil.example/"
    answer = await ask(idle_service, "/signup", ANA | {"org_name": evil, "full_name": evil})
    (mail,) = await inbox.new_mails(idle_service)

    assert 201 == answer.status_code
    assert mail["Bcc"] is None
    assert "evil.example" not in mail.as_string()


async def test_signup_is_audited_without_the_password(
    idle_service: Installation,
) -> None:
    ana = await signed_up(idle_service)

    made, signed = await audit_entries(idle_service, "org.created", "user.signed_up")

    assert (ana.org_id, ana.user_id, "127.0.0.1") == (
        made.org_id, made.actor_user_id, made.ip_address
    )  # fmt: skip
    assert ("org", ana.org_id) == (made.resource_type, made.resource_id)
    assert {"email": "ana@people.test", "full_name": None} == signed.after
    assert PASSWORD not in str([(row.before, row.after) for row in (made, signed)])


async def test_valid_signups_are_limited_by_ip_and_hour(database_url: str, tmp_path: Path) -> None:
    async with installation.start(
        database_url, tmp_path, with_worker=False, signups_per_ip_per_hour=3
    ) as i:
        here, elsewhere = client_at(i), client_at(i, "203.0.113.8", X_Forwarded_For="203.0.113.7")
        assert 201 == (await ask(here, "/signup", ANA)).status_code
        # Failed signups count, too; invalid requests do not.
        assert 409 == (await ask(here, "/signup", ANA)).status_code
        assert 400 == (await ask(here, "/signup", ANA | {"password": "short"})).status_code
        assert 400 == (await ask(here, "/signup", ANA | {"email": "a@tempmail.com"})).status_code
        assert 409 == (await ask(here, "/signup", ANA)).status_code

        refused = await ask(here, "/signup", ANA | {"email": "bea@people.test"})
        forged = await ask(
            here, "/signup", ANA | {"email": "bea@people.test"}, X_Forwarded_For="203.0.113.9"
        )
        from_elsewhere = await ask(elsewhere, "/signup", ANA | {"email": "cid@people.test"})
        with clock.moved(HOUR):
            later = await ask(here, "/signup", ANA | {"email": "bea@people.test"})

    assert (429, "rate_limit_exceeded") == outcome(refused) == outcome(forged)
    assert 3590 <= int(refused.headers["Retry-After"]) <= 3600
    assert int(refused.headers["Retry-After"]) == refused.json()["error"]["retry_after"]
    assert [201, 201] == [from_elsewhere.status_code, later.status_code]


async def test_addresses_of_one_network_share_the_limit(sqlite_url: str, tmp_path: Path) -> None:
    """One customer of a provider has 2^64 addresses; the audit log keeps the one that was used."""
    async with installation.start(
        sqlite_url, tmp_path, with_worker=False, signups_per_ip_per_hour=3
    ) as i:
        answers = []
        for number in range(5):
            body = ANA | {"email": f"ana{number}@people.test"}
            answers.append(await ask(client_at(i, f"2001:db8:1:2::{number}"), "/signup", body))
        neighbor = await ask(
            client_at(i, "2001:db8:1:3::1"), "/signup", ANA | {"email": "bea@people.test"}
        )
        entries = await i.rows(tables.AuditEvent)

    assert [201] * 3 + [429] * 2 == [answer.status_code for answer in answers]
    assert 201 == neighbor.status_code
    assert "2001:db8:1:2::2" in {entry.ip_address for entry in entries}


@ON_BOTH
async def test_many_signups_at_once_are_no_way_round_the_limit(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(
        database_url, tmp_path, with_worker=False, signups_per_ip_per_hour=3
    ) as i:
        bodies = [ANA | {"email": f"ana{number}@people.test"} for number in range(10)]
        answers = await asyncio.gather(*(ask(client_at(i), "/signup", body) for body in bodies))

    assert [201] * 3 + [429] * 7 == sorted(answer.status_code for answer in answers)


@pytest.mark.parametrize(
    ("settings", "tries", "status"),
    [
        (PRODUCTION, 20, 429),
        (PRODUCTION | {"limit_loopback": False}, 20, 409),
        ({"signups_per_ip_per_hour": 3}, 3, 429),
        ({"signups_per_ip_per_hour": 3, "limit_loopback": False}, 3, 429),
    ],
    ids=["production", "loopback spared", "chosen", "chosen, loopback spared"],
)
async def test_signups_from_loopback_are_spared_unless_their_number_was_chosen(
    sqlite_url: str, tmp_path: Path, settings: dict[str, Any], tries: int, status: int
) -> None:
    async with installation.start(sqlite_url, tmp_path, with_worker=False, **settings) as i:
        body = ANA | {"email": "ana@example.com"}
        statuses = [(await ask(i, "/signup", body)).status_code for _ in range(tries + 1)]

    assert [201, *[409] * (tries - 1), status] == statuses
