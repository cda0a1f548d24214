"""Every page in Portuguese: no English text remains."""

import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure
from recibo.adapters.reader_process.failures import FailureKind
from recibo.extract.errors import Unreadable
from recibo.schemas.states import Role
from tests import make, people
from tests.installation import Installation
from tests.portal import forms, receipt_pages, webhook_pages
from tests.portal.review_pages import FILES, Review, make_receipt

#: Receipts by email are on; nothing listens there.
MAILBOX = {
    "inbox_url": "imap://receipts:secret@127.0.0.1:1",
    "inbox_address": "receipts@recibo.test",
}
VISITORS_PAGES = (
    "/portal/sign-in", "/portal/sign-in?notice=left", "/portal/sign-up", "/portal/forgot-password",
    "/portal/magic-link", "/portal/verify-email", "/portal/reset-password",
    "/portal/accept-invite", "/portal/nowhere",
)  # fmt: skip
BROKEN = make.jpeg("unreadable")
STARTS = ("/portal", "/portal/webhooks/new", "/portal/receipts?upload=yes")
# They are no pages, or have the texts of developers.
NO_PAGES = re.compile(
    r"/portal/(static|style|inbox|receipts/export|receipts/\w+/(file|json|pages))"
)
# A page for each kind is enough.
ID = re.compile(r"[a-z]+_[A-Za-z0-9]{20,}|\b[0-9a-f-]{32,36}\b")
_ATTRIBUTES = ("alt", "aria-label", "placeholder", "title")
_UNREAD = frozenset({"code", "pre", "script", "style", "svg"})
# Words that are the same in both languages, names of things, and what programs read.
SAME = {
    "API", "Base", "Cupom fiscal", "CSV", "Endpoint", "Endpoints", "English", "Enter", "Esc", "EUR",
    "Excel (XLSX)", "ID", "Indie", "Item", "JSON", "JSON Lines", "NF-e", "NFC-e", "NFS-e", "PDF",
    "Pix", "Python", "Português", "Recibo", "Scale", "Startup", "Subtotal", "Total", "URL", "UTC",
    "Webhooks", "curl", "read", "webhook.test", "write",
}  # fmt: skip
# Of the data: names, addresses, files, amounts and codes.
DATA = re.compile(
    r"Ana|Café Brisa|DE812345679|Feinkost Lindner|Leite|Mercado Sol|PAO FRANCES|Padaria Aurora|Pão|"
    r"Chave um|python-httpx|org\.created|test\b|\S+@\S+\.test|https?://\S+|\w+\.jpg|receipt\.\w+|usage\.\w+|[a-z]+:write|"
    r"(pk|sk)_\w+|org-\w+|padaria-\w+|\b[A-Z]{3}\b|\d[\d.,:/%+ -]*(kB|MB|ms|s|UTC)?"
)


class _Texts(HTMLParser):
    """Collects what people read or hear: texts of elements and attributes, without code."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.links: list[str] = []
        self._unread = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self._unread += tag in _UNREAD
        self.found |= {str(attributes[name]) for name in _ATTRIBUTES if attributes.get(name)}
        if tag == "a":
            self.links.append(str(attributes.get("href", "")))

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in _UNREAD

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.found.add(" ".join(data.split()))


def texts(answer: httpx.Response) -> _Texts:
    parser = _Texts()
    parser.feed(answer.text)
    return parser


def remaining(english: httpx.Response, portuguese: httpx.Response) -> set[str]:
    """Return the texts that are equal on both pages, without data and what may be equal."""
    both = texts(english).found & texts(portuguese).found
    return {
        text
        for text in {text.removesuffix(" · Recibo") for text in both}
        if text not in SAME and re.search(r"[^\W\d_]{2,}", DATA.sub(" ", text))
    }


async def in_both(i: Installation, path: str) -> tuple[httpx.Response, httpx.Response]:
    """Return a page in English and in Portuguese."""
    english = await i.stranger.get(path, headers={"Accept-Language": "en"})
    portuguese = await i.stranger.get(path, headers={"Accept-Language": "pt-BR"})
    assert "pt-BR" == portuguese.headers["content-language"], path
    return english, portuguese


def kind(path: str) -> str:
    """Return the path of a page without ids, and the filters that are on it."""
    parts = urlsplit(path)
    names = sorted(part.partition("=")[0] for part in parts.query.split("&") if part)
    return f"{ID.sub('*', parts.path)}?{'&'.join(names)}"


def pages_in(answer: httpx.Response, path: str) -> Iterator[str]:
    """Yield the pages that a page links to."""
    for link in texts(answer).links:
        target = str(httpx.URL(f"http://x{path}").join(link).copy_with(fragment=None))
        local = target.removeprefix("http://x")
        # Each filter is on a page of its own; their combinations have the same texts.
        is_combined = local.count("=") > 1
        if local.startswith("/portal") and not (is_combined or NO_PAGES.match(local)):
            yield local


async def crawled(i: Installation, *starts: str) -> dict[str, set[str]]:
    """Return the English texts that remain on each kind of page that is linked."""
    waiting, seen, found = list(starts), set[str](), {}
    while waiting:
        path = waiting.pop()
        if kind(path) in seen:
            continue
        seen.add(kind(path))
        english, portuguese = await in_both(i, path)
        if english.status_code == httpx.codes.OK:
            found[path] = remaining(english, portuguese)
            waiting += pages_in(english, path)
    return found


@asynccontextmanager
async def used_org(database_url: str, folder: Path) -> AsyncIterator[Installation]:
    """Run an installation whose organization has something on every page."""
    merchants = ("Padaria Aurora", "Café Brisa", "Mercado Sol")
    answers = dict(zip(FILES, map(make_receipt, merchants), strict=True))
    failed = Failure(FailureKind.UNREADABLE, str(Unreadable()))
    reader = FakeReader({**answers, BROKEN: failed})
    async with receipt_pages.run_service(database_url, folder, reader, **MAILBOX) as (i, owner):
        ids = [await receipt_pages.upload(i, data) for data in (*FILES, BROKEN)]
        for receipt_id in ids:
            await receipt_pages.read_receipt(i, owner, receipt_id)
        await Review(i, owner, ids).post(1, do="approve", total="41.20")
        await people.joined(i, owner, Role.DEVELOPER)
        await forms.submit(i, "/portal/webhooks", url=webhook_pages.URL)
        await forms.submit(i, "/portal/webhooks/test")
        await forms.submit(i, "/portal/organization/email/create")
        await forms.submit(i, "/portal/members/invite", email="carla@people.test", role=Role.VIEWER)
        await i.stranger.post(
            "/portal/keys", data={"name": "Chave um", "kind": "secret", "read": "on"}
        )
        yield i


async def test_no_english_remains_for_members(sqlite_url: str, tmp_path: Path) -> None:
    async with used_org(sqlite_url, tmp_path) as i:
        found = await crawled(i, *STARTS)

    assert "" == "\n".join(f"{path}: {sorted(texts)}" for path, texts in found.items() if texts)
    assert {kind(path) for path in found} >= {
        "/portal?", "/portal/receipts?", "/portal/receipts/*?", "/portal/keys?",
        "/portal/members?", "/portal/billing?", "/portal/organization?", "/portal/security?",
        "/portal/audit?", "/portal/analytics?", "/portal/webhooks?", "/portal/webhooks/events/*?",
        "/portal/organization/email?",
    }  # fmt: skip


async def test_no_english_remains_for_visitors(sqlite_service: Installation) -> None:
    found = {path: remaining(*await in_both(sqlite_service, path)) for path in VISITORS_PAGES}

    assert "" == "\n".join(f"{path}: {sorted(texts)}" for path, texts in found.items() if texts)
