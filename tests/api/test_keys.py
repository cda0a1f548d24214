"""API keys at the door, and GET /v1/key."""

import datetime as dt

import pytest
from sqlalchemy import update

from recibo.lib import clock, tokens
from recibo.schemas.states import Scope
from recibo.store.tables import ApiKey
from tests import make
from tests.installation import Installation

DAY = dt.timedelta(days=1)


@pytest.fixture
def service(idle_service: Installation) -> Installation:
    """A service without a worker: only two tests here read a document."""
    return idle_service


@pytest.mark.parametrize(
    "secret",
    [
        *("", "sk_live_", "secret", "é" * 46, "a" * 10_000, "' OR 1=1 --"),
        # Test processes must agree on the names of tests.
        pytest.param(tokens.new_secret("sk_live_"), id="well-formed"),
    ],
)
async def test_missing_and_unknown_keys_are_401_unauthorized(
    service: Installation, secret: str
) -> None:
    headers = [(b"x-api-key", secret.encode("latin-1"))]

    answer = await service.stranger.get("/v1/key", headers=headers)

    assert (401, "unauthorized") == (answer.status_code, answer.json()["error"]["code"])
    assert "WWW-Authenticate" in answer.headers


async def test_key_in_another_place_does_not_count(service: Installation) -> None:
    answers = [
        await service.stranger.get(
            "/v1/key", headers={"Authorization": f"Bearer {service.secret}"}
        ),
        await service.stranger.get(f"/v1/key?X-API-Key={service.secret}"),
        await service.stranger.get("/v1/key", headers={"Cookie": f"X-API-Key={service.secret}"}),
    ]

    assert [401] * 3 == [answer.status_code for answer in answers]


async def test_revoked_key_is_401_unauthorized_at_once(service: Installation) -> None:
    async with service.database.write() as session:
        await session.execute(update(ApiKey).values(revoked_at=clock.now()))

    answer = await service.get("/key")

    assert (401, "unauthorized") == (answer.status_code, answer.json()["error"]["code"])


async def test_key_past_its_end_is_401_expired_api_key(service: Installation) -> None:
    org_id = await make.org(service.database)
    secret = await make.key(service.database, org_id, expires_at=clock.now() + DAY)

    assert 200 == (await service.get("/key", secret=secret)).status_code
    with clock.moved(DAY):
        answer = await service.get("/key", secret=secret)
    assert (401, "expired_api_key") == (answer.status_code, answer.json()["error"]["code"])
    assert "WWW-Authenticate" in answer.headers


async def test_revoked_and_expired_key_is_revoked(service: Installation) -> None:
    async with service.database.write() as session:
        now = clock.now()
        await session.execute(update(ApiKey).values(revoked_at=now, expires_at=now))

    assert "unauthorized" == (await service.get("/key")).json()["error"]["code"]


async def test_key_returns_its_record(hasty_service: Installation) -> None:
    service = hasty_service
    receipt = (await service.extract(make.jpeg("document"), accuracy="high")).json()
    await service.waited(receipt["id"])

    body = (await service.get("/key")).json()

    assert {
        "kind": "secret",
        "prefix": service.secret[:8],
        "last4": service.secret[-4:],
        "scopes": ["read", "write"],
        "is_live": True,
        "expires_at": None,
        "revoked_at": None,
        "plan": "scale",
        "quota_receipts_month": 250_000,
        "usage_this_month": 1,
        "credits_used_this_month": 5,
    }.items() <= body.items()
    assert {"id", "org_id", "name", "created_at", "created_by", "last_used_at"} <= set(body)
    assert service.secret not in str(body)


@pytest.mark.parametrize("scope", list(Scope))
async def test_any_scope_will_do_to_ask_for_oneself(service: Installation, scope: Scope) -> None:
    secret = await make.key(service.database, await make.org(service.database), scopes=[scope])

    assert [scope] == (await service.get("/key", secret=secret)).json()["scopes"]


async def test_use_of_another_month_does_not_count(hasty_service: Installation) -> None:
    service = hasty_service
    receipt = (await service.extract(make.jpeg("document"))).json()
    await service.waited(receipt["id"])
    used = await service.used()
    with clock.moved(dt.timedelta(days=40)):
        later = await service.used()

    assert ((1, 1), (0, 0)) == (used, later)


async def test_of_a_secret_only_its_hash_is_stored(service: Installation) -> None:
    stored = [vars(row) for row in await service.rows(ApiKey)]

    assert service.secret not in str(stored)
    assert tokens.fingerprint(service.secret) in str(stored)
