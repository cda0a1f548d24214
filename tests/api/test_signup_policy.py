"""RECIBO_SIGNUP: who may create an account."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recibo.schemas.ids import OrgId
from recibo.schemas.states import MailKind, Role
from recibo.services.identity import demo_org
from recibo.store import tables
from tests import installation, make, people
from tests.installation import Installation
from tests.people import PASSWORD, Session

BODY = {"email": "eve@people.test", "password": PASSWORD, "org_name": "Eve & Co"}


@pytest.fixture(params=["invited", "closed"])
async def restricted(
    request: pytest.FixtureRequest, sqlite_url: str, tmp_path: Path
) -> AsyncIterator[Installation]:
    """A service at which not everybody may sign up."""
    async with start(sqlite_url, tmp_path, request.param) as i:
        yield i


def start(database_url: str, folder: Path, signup: str) -> Any:
    """Open a service that sends no mail: tests mint the tokens themselves."""
    return installation.start(database_url, folder, with_worker=False, signup=signup)


async def owner_of(i: Installation) -> Session:
    """Return a session of an owner of the demo org."""
    (org,) = await i.rows(tables.Org)
    tokens = await make.session(i.services.identity, OrgId(org.id), role=Role.OWNER)
    email = f"{tokens.user_id}@recibo.test"
    return Session(tokens.user_id, org.id, email, tokens.model_dump())


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the code of an error."""
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize(
    "sent",
    [
        {"json": BODY},
        {"json": {}},
        {"json": BODY | {"email": demo_org.OWNER_EMAIL}},
        {"content": b"{"},
        {"content": b"x" * 2_000_000},
    ],
    ids=["a good one", "an empty one", "a known address", "no JSON", "a large one"],
)
async def test_sign_up_is_refused_with_any_body(
    restricted: Installation, sent: dict[str, Any]
) -> None:
    answer = await restricted.stranger.post("/v1/auth/signup", **sent)

    assert (403, "signup_closed") == refusal(answer)
    assert [demo_org.OWNER_EMAIL] == [user.email for user in await restricted.rows(tables.User)]


async def test_refused_sign_up_counts_as_no_try(sqlite_url: str, tmp_path: Path) -> None:
    limited = installation.start(
        sqlite_url, tmp_path, with_worker=False, signup="invited", signups_per_ip_per_hour=1
    )
    async with limited as i:
        answers = [await i.stranger.post("/v1/auth/signup", json=BODY) for _ in range(3)]

    assert {(403, "signup_closed")} == {refusal(one) for one in answers}


async def test_cross_site_page_is_refused_first(restricted: Installation) -> None:
    headers = {"Origin": "https://evil.test"}
    answer = await restricted.stranger.post("/v1/auth/signup", json=BODY, headers=headers)

    assert (403, "cross_site_request") == refusal(answer)


async def test_invitee_creates_an_account_where_invited_people_may(
    database_url: str, tmp_path: Path
) -> None:
    async with start(database_url, tmp_path, "invited") as i:
        bob = await people.join_by_invitation(i, await owner_of(i), "bob@people.test")
        refused = await i.stranger.post("/v1/auth/signup", json=BODY)

    assert "bob@people.test" == bob.email
    assert (403, "signup_closed") == refusal(refused)


async def test_invitation_makes_no_account_where_none_are_made(
    database_url: str, tmp_path: Path
) -> None:
    async with start(database_url, tmp_path, "closed") as i:
        owner = await owner_of(i)
        before = len(await i.rows(tables.User))
        _, token = await people.invite_with_token(i, owner, "bob@people.test")
        answers = [await people.accept(i, token) for _ in range(2)]
        unknown = await people.accept(i, "nothing")
        after = await i.rows(tables.User)

    assert [(403, "signup_closed")] * 2 == [refusal(one) for one in answers]
    assert 400 == unknown.status_code
    assert before == len(after)


async def test_invitation_works_for_an_existing_account_where_no_new_ones_are_made(
    database_url: str, tmp_path: Path
) -> None:
    async with start(database_url, tmp_path, "open") as i:
        await people.signed_up(i, email="bob@people.test")
    async with start(database_url, tmp_path, "closed") as i:
        (org,) = [one for one in await i.rows(tables.Org) if one.slug == "demo"]
        tokens = await make.session(i.services.identity, OrgId(org.id), role=Role.OWNER)
        owner = Session(tokens.user_id, org.id, "owner", tokens.model_dump())
        _, token = await people.invite_with_token(i, owner, "bob@people.test")
        accepted = await people.accept(i, token)

    assert 200 == accepted.status_code
    assert org.id == accepted.json()["org_id"]


async def test_sign_in_link_makes_no_account(restricted: Installation) -> None:
    body = {"email": "eve@people.test"}
    answer = await restricted.stranger.post("/v1/auth/magic-link", json=body)
    mails = await restricted.rows(tables.Mail)

    assert 202 == answer.status_code
    assert {MailKind.MAGIC_LINK} >= {mail.kind for mail in mails}
    assert [demo_org.OWNER_EMAIL] == [user.email for user in await restricted.rows(tables.User)]
