"""Secrets, keys and codes in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from tests import second_factors
from tests.people import PASSWORD
from tests.portal.browser import DESK, Address, Site

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")


def turn_on_second_factor(page: Page, email: str) -> list[str]:
    """Sign up, set up a second factor, and return the recovery codes that the page shows."""
    body = {"email": email, "password": PASSWORD, "org_name": "Padaria Aurora"}
    assert page.request.post("/v1/auth/signup", data=body).ok
    assert page.request.post("/portal/language", form={"language": "pt-BR"}).ok
    page.goto("/portal/security")
    page.get_by_role("button", name="Configurar").click()
    secret = page.locator("#secret").inner_text()
    page.get_by_label("Código de 6 dígitos").fill(second_factors.code_of(secret))
    page.get_by_role("button", name="Ativar").click()
    return page.locator(".codes code").all_inner_texts()


def test_reloading_the_page_of_a_new_key_makes_no_other_one(site: Site, address: Address) -> None:
    with site.visit(size=DESK) as page:
        body = {"email": address("kim"), "password": PASSWORD, "org_name": "Padaria Aurora"}
        assert page.request.post("/v1/auth/signup", data=body).ok
        page.goto("/portal/keys")
        page.get_by_label("Name").fill("Expenses")
        page.get_by_role("button", name="Create key").click()
        expect(page.locator("#secret")).to_be_visible()
        page.reload()
        expect(page.locator("#secret")).to_have_count(0)
        expect(page.get_by_role("row").filter(has_text="Expenses")).to_have_count(1)


def test_tab_leads_from_the_address_to_the_password(site: Site) -> None:
    with site.visit(size=DESK) as page:
        page.goto("/portal/sign-in")
        page.get_by_label("Email").press("Tab")
        expect(page.get_by_label("Password")).to_be_focused()


def test_recovery_codes_are_copied_a_line_each(site: Site, address: Address) -> None:
    with site.visit(size=DESK) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        codes = turn_on_second_factor(page, address("ana"))
        button = page.get_by_role("button", name="Copiar os códigos")
        expect(button.locator(".i").first).to_be_visible()
        button.click()
        done = page.get_by_role("button", name="Copiado")
        # Once more, while it says so.
        done.click()
        expect(done.locator(".i").last).to_be_visible()
        expect(done.locator(".i").first).to_be_hidden()
        copied = page.evaluate("navigator.clipboard.readText()")
        expect(button.locator(".i").first).to_be_visible()

    assert len(codes) == 10
    assert codes == copied.split("\n")
