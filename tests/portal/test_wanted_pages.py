"""The page that a person wanted, found again after mails, second factors and first passwords."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import pytest

from recibo.portal import next_paths
from recibo.schemas.states import MailKind, MailTokenKind
from recibo.store.tables import Mail
from tests.installation import Installation
from tests.portal import accounts, pages

WANTED = "/portal/audit?action=org.updated"


async def wanted_of(i: Installation, kind: MailKind) -> str:
    """Return the page that the link of a pending mail leads on to."""
    mails = [row for row in await i.rows(Mail) if row.kind == kind]
    return str(mails[-1].names.get("next", ""))


async def user_id(i: Installation) -> str:
    """Return who is signed in, and sign out."""
    found: str = (await i.stranger.get("/v1/auth/me")).json()["user"]["id"]
    i.stranger.cookies.clear()
    return found


@dataclass(frozen=True, slots=True)
class Link:
    """A link that people ask for, and the page that it opens."""

    form: str
    page: str
    kind: MailKind
    token_kind: MailTokenKind
    #: What is filled in on the page.
    fields: Mapping[str, str]


SIGN_IN = Link(
    "magic-link/request", "magic-link", MailKind.MAGIC_LINK, MailTokenKind.MAGIC_LINK, {}
)
RESET = Link(
    "forgot-password",
    "reset-password",
    MailKind.PASSWORD_RESET,
    MailTokenKind.PASSWORD_RESET,
    {"new_password": "another long password"},
)


@pytest.mark.parametrize("link", [SIGN_IN, RESET], ids=["sign-in", "reset"])
async def test_links_in_mails_redirect_to_the_wanted_page(
    service: Installation, link: Link
) -> None:
    client = service.stranger
    await accounts.sign_up(client)
    who = await user_id(service)
    asked = accounts.redirect_target(await client.get(WANTED))
    hidden = pages.parse(await client.get(asked)).inputs["next"]["value"] or ""
    data = {"email": accounts.EMAIL, "next": hidden}
    assert 202 == (await client.post(f"/portal/{link.form}", data=data)).status_code
    mailed = await wanted_of(service, link.kind)
    token = await accounts.mint_token(service, link.token_kind, who)
    page = pages.parse(
        await client.get(f"/portal/{link.page}", params={"token": token, "next": mailed})
    )
    kept = page.inputs["next"]["value"] or ""
    answer = await client.post(
        f"/portal/{link.page}", data={"token": token, "next": kept, **link.fields}
    )

    assert WANTED == hidden == mailed == kept
    if link.fields:
        (way_on,) = [one for one in pages.parse(answer).links if "sign-in" in one]
        assert [WANTED] == parse_qs(urlsplit(way_on).query)["next"]
    else:
        assert WANTED == accounts.redirect_target(answer)


@pytest.mark.parametrize(
    "path",
    ["https://evil.test/", "//evil.test", "/\\evil.test", "/v1/key", "/portal/" + "x" * 200,
     "/portal/a b", "/portal/\u00e9", "/portal", "", None],
)  # fmt: skip
def test_links_in_mails_open_only_sections_of_the_portal(path: str | None) -> None:
    assert "" == next_paths.for_mail(path)


async def test_form_after_the_session_ended_returns_to_its_section(
    sqlite_service: Installation,
) -> None:
    answer = await sqlite_service.stranger.post(
        "/portal/members/invite", data={"email": "a@b.test"}
    )

    assert "/portal/sign-in?next=/portal/members" == accounts.redirect_target(answer)


async def test_form_of_a_receipt_leads_back_to_it_after_signing_in(
    sqlite_service: Installation,
) -> None:
    answer = await sqlite_service.stranger.post(
        "/portal/receipts/rcp_0a1/sums", data={"do": "save"}
    )

    assert "/portal/sign-in?next=/portal/receipts/rcp_0a1" == accounts.redirect_target(answer)


async def test_first_password_redirects_to_the_wanted_page(sqlite_service: Installation) -> None:
    await accounts.sign_up(sqlite_service.stranger)
    answer = await sqlite_service.stranger.get("/portal/set-password", params={"next": WANTED})

    assert WANTED == accounts.redirect_target(answer)
