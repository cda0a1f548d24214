"""The portal of a company's own installation: no plans, and accounts by invitation."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from recibo.schemas.ids import OrgId
from recibo.schemas.permissions import PERMISSIONS
from recibo.schemas.states import Role
from recibo.services.identity import demo_org
from recibo.store import tables
from tests import installation, make, people
from tests.installation import Installation
from tests.people import PASSWORD, Session
from tests.portal import forms, pages
from tests.portal.test_navigation import SECTIONS

SIGN_UP = {"email": "eve@people.test", "password": PASSWORD, "org_name": "Eve & Co"}


def run_installation(
    url: str, folder: Path, **settings: Any
) -> AbstractAsyncContextManager[Installation]:
    """Open a service that sends no mail."""
    return installation.start(url, folder, with_worker=False, **settings)


@pytest.fixture
async def own(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service that sells no plans."""
    async with run_installation(sqlite_url, tmp_path, payments="none") as i:
        yield i


async def member_of(i: Installation, role: Role = Role.OWNER) -> Session:
    """Return a session of a member of the demo org."""
    (org,) = await i.rows(tables.Org)
    tokens = await make.session(i.services.identity, OrgId(org.id), role=role)
    return Session(tokens.user_id, org.id, "", tokens.model_dump())


@pytest.mark.parametrize("role", Role)
async def test_no_page_mentions_or_links_to_plans(own: Installation, role: Role) -> None:
    await forms.sign_in_as(own, await member_of(own, role))
    paths = [
        path
        for path, permission in SECTIONS.items()
        if permission in PERMISSIONS[role] and path != "/portal/billing"
    ]
    answers = [await own.stranger.get(path) for path in ("/portal", "/portal/security", *paths)]

    assert {200} == {page.status_code for page in answers}
    for page in answers:
        assert "/portal/billing" not in page.text
        assert "/sandbox" not in page.text
        assert "are left this month" not in page.text
        assert "<dt>Plan</dt>" not in page.text
        assert "Billing email" not in page.text


async def test_billing_page_does_not_exist(own: Installation) -> None:
    strangers = await own.stranger.get("/portal/billing")
    await forms.sign_in_as(own, await member_of(own))
    answers = [
        await own.stranger.get("/portal/billing"),
        await own.stranger.post("/portal/billing/checkout", data={"plan": "indie"}),
        await own.stranger.post("/portal/billing/manage"),
    ]

    assert [404] * 4 == [one.status_code for one in (strangers, *answers)]


async def test_changing_the_organization_keeps_its_billing_address(own: Installation) -> None:
    await forms.sign_in_as(own, await member_of(own))
    page = await forms.submit(own, "/portal/organization", name="Aurora")
    (org,) = await own.rows(tables.Org)

    assert "Your changes are saved." in page.text
    assert ("Aurora", demo_org.OWNER_EMAIL) == (org.name, org.billing_email)


async def test_no_plan_is_offered_at_sign_up(own: Installation) -> None:
    page = await forms.get_page(own, "/portal/sign-up")

    assert "are free" not in page.text
    assert [("post", "/portal/sign-up")] == page.forms


async def test_organization_is_deleted_whatever_was_bought_before(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with run_installation(sqlite_url, tmp_path) as i:
        owner = await member_of(i)
        async with i.database.write() as session:
            row = tables.Subscription(org_id=owner.org_id, version=0, provider="stripe")
            row.customer_id, row.subscription_id = "cus_1", "sub_1"
            row.plan, row.status = "indie", "active"
            row.cancel_at_period_end = False
            row.updated_at = (await session.get_one(tables.Org, owner.org_id)).created_at
            session.add(row)
    async with run_installation(sqlite_url, tmp_path, payments="none") as i:
        await forms.sign_in_as(i, owner)
        page = await forms.submit(i, "/portal/organization/delete", slug="demo")

    assert "The organization is deleted." in page.text


@pytest.mark.parametrize(
    ("signup", "said"),
    [("invited", "You need an invitation"), ("closed", "does not accept new accounts")],
)
async def test_sign_up_page_says_why_there_is_no_form(
    sqlite_url: str, tmp_path: Path, signup: str, said: str
) -> None:
    async with run_installation(sqlite_url, tmp_path, signup=signup) as i:
        page = await forms.get_page(i, "/portal/sign-up")
        refused = await i.stranger.post("/portal/sign-up", data=SIGN_UP)
        empty = await i.stranger.post("/portal/sign-up", data={})
        sign_in = await forms.get_page(i, "/portal/sign-in")
        users = await i.rows(tables.User)

    assert said in page.text
    assert [] == page.forms
    assert [403, 403] == [refused.status_code, empty.status_code]
    assert "new accounts" in pages.parse(refused).text.lower()
    assert not [link for link in sign_in.links if "sign-up" in link]
    assert [demo_org.OWNER_EMAIL] == [user.email for user in users]


async def test_invitation_without_an_account_is_refused_if_signup_is_closed(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with run_installation(sqlite_url, tmp_path, signup="closed") as i:
        owner = await member_of(i)
        _, token = await people.invite_with_token(i, owner, "bob@people.test")
        answer = await i.stranger.post("/portal/accept-invite", data={"token": token})
        await forms.sign_in_as(i, owner)
        members = await forms.get_page(i, "/portal/members")

    assert 403 == answer.status_code
    assert "takes no new accounts" in pages.parse(answer).alert
    assert "Only people with an account can accept" in members.text
