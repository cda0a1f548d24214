"""A person at a browser, from the form to the mail and back."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
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
from tests.portal.browser import Site

# One server and one browser, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")

OTHER = "another long password"
HOSTILE = "</pre><script>alert(1)</script>"
PAGES = [
    "sign-in", "sign-up", "forgot-password", "magic-link", "magic-link?token=x", "verify-email",
    "reset-password", "reset-password?token=x", "accept-invite", "accept-invite?token=x", "nowhere",
]  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One server and one browser for all; each test has people and a window of its own."""
    with browser.run_site(tmp_path_factory.mktemp("data")) as opened:
        yield opened


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
    """Leave, from home."""
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("status")).to_have_text("You are signed out.")


def expect_home(page: Page, email: str) -> None:
    """Insist that somebody is signed in and sees it."""
    expect(page.get_by_role("definition").first).to_have_text(email)


def asked(page: Page, path: str, **body: str) -> dict[str, Any]:
    """Ask the API for what has no page yet, in the name of whoever is signed in."""
    answer = page.request.post(path, data=body)
    assert answer.ok, answer.text()
    told: dict[str, Any] = answer.json()
    return told


def test_documents_of_the_api_show_under_their_policy(place: Site) -> None:
    with place.visit(size=(1200, 900)) as page:
        page.goto("/docs")
        page.get_by_text("/v1/extract", exact=True).click()

        expect(page.get_by_text("Idempotency-Key").first).to_be_visible()


def test_signing_up_out_and_in_again(place: Site) -> None:
    with place.visit() as page:
        page.goto("/")
        expect(page).to_have_title("Sign in · Recibo")
        sign_up(page, "ana@browser.test")
        sign_out(page)
        page.goto("/portal")
        sign_in(page, "ana@browser.test")
        expect_home(page, "ana@browser.test")


def test_wrong_password_is_told_and_the_next_try_begins_there(place: Site) -> None:
    with place.visit() as page:
        sign_up(page, "bea@browser.test")
        sign_out(page)
        sign_in(page, "bea@browser.test", OTHER)
        expect(page.get_by_role("alert")).to_contain_text("is wrong")
        expect(page.get_by_label("Email")).to_have_value("bea@browser.test")
        expect(page.get_by_label("Password")).to_be_focused()
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        expect_home(page, "bea@browser.test")


def test_address_is_confirmed_by_the_mail(place: Site) -> None:
    with place.visit() as page:
        sign_up(page, "cora@browser.test")
        expect(page.get_by_text("Please confirm your email address")).to_be_visible()
        page.goto(place.link_to("cora@browser.test", "verify-email"))
        page.get_by_role("button", name="Confirm address").click()
        page.get_by_role("link", name="Continue").click()
        expect_home(page, "cora@browser.test")
        expect(page.get_by_text("Please confirm your email address")).to_be_hidden()


def test_signing_in_by_the_link_of_a_mail(place: Site) -> None:
    with place.visit() as page:
        sign_up(page, "dora@browser.test")
        sign_out(page)
        page.get_by_label("Email").fill("dora@browser.test")
        page.get_by_role("button", name="Email me a sign-in link").click()
        expect(page.get_by_role("heading")).to_have_text("Check your email")
        link = place.link_to("dora@browser.test", "magic-link")
    # Opened by a program first, as mails are looked through.
    with place.visit() as page:
        page.goto(link)
    with place.visit() as page:
        page.goto(link)
        page.get_by_role("button", name="Sign in").click()
        expect_home(page, "dora@browser.test")


def test_token_of_a_link_is_told_to_nobody(place: Site) -> None:
    referrers: list[str] = []
    with place.visit() as page:
        page.on("request", lambda request: referrers.append(request.headers.get("referer", "")))
        page.goto("/portal/magic-link?token=secret")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("ask for a new one")
        page.get_by_role("link", name="Request a new link").click()
        expect(page).to_have_title("Sign in · Recibo")

    assert {"", f"{place.server.url}/"} == set(referrers)


def test_second_factor_is_asked_for(place: Site) -> None:
    with place.visit() as page:
        sign_up(page, "eva@browser.test")
        secret = asked(page, "/v1/auth/2fa/enroll")["secret"]
        code = second_factors.code_of(secret)
        codes = asked(page, "/v1/auth/2fa/enroll/verify", code=code)["recovery_codes"]
        sign_out(page)

        sign_in(page, "eva@browser.test")
        expect(page.get_by_label("6-digit code")).to_be_focused()
        page.keyboard.type(second_factors.code_of(secret))
        page.keyboard.press("Enter")
        expect_home(page, "eva@browser.test")
        sign_out(page)

        sign_in(page, "eva@browser.test")
        page.get_by_role("link", name="Use a recovery code").click()
        page.get_by_label("Recovery code").fill(codes[0])
        page.get_by_role("button", name="Continue").click()
        expect_home(page, "eva@browser.test")


def test_password_is_reset_by_the_link_of_a_mail(place: Site) -> None:
    with place.visit() as page:
        sign_up(page, "fay@browser.test")
        sign_out(page)
        page.get_by_role("link", name="Forgot your password?").click()
        page.get_by_label("Email").fill("fay@browser.test")
        page.get_by_role("button", name="Email me a link").click()
        page.goto(place.link_to("fay@browser.test", "reset-password"))
        page.get_by_label("New password").fill(OTHER)
        page.get_by_role("button", name="Set password").click()
        page.get_by_role("link", name="Sign in").click()
        sign_in(page, "fay@browser.test", OTHER)
        expect_home(page, "fay@browser.test")


def test_invited_person_joins_and_sets_a_password(place: Site) -> None:
    with place.visit() as page:
        sign_up(page, "gil@browser.test")
        asked(page, "/v1/org/members", email="hal@browser.test", role="viewer")
    with place.visit() as page:
        page.goto(place.link_to("hal@browser.test", "accept-invite"))
        page.get_by_role("button", name="Accept invitation").click()
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_role("button", name="Set password").click()
        expect_home(page, "hal@browser.test")
        expect(page.get_by_role("definition").nth(1)).to_have_text("Padaria Aurora")
        sign_out(page)
        sign_in(page, "hal@browser.test")
        expect_home(page, "hal@browser.test")


@contextmanager
def receiver(calls: list[tuple[dict[str, str], bytes]]) -> Iterator[str]:
    """Take webhooks, and answer what would do harm in a page; give the address."""

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
    """Look again and again, as a person would; the runner ends what never comes."""
    while text not in page.locator("main").inner_text():
        page.reload()


def test_webhooks_are_set_tested_and_sent_again(place: Site) -> None:
    calls: list[tuple[dict[str, str], bytes]] = []
    with receiver(calls) as url, place.visit() as page:
        sign_up(page, "ida@browser.test")
        page.get_by_role("link", name="Webhooks").click()
        page.get_by_label("Endpoint URL").fill("ftp://a.test/")
        page.get_by_role("button", name="Set").click()
        expect(page.get_by_text("Endpoint URL must be a URL that begins")).to_be_visible()
        expect(page.get_by_label("Endpoint URL")).to_be_focused()
        page.get_by_label("Endpoint URL").fill(url)
        page.get_by_role("button", name="Set").click()
        expect(page.get_by_role("status")).to_contain_text("The endpoint is set.")
        before = page.locator("code.secret").first.inner_text()
        page.get_by_role("button", name="Rotate").first.click()
        expect(page.get_by_text("The previous secret stays valid until")).to_be_visible()
        after = page.locator("code.secret").first.inner_text()
        page.get_by_role("button", name="Send a test event").click()
        reload_until(page, "Delivered")
        page.locator("summary", has_text="webhook.test").click()
        expect(page.get_by_text(HOSTILE)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= browser.PHONE[0]
        page.get_by_role("link", name="Details").click()
        page.get_by_role("button", name="Send again").click()
        expect(page.get_by_role("status")).to_contain_text("on its way again")
        reload_until(page, "Delivered")
        expect(page.get_by_text(HOSTILE)).to_have_count(2)
        assert page.evaluate("document.documentElement.scrollWidth") <= browser.PHONE[0]
        page.get_by_role("link", name="Webhooks").click()
        page.get_by_text("Remove the endpoint").click()
        page.get_by_role("button", name="Remove it").click()
        expect(page.get_by_label("Endpoint URL")).to_have_value("")

    assert 2 == len(calls)
    assert before != after
    for headers, body in calls:
        for secret in (before, after):
            assert "webhook.test" == Webhook(secret).verify(body, headers)["type"]


def test_pages_fit_the_narrowest_phone(place: Site) -> None:
    with place.visit() as page:
        for path in PAGES:
            page.goto(f"/portal/{path}")
            assert page.evaluate("document.documentElement.scrollWidth") <= browser.PHONE[0], path
        sign_up(page, f"{'long' * 15}@{'very-' * 10}long.browser.test")
        sections = page.get_by_label("Sections").get_by_role("link").all()
        for path in ["/portal", *(link.get_attribute("href") or "" for link in sections)]:
            page.goto(path)
            assert page.evaluate("document.documentElement.scrollWidth") <= browser.PHONE[0], path

        assert len(sections) > 8


def test_app_is_scanned_a_key_made_and_a_plan_bought_without_scripts(place: Site) -> None:
    with place.visit(javascript=False) as page:
        sign_up(page, "jil@browser.test")
        page.get_by_role("link", name="Security").click()
        page.get_by_role("button", name="Set up").click()
        picture = page.get_by_role("img", name="QR code").screenshot()
        (scanned,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(picture)))
        (secret,) = parse_qs(urlsplit(scanned.text).query)["secret"]
        page.get_by_label("6-digit code").fill(second_factors.code_of(secret))
        page.get_by_role("button", name="Turn on").click()
        expect(page.locator(".codes li")).to_have_count(10)

        page.get_by_role("link", name="API keys").click()
        page.get_by_label("Name").fill("Expenses")
        page.get_by_label("write upload; together with read, also delete").uncheck()
        page.get_by_role("button", name="Create key").click()
        secret = page.locator("code.secret").inner_text()
        told = page.request.get("/v1/key", headers={"X-API-Key": secret}).json()

        # Browsers ask the policy of a page where its forms may lead in the end.
        page.get_by_role("link", name="Billing").click()
        page.get_by_role("button", name="Choose Indie").click()
        page.get_by_role("button", name="Pay").click()
        expect(page.get_by_role("status")).to_contain_text("Thank you.")
        expect(page.get_by_role("heading", name="Your plan: Indie")).to_be_visible()

    assert ("Expenses", ["read"]) == (told["name"], told["scopes"])


def drop(page: Page, *files: Path) -> None:
    """Drop files on the field of the form, as a hand does: the browser itself takes them."""
    box = page.locator("#file").bounding_box()
    assert box is not None
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    devtools = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": box["x"] + 40, "y": box["y"] + 20, "data": data}
        devtools.send("Input.dispatchDragEvent", event)


def papers(folder: Path) -> list[Path]:
    """Print two receipts."""
    made = {name: make_documents.till_receipt(name) for name in ("A-1", "A-2")}
    for name, paper in made.items():
        (folder / f"{name}.pdf").write_bytes(drawing.pdf(paper.rows))
    return [folder / f"{name}.pdf" for name in made]


def test_receipts_are_dropped_and_show_when_they_are_read(place: Site, tmp_path: Path) -> None:
    with place.visit() as page:
        sign_up(page, "jan@browser.test")
        page.get_by_role("link", name="Receipts").first.click()
        drop(page, *papers(tmp_path))
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_role("status").first).to_contain_text("Uploaded.")
        # Nobody loads the page anew: it looks again by itself.
        expect(page.get_by_text("34.15 MYR")).to_have_count(2)
        expect(page.get_by_text("2 on this page")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= browser.PHONE[0]
        page.get_by_role("link", name="KEDAI KOPI").first.click()
        expect(page.get_by_text("2025-03-14 12:41:00 UTC+08:00")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= browser.PHONE[0]
        page.get_by_role("link", name="Delete").click()
        page.get_by_role("button", name="Delete").click()
        expect(page.get_by_text("34.15 MYR")).to_have_count(1)


def test_receipts_need_no_scripts(place: Site, tmp_path: Path) -> None:
    with place.visit(javascript=False) as page:
        sign_up(page, "kim@browser.test")
        page.goto("/portal/receipts")
        page.locator("#file").set_input_files(papers(tmp_path)[0])
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_role("heading", name="KEDAI KOPI")).to_be_visible()
        expect(page.get_by_text("34.15 MYR")).to_be_visible()
