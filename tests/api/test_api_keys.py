"""POST, GET and DELETE under /v1/api-keys."""

import asyncio
import datetime as dt
from typing import Any, cast

import httpx
import pytest
from sqlalchemy import delete, update

from recibo.errors import InsufficientScope, NoSession
from recibo.lib import clock, tokens
from recibo.schemas.actor import Member
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.plans import PLANS, PlanName
from recibo.schemas.states import AuditAction, Role
from recibo.services.identity import keys
from recibo.services.identity.keys import NewKey
from recibo.store.tables import ApiKey, Membership
from tests import installation, make, people
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation
from tests.people import Session

pytestmark = ON_SQLITE

DAY = dt.timedelta(days=1)
FIELDS = ["id", "org_id", "name", "kind", "prefix", "last4", "scopes", "is_live", "expires_at",
          "revoked_at", "created_at", "created_by", "last_used_at"]  # fmt: skip
UNKNOWN = "key_" + "0" * 32


async def post(i: Installation, who: Session, **body: Any) -> httpx.Response:
    """Ask for a key."""
    body = {"name": "CI", **body}
    return await i.stranger.post("/v1/api-keys", json=body, headers=who.headers)


async def created(i: Installation, who: Session, **body: Any) -> dict[str, Any]:
    """Return a new key's record, with its secret."""
    answer = await post(i, who, **body)
    assert answer.status_code == 201, answer.text
    return cast("dict[str, Any]", answer.json())


async def listed(i: Installation, who: Session) -> list[dict[str, Any]]:
    """Return the records of the keys of a user's org."""
    answer = await i.stranger.get("/v1/api-keys", headers=who.headers)
    assert answer.status_code == 200, answer.text
    assert ["data"] == list(answer.json())
    return cast("list[dict[str, Any]]", answer.json()["data"])


async def revoked(i: Installation, who: Session, key_id: str) -> tuple[int, str]:
    """Revoke a key; return status and code."""
    answer = await i.stranger.delete(f"/v1/api-keys/{key_id}", headers=who.headers)
    return refusal(answer) if answer.content else (answer.status_code, "")


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return status and code of an error."""
    return answer.status_code, answer.json()["error"]["code"]


async def test_body_of_the_documentation_creates_a_key(service: Installation) -> None:
    ana = await people.signed_up(service)
    asked = installation.document()["paths"]["/v1/api-keys"]["post"]["requestBody"]
    (example,) = asked["content"]["application/json"]["schema"]["examples"]

    key = await created(service, ana, **example)

    assert (example["name"], None) == (key["name"], key["expires_at"])


async def add(i: Installation, org_id: str, count: int, **columns: Any) -> None:
    """Add many keys at once."""
    async with i.database.write() as session:
        for number in range(count):
            secret = tokens.new_secret("sk_live_")
            row = ApiKey(
                id=f"key_{number:032x}{len(columns)}",
                org_id=org_id,
                name=str(number),
                kind="secret",
                secret_hash=tokens.fingerprint(secret),
                prefix=secret[:8],
                last4=secret[-4:],
                scopes=["read"],
                created_at=clock.now(),
            )
            for name, value in columns.items():
                setattr(row, name, value)
            session.add(row)


def member(who: Session, role: Role) -> Member:
    """Return an actor with the role that the route's guard loaded."""
    return Member(OrgId(who.org_id), PLANS[PlanName.FREE], make.VISIT, UserId(who.user_id), role)


async def test_secret_of_a_new_key_is_returned_once(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)

    body = await created(i, ana, name="Expenses")
    secret = body.pop("secret")

    assert FIELDS == list(body)
    assert {
        "org_id": ana.org_id,
        "name": "Expenses",
        "kind": "secret",
        "prefix": secret[:8],
        "last4": secret[-4:],
        "scopes": ["read", "write"],
        "is_live": True,
        "expires_at": None,
        "revoked_at": None,
        "created_by": ana.user_id,
        "last_used_at": None,
    }.items() <= body.items()
    assert "sk_live_" == body["prefix"]
    assert body["id"].startswith("key_")
    assert [body] == await listed(i, ana)
    answer = await i.get("/key", secret=secret)
    assert (200, body["id"]) == (answer.status_code, answer.json()["id"])


@ON_BOTH
async def test_keys_are_listed_newest_first_and_for_their_org_only(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test")

    made = [(await created(i, ana, name=name))["id"] for name in ("a", "b", "c")]
    await revoked(i, ana, made[1])

    assert made[::-1] == [one["id"] for one in await listed(i, ana)]
    assert [] == await listed(i, bea)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["write"], ["write"]),
        (["write", "read", "write", "read"], ["write", "read"]),
        (["extract:write"], ["extract:write"]),
    ],
)
async def test_scopes_are_kept_in_their_order_each_once(
    door: Installation, given: list[str], kept: list[str]
) -> None:
    ana = await people.signed_up(door)

    assert kept == (await created(door, ana, scopes=given))["scopes"]


@ON_BOTH
async def test_key_expires_at_the_given_time(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    end = (clock.now() + DAY).astimezone(dt.timezone(dt.timedelta(hours=-3)))

    body = await created(i, ana, expires_at=end.isoformat())

    assert end == dt.datetime.fromisoformat(body["expires_at"])
    assert 200 == (await i.get("/key", secret=body["secret"])).status_code
    with clock.moved(DAY):
        answer = await i.get("/key", secret=body["secret"])
    assert (401, "expired_api_key") == refusal(answer)


REFUSED: list[dict[str, Any]] = [
    {"name": ""}, {"name": None}, {"name": 5}, {"name": "x" * 256},
    {"scopes": []}, {"scopes": None}, {"scopes": "read"}, {"scopes": ["read", "admin"]},
    {"scopes": ["READ"]}, {"scopes": [1]},
    {"kind": "public"}, {"kind": None},
    {"kind": "publishable", "scopes": []}, {"kind": "publishable", "scopes": ["admin"]},
    {"expires_at": "2020-01-01T00:00:00Z"}, {"expires_at": "2020-01-01T00:00:00"},
    {"expires_at": "2020-01-01"}, {"expires_at": "tomorrow"}, {"expires_at": ""},
    {"expires_at": 32503680000}, {"expires_at": "32503680000"}, {"expires_at": True},
    {"expires_at": "0001-01-01T00:00:00+14:00"}, {"expires_at": "9999-12-31T23:59:59-14:00"},
]  # fmt: skip


async def test_invalid_body_is_400_and_names_the_field(door: Installation) -> None:
    ana = await people.signed_up(door)

    answers = [await post(door, ana, **body) for body in REFUSED]

    assert [(400, "validation_error")] * len(REFUSED) == [refusal(one) for one in answers]
    for body, answer in zip(REFUSED, answers, strict=True):
        # Of several the last one is wrong.
        assert answer.json()["error"]["details"][0]["field"].startswith(list(body)[-1])
    assert [] == await listed(door, ana)
    assert 400 == (await door.stranger.post("/v1/api-keys", headers=ana.headers)).status_code


async def test_longest_name_and_unknown_fields_pass(door: Installation) -> None:
    ana = await people.signed_up(door)

    assert "é" * 255 == (await created(door, ana, name="é" * 255, colour="red"))["name"]
    assert (await created(door, ana, expires_at=None))["expires_at"] is None


@pytest.mark.parametrize(
    "given", ["2999-01-01", "2999-01-01T00:00:00", "2998-12-31T21:00:00-03:00"]
)
async def test_expiry_without_an_offset_is_in_utc(door: Installation, given: str) -> None:
    ana = await people.signed_up(door)

    assert "2999-01-01T00:00:00Z" == (await created(door, ana, expires_at=given))["expires_at"]


@pytest.mark.parametrize("body", [{}, {"scopes": ["extract:write"]}, {"scopes": ["read", "write"]}])
async def test_publishable_key_has_one_scope(door: Installation, body: dict[str, Any]) -> None:
    ana = await people.signed_up(door)

    result = await created(door, ana, kind="publishable", **body)

    assert ("publishable", ["extract:write"]) == (result["kind"], result["scopes"])
    assert result["secret"].startswith("pk_publishable_")
    assert "pk_publi" == result["prefix"]
    assert tokens.is_well_formed(result["secret"])


@ON_BOTH
async def test_revoked_key_is_refused_at_once_and_stays_revoked(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    key = await created(i, ana)

    assert 200 == (await i.get("/key", secret=key["secret"])).status_code
    assert (204, "") == await revoked(i, ana, key["id"])
    assert (401, "unauthorized") == refusal(await i.get("/key", secret=key["secret"]))
    [once] = await listed(i, ana)
    assert once["revoked_at"] is not None
    assert (204, "") == await revoked(i, ana, key["id"])
    assert [once] == await listed(i, ana)


async def test_key_of_another_org_is_404_and_stays(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.signed_up(i, email="bea@people.test")
    key = await created(i, ana)
    unknown = [key["id"], UNKNOWN, "key_", key["id"].upper(), "%00", "' OR 1=1 --", "a" * 4000]

    assert [(404, "not_found")] * 7 == [await revoked(i, bea, one) for one in unknown]
    assert 200 == (await i.get("/key", secret=key["secret"])).status_code


async def test_developers_revoke_their_own_keys_only(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    dev, other = await people.joined(i, ana), await people.joined(i, ana)
    admin = await people.joined(i, ana, Role.ADMIN)
    owners, own, others = [(await created(i, who))["id"] for who in (ana, dev, other)]
    async with i.database.write() as session:
        secret = keys.create(session, OrgId(ana.org_id), NewKey("without a creator"))
    unowned = (await i.get("/key", secret=secret)).json()["id"]

    assert (204, "") == await revoked(i, dev, own)
    for foreign in (owners, others, unowned):
        assert (403, "insufficient_scope") == await revoked(i, dev, foreign)
    for foreign in (owners, others, unowned):
        assert (204, "") == await revoked(i, admin, foreign)
    # The response is the same whether or not the key is revoked already.
    assert (403, "insufficient_scope") == await revoked(i, dev, owners)
    assert (404, "not_found") == await revoked(i, dev, UNKNOWN)


async def test_refusal_names_the_permission(door: Installation) -> None:
    ana = await people.signed_up(door)
    dev = await people.joined(door, ana)
    viewer = await people.joined(door, ana, Role.VIEWER)
    path = f"/v1/api-keys/{(await created(door, ana))['id']}"

    answers = [
        await door.stranger.delete(path, headers=dev.headers),
        await door.stranger.delete(path, headers=viewer.headers),
        await post(door, viewer, name=""),
    ]

    for answer in answers:
        assert 403 == answer.status_code
        assert "keys:write" in answer.json()["error"]["details"][0]["message"]


async def test_api_key_is_refused_by_all_key_routes(door: Installation) -> None:
    answers = [
        await door.client.post("/v1/api-keys", content=b"{"),
        await door.client.get("/v1/api-keys"),
        await door.client.delete(f"/v1/api-keys/{UNKNOWN}"),
    ]

    assert [(401, "unauthorized")] * 3 == [refusal(answer) for answer in answers]


async def test_org_has_a_hundred_active_keys_at_most(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    past = clock.now() - DAY
    await add(i, ana.org_id, 99)
    await add(i, ana.org_id, 5, revoked_at=past)
    await add(i, ana.org_id, 5, expires_at=past, created_at=past)

    last = await created(i, ana)
    assert (409, "conflict") == refusal(await post(i, ana))
    # Whether it is valid comes first.
    assert (400, "validation_error") == refusal(await post(i, ana, name=""))
    await revoked(i, ana, last["id"])
    await created(i, ana)

    assert (409, "conflict") == refusal(await post(i, ana))


@ON_BOTH
async def test_concurrent_creation_does_not_exceed_a_hundred_keys(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    await add(i, ana.org_id, 98)

    answers = await asyncio.gather(*(post(i, ana, name=str(number)) for number in range(6)))

    assert [201, 201, 409, 409, 409, 409] == sorted(answer.status_code for answer in answers)
    assert 100 == len(await listed(i, ana))


async def test_making_and_revoking_is_audited_without_the_secret(
    idle_service: Installation,
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    key = await created(i, ana, name="Expenses", scopes=["write"])
    for _ in range(2):
        await revoked(i, ana, key["id"])

    [made] = await people.audited(i, ana, AuditAction.APIKEY_CREATED)
    [ended] = await people.audited(i, ana, AuditAction.APIKEY_REVOKED)

    for event in (made, ended):
        assert ("api_key", key["id"]) == (event["resource_type"], event["resource_id"])
        assert (ana.user_id, None) == (event["actor_user_id"], event["actor_api_key_id"])
        assert key["secret"] not in str(event)
        assert tokens.fingerprint(key["secret"]) not in str(event)
    assert made["before"] is None
    assert {"name": "Expenses", "scopes": ["write"], "is_live": True}.items() <= made[
        "after"
    ].items()
    assert made["after"] == ended["before"]
    assert ended["before"]["revoked_at"] is None
    assert ended["after"]["revoked_at"] is not None


@ON_BOTH
async def test_concurrent_revocations_are_audited_once(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    key_id = (await created(i, ana))["id"]

    answers = await asyncio.gather(*(revoked(i, ana, key_id) for _ in range(5)))

    assert [(204, "")] * 5 == answers
    assert 1 == len(await people.audited(i, ana, AuditAction.APIKEY_REVOKED))


@ON_BOTH
async def test_current_role_is_checked_when_the_key_is_created(idle_service: Installation) -> None:
    """A member removed or demoted during the request can no longer create a key."""
    i = idle_service
    ana = await people.signed_up(i)
    dev = await people.joined(i, ana)
    of_dev = Membership.user_id == dev.user_id
    async with i.database.write() as session:
        await session.execute(update(Membership).where(of_dev).values(role=Role.VIEWER))

    async with i.database.write() as session:
        with pytest.raises(InsufficientScope):
            await keys.issue(session, member(dev, Role.DEVELOPER), NewKey("late"))
        await session.execute(delete(Membership).where(of_dev))
    async with i.database.write() as session:
        with pytest.raises(NoSession):
            await keys.issue(session, member(dev, Role.DEVELOPER), NewKey("later"))

    assert [] == await listed(i, ana)


@ON_BOTH
async def test_last_use_is_reported_at_once(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    key = await created(i, ana)

    with clock.moved(dt.timedelta(minutes=5)):
        before = clock.now()
        await i.get("/receipts", secret=key["secret"])
        [result] = await listed(i, ana)

    assert before <= dt.datetime.fromisoformat(result["last_used_at"])
    # And was not written for it.
    assert {None} == {row.last_used_at for row in await i.rows(ApiKey)}
