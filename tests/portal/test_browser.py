"""Use the portal in a real browser, from the forms to the mails and back."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from secrets import token_hex
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import Page, expect
from standardwebhooks import Webhook

from tests import drawing, make_documents, second_factors
from tests.people import PASSWORD
from tests.portal import browser
from tests.portal.browser import Address, Site, violations

# One server and one browser, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")

OTHER = "another long password"
HOSTILE = "</pre><script>alert(1)</script>"
PAGES = [
    "sign-in", "sign-up", "forgot-password", "magic-link", "magic-link?token=x", "verify-email",
    "reset-password", "reset-password?token=x", "accept-invite", "accept-invite?token=x", "nowhere",
]  # fmt: skip


def sign_up(page: Page, email: str) -> None:
    """Fill in the form and arrive at home."""
    page.goto("/portal/sign-up")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Your name").fill("Ana Lima")
    page.get_by_label("Organization").fill("Padaria Aurora")
    page.get_by_role("button", name="Create account").click()
    expect_home(page, email)


def sign_in(page: Page, email: str, password: str = PASSWORD) -> None:
    """Fill in the form and send it."""
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


def sign_out(page: Page) -> None:
    """Sign out on the home page."""
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("status")).to_have_text("You are signed out.")


def open_section(page: Page, name: str) -> None:
    """Open a section from the sheet of the bottom bar."""
    page.get_by_role("button", name="More").click()
    # Settings have tabs, too.
    page.get_by_role("link", name=name, exact=True).last.click()


def expect_home(page: Page, email: str) -> None:
    """Check that the home page shows the user."""
    expect(page.get_by_label(f"Account: {email}")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Welcome")


def api_post(page: Page, path: str, **body: str) -> dict[str, Any]:
    """POST to the API in the user's session."""
    answer = page.request.post(path, data=body)
    assert answer.ok, answer.text()
    found: dict[str, Any] = answer.json()
    return found


def test_api_documentation_works_under_its_policy(site: Site) -> None:
    with site.visit(size=(1200, 900)) as page:
        page.goto("/docs")
        open_extract(page)


def open_extract(page: Page, *, example: bool = False) -> None:
    """Unfold an operation of the documentation, and the schema or an example of its answer."""
    page.get_by_text("/v1/extract", exact=True).click()
    expect(page.get_by_text("Idempotency-Key").first).to_be_visible()
    if example:
        expect(page.locator("pre.microlight").first).to_be_visible()
    else:
        page.get_by_role("tab", name="Schema").first.click()


def test_api_documentation_has_no_serious_barriers(site: Site) -> None:
    with site.visit(size=(1200, 900)) as page:
        describe(page, "/v1/extract", "/v1/receipts/{receipt_id}")
        methods = page.locator(".opblock-summary-method")
        expect(methods).to_have_text(["POST", "GET", "PATCH", "DELETE"], use_inner_text=True)
        open_extract(page, example=True)
        assert [] == violations(page)
        page.get_by_role("tab", name="Schema").first.click()
        assert [] == violations(page)


def describe(page: Page, *paths: str) -> None:
    """Show the documentation of some paths, and of some refusals by each.

    All look the same, and take a minute to check.
    """
    document = page.request.get("/openapi.json").json()
    document["paths"] = {path: document["paths"][path] for path in paths}
    del document["webhooks"]
    for operation in (one for path in document["paths"].values() for one in path.values()):
        answers = operation["responses"]
        refusals = [status for status in answers if status >= "400"]
        for status in refusals[2:]:
            del answers[status]
    schemas, named = document["components"]["schemas"], set[str]()
    found = schemas_in(document["paths"])
    while found:
        named |= found
        found = schemas_in([schemas[name] for name in found]) - named
    document["components"]["schemas"] = {name: schemas[name] for name in schemas if name in named}
    page.route("**/openapi.json", lambda route: route.fulfill(json=document))
    page.goto("/docs")


def schemas_in(part: object) -> set[str]:
    """Return the names of the schemas that a part of an OpenAPI document refers to."""
    return set(re.findall(r"#/components/schemas/(\w+)", json.dumps(part)))


def test_api_documentation_follows_the_color_scheme(site: Site) -> None:
    with site.visit(size=(1200, 900)) as page:
        describe(page)
        page.emulate_media(color_scheme="dark")
        expect(page.locator("html")).to_have_class("dark-mode")
        page.emulate_media(color_scheme="light")
        expect(page.locator("html")).not_to_have_class("dark-mode")


def test_signing_up_out_and_in_again(site: Site, address: Address) -> None:
    with site.visit() as page:
        page.goto("/")
        expect(page).to_have_title("Sign in · Recibo")
        sign_up(page, address("ana"))
        sign_out(page)
        page.goto("/portal")
        sign_in(page, address("ana"))
        expect_home(page, address("ana"))


def test_wrong_password_shows_an_error_and_focuses_the_field(site: Site, address: Address) -> None:
    with site.visit() as page:
        sign_up(page, address("bea"))
        sign_out(page)
        sign_in(page, address("bea"), OTHER)
        expect(page.get_by_role("alert")).to_contain_text("is wrong")
        expect(page.get_by_label("Email")).to_have_value(address("bea"))
        expect(page.get_by_label("Password")).to_be_focused()
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        expect_home(page, address("bea"))


def test_address_is_confirmed_by_the_mail(site: Site, address: Address) -> None:
    with site.visit() as page:
        sign_up(page, address("cora"))
        expect(page.get_by_text("Please confirm your email address")).to_be_visible()
        page.goto(site.link_to(address("cora"), "verify-email"))
        page.get_by_role("button", name="Confirm address").click()
        page.get_by_role("link", name="Continue").click()
        expect_home(page, address("cora"))
        expect(page.get_by_text("Please confirm your email address")).to_be_hidden()


def test_signing_in_by_the_link_of_a_mail(site: Site, address: Address) -> None:
    with site.visit() as page:
        sign_up(page, address("dora"))
        sign_out(page)
        page.get_by_label("Email").fill(address("dora"))
        page.get_by_role("button", name="Email me a sign-in link").click()
        expect(page.get_by_role("heading")).to_have_text("Check your email")
        link = site.link_to(address("dora"), "magic-link")
    # Mail scanners open links first.
    with site.visit() as page:
        page.goto(link)
    with site.visit() as page:
        page.goto(link)
        page.get_by_role("button", name="Sign in").click()
        expect_home(page, address("dora"))


def test_token_of_a_link_is_in_no_referrer(site: Site) -> None:
    referrers: list[str] = []
    with site.visit() as page:
        page.on("request", lambda request: referrers.append(request.headers.get("referer", "")))
        page.goto("/portal/magic-link?token=secret")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("ask for a new one")
        page.get_by_role("link", name="Request a new link").click()
        expect(page).to_have_title("Sign in · Recibo")

    assert {"", f"{site.server.url}/"} == set(referrers)


def test_second_factor_is_asked_for(site: Site, address: Address) -> None:
    with site.visit() as page:
        sign_up(page, address("eva"))
        secret = api_post(page, "/v1/auth/2fa/enroll")["secret"]
        code = second_factors.code_of(secret)
        codes = api_post(page, "/v1/auth/2fa/enroll/verify", code=code)["recovery_codes"]
        sign_out(page)

        sign_in(page, address("eva"))
        expect(page.get_by_label("6-digit code")).to_be_focused()
        page.keyboard.type(second_factors.code_of(secret))
        page.keyboard.press("Enter")
        expect_home(page, address("eva"))
        sign_out(page)

        sign_in(page, address("eva"))
        page.get_by_role("link", name="Use a recovery code").click()
        page.get_by_label("Recovery code").fill(codes[0])
        page.get_by_role("button", name="Continue").click()
        expect_home(page, address("eva"))


def test_password_is_reset_by_the_link_of_a_mail(site: Site, address: Address) -> None:
    with site.visit() as page:
        sign_up(page, address("fay"))
        sign_out(page)
        page.get_by_role("link", name="Forgot your password?").click()
        page.get_by_label("Email").fill(address("fay"))
        with page.expect_navigation():
            page.get_by_role("button", name="Email me a link").click()
        page.goto(site.link_to(address("fay"), "reset-password"))
        page.get_by_label("New password").fill(OTHER)
        page.get_by_role("button", name="Set password").click()
        page.get_by_role("link", name="Sign in").click()
        sign_in(page, address("fay"), OTHER)
        expect_home(page, address("fay"))


def test_invited_person_joins_and_sets_a_password(site: Site, address: Address) -> None:
    with site.visit() as page:
        sign_up(page, address("gil"))
        api_post(page, "/v1/org/members", email=address("hal"), role="viewer")
    with site.visit() as page:
        page.goto(site.link_to(address("hal"), "accept-invite"))
        page.get_by_role("button", name="Accept invitation").click()
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_role("button", name="Set password").click()
        expect_home(page, address("hal"))
        expect(page.get_by_role("link", name="Padaria Aurora")).to_be_visible()
        sign_out(page)
        sign_in(page, address("hal"))
        expect_home(page, address("hal"))


@contextmanager
def receiver(calls: list[tuple[dict[str, str], bytes]]) -> Iterator[str]:
    """Receive webhooks, answer with hostile HTML, and yield the URL."""

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            calls.append((dict(self.headers), body))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(HOSTILE.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{'long-path/' * 20}"
        server.shutdown()
        thread.join()


def reload_until(page: Page, text: str) -> None:
    """Reload until a text appears; the test runner ends a wait that is too long."""
    while text not in page.locator("main").inner_text():
        page.reload()


def test_webhooks_are_set_tested_and_sent_again(site: Site, address: Address) -> None:
    calls: list[tuple[dict[str, str], bytes]] = []
    with receiver(calls) as url, site.visit() as page:
        sign_up(page, address("ida"))
        open_section(page, "Webhooks")
        page.get_by_label("Endpoint URL").fill("ftp://a.test/")
        page.get_by_role("button", name="Set").click()
        expect(page.get_by_text("Endpoint URL must be a URL that begins")).to_be_visible()
        expect(page.get_by_label("Endpoint URL")).to_be_focused()
        page.get_by_label("Endpoint URL").fill(url)
        page.get_by_role("button", name="Set").click()
        expect(page.get_by_role("status")).to_contain_text("The endpoint is set.")
        before = page.locator(".secret code").first.inner_text()
        page.get_by_role("button", name="Rotate").first.click()
        expect(page.get_by_text("The previous secret stays valid until")).to_be_visible()
        after = page.locator(".secret code").first.inner_text()
        page.get_by_role("button", name="Send a test event").click()
        reload_until(page, "Delivered")
        page.locator("summary", has_text="webhook.test").click()
        expect(page.get_by_text(HOSTILE)).to_be_visible()
        assert browser.width(page) <= browser.PHONE[0]
        page.get_by_role("link", name="Details").click()
        page.get_by_role("button", name="Send again").click()
        expect(page.get_by_role("status")).to_contain_text("on its way again")
        reload_until(page, "Delivered")
        expect(page.get_by_text(HOSTILE)).to_have_count(2)
        assert browser.width(page) <= browser.PHONE[0]
        open_section(page, "Webhooks")
        page.get_by_role("button", name="Remove the endpoint").click()
        page.get_by_role("button", name="Remove it").click()
        expect(page.get_by_label("Endpoint URL")).to_have_value("")

    assert 2 == len(calls)
    assert before != after
    for headers, body in calls:
        for secret in (before, after):
            assert "webhook.test" == Webhook(secret).verify(body, headers)["type"]


def test_pages_fit_the_narrowest_phone(site: Site) -> None:
    with site.visit() as page:
        for path in PAGES:
            page.goto(f"/portal/{path}")
            assert browser.width(page) <= browser.PHONE[0], path
        sign_up(page, f"{'long' * 15}@{'very-' * 10}{token_hex(4)}.browser.test")
        sections = page.locator(".side nav a").all()
        for path in ["/portal", *(link.get_attribute("href") or "" for link in sections)]:
            page.goto(path)
            assert browser.width(page) <= browser.PHONE[0], path

        assert len(sections) > 8


def test_app_is_scanned_a_key_made_and_a_plan_bought_without_scripts(
    site: Site, address: Address
) -> None:
    with site.visit(javascript=False) as page:
        sign_up(page, address("jil"))
        open_section(page, "Security")
        page.get_by_role("button", name="Set up").click()
        picture = page.get_by_role("img", name="QR code").screenshot()
        (scanned,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(picture)))
        (secret,) = parse_qs(urlsplit(scanned.text).query)["secret"]
        page.get_by_label("6-digit code").fill(second_factors.code_of(secret))
        page.get_by_role("button", name="Turn on").click()
        expect(page.locator(".codes li")).to_have_count(10)

        open_section(page, "API keys")
        page.get_by_label("Name").fill("Expenses")
        page.get_by_label(
            "write upload; together with read, also correct, approve and delete"
        ).uncheck()
        page.get_by_role("button", name="Create key").click()
        secret = page.locator(".secret code").inner_text()
        key = page.request.get("/v1/key", headers={"X-API-Key": secret}).json()

        # Browsers apply the page's policy to the redirects of its forms.
        open_section(page, "Billing")
        page.get_by_role("button", name="Choose Indie").click()
        page.get_by_role("button", name="Pay").click()
        expect(page.get_by_role("status")).to_contain_text("Thank you.")
        expect(page.get_by_role("heading", name="Your plan: Indie")).to_be_visible()

    assert ("Expenses", ["read"]) == (key["name"], key["scopes"])


def make_receipts(folder: Path) -> list[Path]:
    """Print two receipts."""
    made = {name: make_documents.till_receipt(name) for name in ("A-1", "A-2")}
    for name, receipt in made.items():
        (folder / f"{name}.pdf").write_bytes(drawing.pdf(receipt.rows))
    return [folder / f"{name}.pdf" for name in made]


def test_dropped_receipts_appear_when_they_are_read(
    site: Site, address: Address, tmp_path: Path
) -> None:
    with site.visit() as page:
        sign_up(page, address("jan"))
        bar = page.get_by_role("navigation", name="Main, phone")
        bar.get_by_role("link", name="Inbox", exact=True).click()
        # The page takes them anywhere, and sends them at once.
        browser.drop(page, *make_receipts(tmp_path))
        expect(page.locator("#uploads").get_by_text("Uploaded", exact=True)).to_have_count(2)
        # The page polls; no reload is needed.
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)
        expect(page.get_by_text("2 on this page")).to_be_visible()
        assert browser.width(page) <= browser.PHONE[0]
        page.get_by_role("link", name="KEDAI KOPI").first.click()
        expect(page.get_by_label("Date", exact=True)).to_have_value("2025-03-14")
        expect(page.get_by_label("Time")).to_have_value("12:41:00")
        expect(page.get_by_label("UTC offset")).to_have_value("+08:00")
        assert browser.width(page) <= browser.PHONE[0]
        page.get_by_role("link", name="Delete").click()
        page.get_by_role("button", name="Delete").click()
        expect(page.get_by_text("34.15 MYR")).to_have_count(1)


def test_receipts_are_uploaded_from_the_home_page(
    site: Site, address: Address, tmp_path: Path
) -> None:
    with site.visit() as page:
        sign_up(page, address("joy"))
        dropped, chosen = make_receipts(tmp_path)
        browser.drop(page, dropped)
        expect(page.locator("#uploads").get_by_text("Uploaded", exact=True)).to_have_count(1)
        with page.expect_file_chooser() as choosing:
            page.get_by_text("Upload receipts", exact=True).click()
        choosing.value.set_files(chosen)
        expect(page.get_by_role("heading", name="2 uploaded")).to_be_visible()
        page.get_by_role("link", name="Open receipt").first.click()
        expect(page.get_by_role("heading", name="KEDAI KOPI")).to_be_visible()


def test_receipts_work_without_javascript(site: Site, address: Address, tmp_path: Path) -> None:
    with site.visit(javascript=False) as page:
        sign_up(page, address("kim"))
        page.goto("/portal/receipts")
        page.locator("#file").set_input_files(make_receipts(tmp_path)[0])
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_role("heading", name="KEDAI KOPI")).to_be_visible()
        expect(page.get_by_text("34.15 MYR").first).to_be_visible()
