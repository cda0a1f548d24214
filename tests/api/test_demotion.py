"""Demotion and removal: the API keys that go with the right to create them."""

from collections import Counter

import httpx
import pytest

from recibo.schemas.states import AuditAction, MailKind, Role
from recibo.store.tables import Mail
from tests import people
from tests.installation import Installation
from tests.people import Session

MAY_NOT = [Role.VIEWER, Role.BILLING]
MAY = [Role.OWNER, Role.ADMIN, Role.DEVELOPER]


async def created(i: Installation, who: Session, name: str) -> str:
    """As a user, create a key, and return its secret."""
    answer = await i.stranger.post("/v1/api-keys", json={"name": name}, headers=who.headers)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["secret"])


async def change(i: Installation, who: Session, whom: Session, role: Role) -> httpx.Response:
    """As a user, give a member another role."""
    url = f"/v1/org/members/{whom.user_id}"
    return await i.stranger.patch(url, json={"role": role}, headers=who.headers)


async def is_good(i: Installation, secret: str) -> bool:
    """Return whether a key is still good."""
    return (await i.get("/key", secret=secret)).status_code == 200


async def mailed(i: Installation) -> list[Mail]:
    """Return the mails about revoked keys."""
    return [one for one in await i.rows(Mail) if one.kind == MailKind.KEYS_REVOKED]


@pytest.mark.parametrize("role", MAY_NOT)
async def test_role_that_may_not_create_keys_loses_those_created(
    idle_service: Installation, role: Role
) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.joined(i, ana, Role.DEVELOPER)
    admin = await people.joined(i, ana, Role.ADMIN)
    viewer = await people.joined(i, ana, Role.VIEWER)
    kept = await created(i, ana, "of Ana")
    lost = [await created(i, bea, name) for name in ("till 1", "till 2")]

    assert 200 == (await change(i, ana, bea, role)).status_code

    assert [False, False] == [await is_good(i, one) for one in lost]
    assert await is_good(i, kept)
    entries = await people.audited(i, ana, AuditAction.APIKEY_REVOKED)
    assert {"till 1", "till 2"} == {one["after"]["name"] for one in entries}
    assert {ana.user_id} == {one["actor_user_id"] for one in entries}
    mails = await mailed(i)
    assert Counter([ana.email, bea.email, admin.email]) == Counter(one.recipient for one in mails)
    assert viewer.email not in {one.recipient for one in mails}
    assert (2, "till 1, till 2") == (mails[0].names["count"], mails[0].names["keys"])
    # Nothing comes back with the role.
    await change(i, ana, bea, Role.ADMIN)
    assert [False, False] == [await is_good(i, one) for one in lost]


@pytest.mark.parametrize("role", MAY)
async def test_role_that_may_create_keys_keeps_them(door: Installation, role: Role) -> None:
    ana = await people.signed_up(door)
    bea = await people.joined(door, ana, Role.ADMIN)
    secret = await created(door, bea, "till")

    await change(door, ana, bea, role)

    assert await is_good(door, secret)
    assert [] == await mailed(door)


async def test_owner_who_steps_down_loses_the_own_keys(door: Installation) -> None:
    ana = await people.signed_up(door)
    bea = await people.joined(door, ana, Role.OWNER)
    secret = await created(door, ana, "till")

    await change(door, ana, ana, Role.VIEWER)

    assert not await is_good(door, secret)
    assert {ana.email, bea.email} == {one.recipient for one in await mailed(door)}


async def test_no_mail_is_sent_without_keys(door: Installation) -> None:
    ana = await people.signed_up(door)
    bea = await people.joined(door, ana, Role.DEVELOPER)
    secret = await created(door, bea, "till")
    [key] = (await door.stranger.get("/v1/api-keys", headers=bea.headers)).json()["data"]
    await door.stranger.delete(f"/v1/api-keys/{key['id']}", headers=bea.headers)

    await change(door, ana, bea, Role.VIEWER)

    assert not await is_good(door, secret)
    assert [] == await mailed(door)
    assert 1 == len(await people.audited(door, ana, AuditAction.APIKEY_REVOKED))


async def test_removal_is_mailed_too(idle_service: Installation) -> None:
    i = idle_service
    ana = await people.signed_up(i)
    bea = await people.joined(i, ana, Role.DEVELOPER)
    secret = await created(i, bea, "till")

    url = f"/v1/org/members/{bea.user_id}"
    assert 204 == (await i.stranger.delete(url, headers=ana.headers)).status_code

    assert not await is_good(i, secret)
    assert {ana.email, bea.email} == {one.recipient for one in await mailed(i)}
    assert 1 == len(await people.audited(i, ana, AuditAction.APIKEY_REVOKED))
