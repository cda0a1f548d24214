"""The page of the organization."""

import pytest

from recibo.schemas.states import AuditAction, Role
from tests import billing, people
from tests.installation import Installation
from tests.portal import accounts, forms, pages

PATH = "/portal/organization"
LOGO = "https://pictures.test:8443/logo.png"
HOSTILE = "</h2><script>alert(1)</script>\"'"


async def change(i: Installation, **form: str) -> pages.Page:
    """Send the form with one thing changed, and return the page that it leads to."""
    fields = {"name": "Aurora", "billing_email": "bills@people.test", "logo_url": ""}
    return await forms.submit(i, PATH, **{**fields, **form})


async def test_org_settings_change_but_not_the_short_name(service: Installation) -> None:
    ana = await people.signed_up(service)
    await forms.sign_in_as(service, ana)
    page = await change(service, name=HOSTILE, logo_url=LOGO)
    org = (await service.stranger.get("/v1/org")).json()
    cleared = await change(service)

    assert (HOSTILE, "bills@people.test", LOGO) == (
        org["name"], org["billing_email"], org["logo_url"],
    )  # fmt: skip
    assert HOSTILE in page.text
    assert "Short name padaria-aurora" in cleared.text
    assert "" == cleared.inputs["logo_url"]["value"]


LOGOS = {
    LOGO: "https://pictures.test:8443",
    "https://[::1]/logo.png": "https:",
    "http://pictures.test/logo.png": None,
    "javascript:alert(1)": None,
    "https://a.test:x/logo.png": None,
    "https://": None,
}


async def test_only_https_logos_are_shown(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    for logo, source in LOGOS.items():
        await change(sqlite_service, logo_url=logo)
        answer = await sqlite_service.stranger.get(PATH)
        assert (source is not None) == (f'src="{logo}"' in answer.text), logo
        pictures = f"img-src 'self' {source};" if source else "img-src 'self';"
        assert pictures in answer.headers["content-security-policy"]


async def test_refused_values_are_shown_with_the_reason(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    form = {"name": "", "billing_email": "invalid", "logo_url": "x" * 501}
    page = await forms.submit_refused(sqlite_service, PATH, 400, **form)
    email = await forms.submit_refused(
        sqlite_service, PATH, 400, name="Aurora", billing_email="invalid"
    )

    assert "must have 1 to 255 characters" in page.error("name")
    assert "must have an @-sign" in email.error("billing_email")
    assert "invalid" == email.inputs["billing_email"]["value"]


@pytest.mark.parametrize("role", sorted(set(Role) - {Role.OWNER, Role.ADMIN}))
async def test_members_without_write_permission_see_no_form(
    sqlite_service: Installation, role: Role
) -> None:
    ana = await people.signed_up(sqlite_service)
    await forms.sign_in_as(sqlite_service, await people.joined(sqlite_service, ana, role))
    page = await forms.get_page(sqlite_service, PATH)

    assert "Padaria Aurora" in page.text
    assert PATH not in forms.form_actions(page, PATH)
    await forms.submit_refused(
        sqlite_service, PATH, 403, name="Mine", billing_email="x@people.test"
    )


async def test_owner_deletes_the_org_by_its_short_name(service: Installation) -> None:
    ana = await people.signed_up(service)
    bea = await people.joined(service, ana, Role.ADMIN)
    await forms.sign_in_as(service, bea)
    admins = await forms.get_page(service, PATH)
    await forms.submit_refused(service, f"{PATH}/delete", 403, slug="padaria-aurora")
    await forms.sign_in_as(service, ana)
    wrong = await forms.submit_refused(service, f"{PATH}/delete", 400, slug="padaria")
    page = await forms.submit(service, f"{PATH}/delete", slug=" padaria-aurora ")
    after = [await service.stranger.get("/v1/auth/me", headers=one.headers) for one in (ana, bea)]
    await accounts.sign_in(service.stranger, email=ana.email)
    home = await accounts.home(service.stranger)

    assert f"{PATH}/delete" not in forms.form_actions(admins, PATH)
    assert "to confirm the deletion" in wrong.error("slug")
    assert "The organization is deleted." in page.by_role["status"]
    assert [401, 401] == [answer.status_code for answer in after]
    assert home is not None
    assert PATH not in home.links


async def test_org_with_an_active_subscription_is_not_deleted(sqlite_service: Installation) -> None:
    ana = await people.signed_up(sqlite_service)
    await billing.bought(sqlite_service, ana)
    await forms.sign_in_as(sqlite_service, ana)
    page = await forms.submit_refused(sqlite_service, f"{PATH}/delete", 409, slug="padaria-aurora")

    assert "cancel it under Billing first" in page.alert
    assert 200 == (await sqlite_service.stranger.get("/v1/org")).status_code


async def test_member_leaves_but_not_the_last_owner(service: Installation) -> None:
    ana = await people.signed_up(service)
    bea = await people.joined(service, ana, Role.BILLING)
    await forms.sign_in_as(service, bea)
    left = await forms.submit(service, f"{PATH}/leave")
    beas = await service.stranger.get("/v1/auth/me", headers=bea.headers)
    await forms.sign_in_as(service, ana)
    last = await forms.submit_refused(service, f"{PATH}/leave", 400)
    (entry,) = await people.audited(service, ana, AuditAction.MEMBER_REMOVED)

    assert "You left the organization." in left.by_role["status"]
    assert 401 == beas.status_code
    assert "without an owner" in last.alert
    assert (bea.user_id, bea.user_id) == (entry["actor_user_id"], entry["resource_id"])
