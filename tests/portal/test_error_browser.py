"""Pages of errors in a real browser, in both languages."""

import pytest
from playwright.sync_api import expect

from tests.people import PASSWORD
from tests.portal.browser import PHONE, Address, Site, violations, width

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Too many attempts. Try again in 15 minutes."),
        ("pt-BR", "Tentativas demais. Tente de novo em 15 minutos."),
    ],
)
def test_too_many_sign_ins_are_explained(
    site: Site, address: Address, language: str, said: str
) -> None:
    with site.visit() as page:
        page.set_extra_http_headers({"Accept-Language": language})
        body = {"email": address("ana"), "password": PASSWORD, "org_name": "Aurora"}
        assert page.request.post("/v1/auth/signup", data=body).ok
        page.context.clear_cookies()
        form: dict[str, str | float | bool] = {"email": address("ana"), "password": "wrong"}
        while page.request.post("/portal/sign-in", form=form).status != 429:
            pass
        page.goto("/portal/sign-in")
        page.locator("#email").fill(address("ana"))
        page.locator("#password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text(said)
        assert [] == violations(page)
        assert width(page) <= PHONE[0]


@pytest.mark.parametrize("language", ["en", "pt-BR"])
def test_page_of_the_server_itself_has_the_look_of_others(site: Site, language: str) -> None:
    with site.visit() as page:
        page.set_extra_http_headers({"Accept-Language": language})
        page.route(
            "**/portal/sign-in",
            lambda route: route.continue_(
                headers={**route.request.headers, "X-Long": "a" * 65_000}
            ),
        )
        answer = page.goto("/portal/sign-in")
        assert answer
        assert 431 == answer.status
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.locator("main .btn-primary")).to_have_css("display", "flex")
        assert [] == violations(page)
        assert width(page) <= PHONE[0]
