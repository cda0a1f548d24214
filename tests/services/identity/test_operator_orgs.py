"""Organizations that the operator creates, and who is invited to own them."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from recibo.errors import SignupClosed, ValidationFailed
from recibo.lib import clock, ids
from recibo.schemas.states import Role, SignupPolicy
from recibo.services.identity import invitations, operator_orgs
from recibo.services.identity.operator_orgs import Created, NewOrg
from recibo.store import tables
from recibo.store.db import Database
from recibo.store.tables import Table

WANTED = NewOrg("Padaria Aurora", "Ana@People.test", SignupPolicy.INVITED, is_production=False)


async def created(database: Database, wanted: NewOrg = WANTED) -> Created:
    """Create an organization in a separate transaction."""
    async with database.write() as session:
        return await operator_orgs.create(session, wanted)


async def rows(database: Database, table: type[Table]) -> list[Any]:
    """Return all rows of a table, in the order of their ids."""
    async with database.read() as session:
        return sorted((await session.execute(select(table))).scalars(), key=lambda row: row.id)


async def user(database: Database, email: str, **columns: Any) -> str:
    """Add an account and return its id."""
    user_id = ids.new("usr")
    async with database.write() as session:
        session.add(tables.User(id=user_id, email=email, created_at=clock.now(), **columns))
    return user_id


async def test_owner_is_invited_to_a_new_organization(database: Database) -> None:
    made = await created(database)

    (org,) = await rows(database, tables.Org)
    (invitation,) = await rows(database, tables.Invitation)
    async with database.read() as session:
        offer = await invitations.offer(session, made.token)
    assert ("Padaria Aurora", "padaria-aurora", "ana@people.test") == (
        org.name, org.slug, org.billing_email
    )  # fmt: skip
    assert (org.id, "ana@people.test", Role.OWNER) == (
        invitation.org_id, invitation.email, invitation.role
    )  # fmt: skip
    assert "The operator of this installation" == offer.inviter
    assert ("Padaria Aurora", Role.OWNER) == (offer.org_name, offer.role)
    assert not made.is_again


async def test_both_stand_in_the_audit_log(database: Database) -> None:
    made = await created(database)

    entries = await rows(database, tables.AuditEvent)
    assert ["org.created", "member.invited"] == [one.action for one in entries]
    assert {None} == {one.actor_user_id for one in entries}
    assert made.token not in str([(one.before, one.after) for one in entries])


async def test_owner_is_invited_again_until_they_join(database: Database) -> None:
    first = await created(database)
    second = await created(database, replace(WANTED, owner="bob@people.test"))

    assert 1 == len(await rows(database, tables.Org))
    assert second.is_again
    async with database.read() as session:
        with pytest.raises(ValidationFailed):
            await invitations.offer(session, first.token)
        offer = await invitations.offer(session, second.token)
    assert "bob@people.test" == offer.email
    actions = [one.action for one in await rows(database, tables.AuditEvent)]
    assert ["invitation.revoked", "member.invited"] == actions[-2:]


async def test_organization_with_members_is_left_alone(database: Database) -> None:
    first = await created(database)
    user_id = await user(database, "ana@people.test")
    (org,) = await rows(database, tables.Org)
    async with database.write() as session:
        session.add(
            tables.Membership(
                org_id=org.id, user_id=user_id, role=Role.OWNER, created_at=clock.now()
            )
        )
    second = await created(database)

    assert ["padaria-aurora", "padaria-aurora-2"] == [first.slug, second.slug]
    assert not second.is_again


@pytest.mark.parametrize("name", ["", "  ", "x" * 256, "two\nlines", "nul\0", "\udcff"])
async def test_name_that_is_none_is_refused(database: Database, name: str) -> None:
    with pytest.raises(ValidationFailed, match="NAME"):
        await created(database, replace(WANTED, name=name))

    assert [] == await rows(database, tables.Org)


@pytest.mark.parametrize("owner", ["", "ana", "ana@", "ana@tempmail.com", "a@b@people.test"])
async def test_address_that_is_none_is_refused(database: Database, owner: str) -> None:
    with pytest.raises(ValidationFailed, match="--owner"):
        await created(database, replace(WANTED, owner=owner))

    assert [] == await rows(database, tables.Org)


async def test_owner_without_an_account_is_refused_where_none_are_made(database: Database) -> None:
    closed = replace(WANTED, signup=SignupPolicy.CLOSED)
    with pytest.raises(SignupClosed, match=r"ana@people\.test has no account"):
        await created(database, closed)
    before = await rows(database, tables.Org)
    await user(database, "ana@people.test")

    made = await created(database, closed)

    assert [] == before
    assert "ana@people.test" == made.owner


async def test_disabled_account_is_refused(database: Database) -> None:
    await user(database, "ana@people.test", disabled_at=clock.now())

    with pytest.raises(ValidationFailed, match="disabled"):
        await created(database)
