"""The development inbox: unsent mail, shown to browsers on the same machine."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests import installation
from tests.installation import Installation
from tests.portal import accounts, pages

INBOX = "/portal/inbox"
# What a browser on the same machine sends.
LOCAL = {"Host": "127.0.0.1:8000"}


@pytest.fixture
async def mailing(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service with a mail in its outbox, and a browser on the same machine."""
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as service:
        write(service, "20260314T081742.000001Z-00000001", "First")
        write(service, "20260314T081743.000001Z-00000002", "Your sign-in link")
        yield service


def write(i: Installation, name: str, subject: str) -> None:
    """Put a mail into the outbox, as the service does."""
    outbox = i.services.outbox
    assert outbox is not None
    outbox.mkdir(exist_ok=True)
    text = (
        f"From: no-reply@localhost\nTo: ana@people.test\nSubject: {subject}\n"
        "Content-Type: text/plain; charset=utf-8\n\n"
        "Sign in:\nhttp://elsewhere.test:9/portal/magic-link?token=abc&next=/portal/audit\n"
        "<script>alert(1)</script> https://example.com/help\n"
    )
    (outbox / f"{name}.eml").write_text(text)


async def test_mails_are_listed_newest_first_and_their_links_work_here(
    mailing: Installation,
) -> None:
    listed = await mailing.stranger.get(INBOX, headers=LOCAL)
    paths = [link for link in pages.parse(listed).links if link.startswith(f"{INBOX}/")]
    mail = await mailing.stranger.get(paths[0], headers=LOCAL)

    assert 2 == len(paths)
    assert (
        "Your sign-in link To ana@people.test Mar 14, 2026, 08:17 UTC" in pages.parse(listed).text
    )
    page = pages.parse(mail)
    assert "Your sign-in link · Recibo" == page.title
    assert "/portal/magic-link?token=abc&next=/portal/audit" in page.links
    assert "https://example.com/help" in page.links
    assert "<script>alert(1)" not in mail.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.test"},
        {"Host": "127.0.0.1.attacker.test"},
        {**LOCAL, "X-Forwarded-For": "203.0.113.7"},
        {**LOCAL, "Forwarded": "for=203.0.113.7"},
        {**LOCAL, "Via": "1.1 proxy"},
    ],
    ids=str,
)
async def test_requests_from_other_machines_get_no_inbox(
    mailing: Installation, headers: dict[str, str]
) -> None:
    answers = [
        await mailing.stranger.get(path, headers=headers)
        for path in (INBOX, f"{INBOX}/20260314T081742.000001Z-00000001")
    ]

    assert [404, 404] == [answer.status_code for answer in answers]


async def test_other_machines_find_no_inbox_and_no_link_to_it(mailing: Installation) -> None:
    transport = httpx.ASGITransport(mailing.asgi, client=("192.168.1.7", 9))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as other:
        refused = await other.get(INBOX)
        sent = await other.post("/portal/forgot-password", data={"email": accounts.EMAIL})

    assert 404 == refused.status_code
    assert INBOX not in pages.parse(sent).links
    assert "development" in pages.parse(sent).text


@pytest.mark.parametrize(
    "name",
    ["nothing", "..%2f..%2fsecret_key", "20260314T081742.000001Z-00000009", "%00", "x" * 300],
)
async def test_only_mails_of_the_outbox_are_shown(mailing: Installation, name: str) -> None:
    assert 404 == (await mailing.stranger.get(f"{INBOX}/{name}", headers=LOCAL)).status_code


async def test_an_empty_inbox_says_so(sqlite_service: Installation) -> None:
    page = pages.parse(await sqlite_service.stranger.get(INBOX, headers=LOCAL))

    assert "No mail yet" in page.text


async def test_there_is_no_inbox_with_real_mail(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(
        sqlite_url, tmp_path, with_worker=False, email_url="smtp://127.0.0.1:1"
    ) as service:
        refused = await service.stranger.get(INBOX, headers=LOCAL)
        sent = await service.stranger.post(
            "/portal/forgot-password", data={"email": accounts.EMAIL}, headers=LOCAL
        )

    assert 404 == refused.status_code
    assert "development" not in pages.parse(sent).text


async def test_every_page_about_a_sent_mail_links_to_the_inbox(
    sqlite_service: Installation,
) -> None:
    client = sqlite_service.stranger
    client.headers.update(LOCAL)
    await accounts.sign_up(client)
    answers = [
        await client.get("/portal"),
        await client.post("/portal/verify-email/resend"),
        await client.post("/portal/magic-link/request", data={"email": accounts.EMAIL}),
        await client.post("/portal/forgot-password", data={"email": accounts.EMAIL}),
        await client.get("/portal/members?notice=invited"),
    ]

    assert [True] * 5 == [INBOX in pages.parse(answer).links for answer in answers]
