"""Times in the time zone of the reader, in a real browser."""

import datetime as dt
import re
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests import drawing, make, make_documents
from tests.people import PASSWORD
from tests.portal.browser import DESK, PHONE, Address, Site, upload, violations, width

# One browser at a time, however many processes run the tests.
pytestmark = pytest.mark.xdist_group("browser")

# The day is another one than in UTC for half of the hours.
ZONE = "Pacific/Kiritimati"
# Loads the page again and waits for its parts.
POLL = """() => new Promise((done) => {
  document.addEventListener("recibo:shown", done, {once: true});
  document.dispatchEvent(new Event("recibo:changed"));
}).then(() => null)"""


def sign_up(page: Page, email: str) -> None:
    """Sign the browser in as the owner of an organization."""
    body = {"email": email, "password": PASSWORD, "org_name": "Padaria Aurora"}
    assert page.request.post("/v1/auth/signup", data=body).ok


def local(time: Locator) -> dt.datetime:
    """Return the time of an element in the zone of the reader."""
    text = time.get_attribute("datetime")
    assert text
    assert text.endswith("Z")
    return dt.datetime.fromisoformat(text).astimezone(ZoneInfo(ZONE))


@pytest.mark.parametrize(
    ("language", "pattern", "note"),
    [
        ("en-US", "{:%b} {:%-d}, {:%Y, %H:%M:%S}", f"Times are those of {ZONE};"),
        ("pt-BR", "{:%d/}{:%m}{:/%Y, %H:%M:%S}", f"Os horários são os de {ZONE};"),
    ],
)
def test_times_are_those_of_the_reader(
    site: Site, address: Address, language: str, pattern: str, note: str
) -> None:
    with site.visit(size=DESK, language=language, zone=ZONE) as page:
        sign_up(page, address(f"ana-{language}".lower()))
        page.goto("/portal/audit")
        time = page.locator(".entry time").first
        when = local(time)
        expect(time).to_have_text(pattern.format(when, when, when))
        expect(time).to_have_attribute("title", re.compile("UTC$"))
        expect(page.locator(".card-f")).to_contain_text(note)
        assert [] == violations(page)


def test_times_are_utc_and_say_so_without_javascript(site: Site, address: Address) -> None:
    with site.visit(size=DESK, javascript=False, zone=ZONE) as page:
        sign_up(page, address("bea"))
        page.goto("/portal/audit")
        when = local(page.locator(".entry time").first).astimezone(dt.UTC)
        expected = f"{when:%b} {when.day}, {when:%Y, %H:%M:%S} UTC"
        expect(page.locator(".entry time").first).to_have_text(expected)
        expect(page.locator(".card-f")).to_contain_text("Times are UTC.")


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_dates_of_receipts_and_months_stay_as_printed(
    site: Site, address: Address, zone: str
) -> None:
    with site.visit(size=DESK, zone=zone) as page:
        sign_up(page, address("cid"))
        content = drawing.pdf(make_documents.till_receipt("C-1").rows)
        (path,) = upload(page, content)
        page.goto("/portal/receipts")
        expect(page.locator(".c-date time")).to_have_text("Mar 14, 2025")
        page.goto(path)
        expect(page.get_by_label("Date", exact=True)).to_have_value("2025-03-14")
        expect(page.get_by_label("Time")).to_have_value("12:41:00")
        uploaded = page.locator(".f", has_text="Uploaded").locator("time")
        expect(uploaded).to_have_text(re.compile(r"^\w{3} \d+, \d{4}, \d\d:\d\d$"))
        page.goto("/portal/analytics?from=2025-03-01&to=2025-03-31")
        expect(page.locator("summary", has_text="Mar 1, 2025 – Mar 31, 2025")).to_be_visible()


def test_times_stay_when_the_page_is_polled(site: Site, address: Address) -> None:
    with site.visit(size=DESK, zone=ZONE) as page:
        sign_up(page, address("dora"))
        secret = page.request.post(
            "/v1/api-keys", data={"name": "k", "scopes": ["read", "write"]}
        ).json()["secret"]
        file: FilePayload = {
            "name": "a.jpg",
            "mimeType": "image/jpeg",
            "buffer": make.jpeg("nothing"),
        }
        failed = page.request.post(
            "/v1/extract", headers={"X-API-Key": secret}, multipart={"file": file}
        )
        assert 422 == failed.status
        page.goto("/portal/receipts")
        time = page.locator(".m-sub time")
        when = local(time)
        expect(time).to_have_text(f"{when:%b} {when.day}, {when.year}")
        time.evaluate("one => { one.isKept = true; }")
        page.evaluate(POLL)
        # It is the same element: nothing changed.
        assert time.evaluate("one => one.isKept")
        expect(time).to_have_text(f"{when:%b} {when.day}, {when.year}")


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_sessions_show_when_they_began_and_were_used(
    site: Site, address: Address, size: tuple[int, int]
) -> None:
    with site.visit(size=size, zone=ZONE) as page:
        email = address(f"eva{size[0]}")
        sign_up(page, email)
        body = {"email": email, "password": PASSWORD}
        assert page.request.post("/v1/auth/login", data=body).ok
        page.goto("/portal/security")
        rows = page.locator(".sessions li")
        expect(rows).to_have_count(2)
        for text, count in (("active now", 1), ("last seen", 2)):
            times = rows.filter(has_text=text).locator("time")
            expect(times).to_have_count(count)
            for time in times.all():
                when = local(time)
                expect(time).to_have_text(f"{when:%b} {when.day}, {when:%Y, %H:%M}")
        assert width(page) <= size[0]
