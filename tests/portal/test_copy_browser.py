"""Copying in a real browser, in Portuguese."""

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
