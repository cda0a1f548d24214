"""Publishable keys: what a browser may do with one, and what it sees."""

import asyncio
import datetime as dt
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind
from recibo.lib import clock
from recibo.schemas.ids import OrgId
from recibo.store.tables import ApiKey, AuditEvent, Receipt
from tests import installation, make
from tests.databases import ON_BOTH, ON_SQLITE
from tests.installation import Installation, client_of, document

pytestmark = ON_SQLITE

DOCUMENT = make.jpeg("document")
HEADER = "X-Session-Token"
COOKIE = "service_browser"
DAY = dt.timedelta(days=1)
MINUTE = dt.timedelta(minutes=1)


@dataclass
class Browser:
    """Pages of one browser that use a publishable key."""

    client: httpx.AsyncClient
    secret: str
    #: What the page kept of the first upload; the cookie alone is sent when it keeps nothing.
    token: str | None = None

    async def extract(self, data: bytes = DOCUMENT, **fields: str) -> httpx.Response:
        """Upload a file."""
        files = {"file": ("receipt.jpg", data, "image/jpeg")}
        return await self._ask("POST", "/v1/extract", files=files, data=fields)

    async def extracted(self, data: bytes = DOCUMENT, **fields: str) -> dict[str, Any]:
        """Upload a file that is read, and return its receipt."""
        answer = await self.extract(data, **fields)
        assert answer.status_code == 200, answer.text
        return cast("dict[str, Any]", answer.json())

    async def get(self, path: str, **query: str) -> httpx.Response:
        """Ask for something under /v1."""
        return await self._ask("GET", f"/v1{path}", params=query)

    async def ids(self) -> list[str]:
        """Return the receipts of the list."""
        answer = await self.get("/receipts")
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()["data"]]

    async def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"X-API-Key": self.secret}
        if self.token is not None:
            headers[HEADER] = self.token
        return await self.client.request(method, path, headers=headers, **options)


@asynccontextmanager
async def browser(
    i: Installation, secret: str, *, address: str = "127.0.0.1"
) -> AsyncIterator[Browser]:
    """Open a browser that has no cookie yet."""
    async with client_of(i.asgi, address=address) as client:
        yield Browser(client, secret)


@pytest.fixture
async def secret(service: Installation) -> str:
    """A publishable key of the demo org, whose secret key the installation has."""
    return await publishable(service)


async def publishable(i: Installation) -> str:
    """Add a publishable key to the demo org."""
    org_id = (await i.get("/key")).json()["org_id"]
    return await make.publishable_key(i.database, OrgId(org_id))


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return status and code of an error."""
    return answer.status_code, answer.json()["error"]["code"]


@ON_BOTH
async def test_only_the_first_upload_returns_a_session(service: Installation, secret: str) -> None:
    async with browser(service, secret) as page:
        first = await page.extract()
        later = await page.extract(make.jpeg("other"))

    assert (200, 200) == (first.status_code, later.status_code)
    token = first.headers[HEADER]
    cookie = first.headers["Set-Cookie"]
    assert [f"{COOKIE}={token}"] == re.findall(rf"^{COOKIE}=[^;]+", cookie)
    assert {"HttpOnly", "Path=/", "SameSite=Lax", "Max-Age=86400"} == set(cookie.split("; ")[1:])
    assert HEADER not in later.headers
    assert "Set-Cookie" not in later.headers
    assert first.json()["created_by"] == later.json()["created_by"]
    assert re.fullmatch(r"bse_[0-9a-f]{32}", first.json()["created_by"])


async def test_cookie_goes_over_tls_only_in_production(sqlite_url: str, tmp_path: Path) -> None:
    settings = {
        "environment": "production",
        "secret_key": "s" * 40,
        "base_url": "https://recibo.test",
        "email_url": "smtp://127.0.0.1:1",
    }
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as i:
        secret = await make.publishable_key(i.database, await make.org(i.database))
    async with (
        installation.start(sqlite_url, tmp_path, **cast("Any", settings)) as i,
        browser(i, secret) as page,
    ):
        answer = await page.extract()

    assert "Secure" in answer.headers["Set-Cookie"].split("; ")


@pytest.mark.parametrize("by", ["header", "cookie"])
async def test_two_sessions_of_one_key_do_not_see_each_other(
    service: Installation, secret: str, by: str
) -> None:
    async with browser(service, secret) as anas, browser(service, secret) as beas:
        own, foreign = await anas.extract(), await beas.extract(make.jpeg("bea"))
        if by == "header":
            for page, answer in ((anas, own), (beas, foreign)):
                page.token = answer.headers[HEADER]
                page.client.cookies.clear()
        path, other = (f"/receipts/{one.json()['id']}" for one in (own, foreign))

        assert [own.json()["id"]] == await anas.ids()
        assert [foreign.json()["id"]] == await beas.ids()
        assert own.json() == (await anas.get(path)).json()
        assert own.json() == (await anas.get(path, wait="1")).json()
        assert "evidence" in (await anas.get(path, include="evidence")).json()
        assert DOCUMENT == (await anas.get(f"{path}/file")).content
        for hidden in (other, f"{other}/file"):
            assert (404, "not_found") == refusal(await anas.get(hidden))
        assert (404, "not_found") == refusal(await anas.get(other, include="text", wait="0"))


@ON_BOTH
async def test_page_of_a_list_holds_only_what_the_session_made(
    service: Installation, secret: str
) -> None:
    async with browser(service, secret) as anas, browser(service, secret) as beas:
        made = []
        for number in range(3):
            made.append(
                (await anas.extracted(make.jpeg(f"a{number}"), metadata='{"k": "v"}'))["id"]
            )
            await beas.extracted(make.jpeg(f"b{number}"), metadata='{"k": "v"}')
        await service.extracted(make.jpeg("org"), metadata='{"k": "v"}')

        first = (await anas.get("/receipts", limit="2", **{"metadata.k": "v"})).json()
        query = {"limit": "2", "metadata.k": "v", "cursor": first["next_cursor"]}
        second = (await anas.get("/receipts", **query)).json()
        stolen = await beas.get("/receipts", **query)
        dated = (await anas.get("/receipts", after="1990-01-01")).json()["data"]

    assert made[::-1] == [one["id"] for one in first["data"] + second["data"]]
    assert (400, "validation_error") == refusal(stolen)
    assert [] == dated


async def test_without_a_session_nothing_is_seen(service: Installation, secret: str) -> None:
    async with browser(service, secret) as page:
        receipt_id = (await page.extracted())["id"]
        page.client.cookies.clear()

        assert [] == await page.ids()
        assert (404, "not_found") == refusal(await page.get(f"/receipts/{receipt_id}"))
        assert (404, "not_found") == refusal(await page.get(f"/receipts/{receipt_id}/file"))


async def test_secret_key_sees_what_browsers_made(service: Installation, secret: str) -> None:
    async with browser(service, secret) as page:
        receipt = await page.extracted()

    assert receipt == (await service.get(f"/receipts/{receipt['id']}")).json()
    assert [receipt] == (await service.get("/receipts")).json()["data"]


async def test_session_expires_after_a_day(service: Installation, secret: str) -> None:
    async with browser(service, secret) as page:
        first = await page.extract()
        # A browser drops the expired cookie; a page may keep the token.
        page.token = first.headers[HEADER]

        with clock.moved(DAY - MINUTE):
            assert [first.json()["id"]] == await page.ids()
        with clock.moved(DAY + MINUTE):
            assert [] == await page.ids()
            again = await page.extract(make.jpeg("other"))

    assert again.headers[HEADER] != first.headers[HEADER]
    assert again.json()["created_by"] != first.json()["created_by"]


async def test_session_of_another_key_counts_for_nothing(
    service: Installation, secret: str
) -> None:
    async with browser(service, secret) as page:
        first = await page.extract()
        page.secret = await publishable(service)
        page.token = first.headers[HEADER]

        assert [] == await page.ids()
        again = await page.extract()

    assert again.headers[HEADER] != first.headers[HEADER]
    assert again.json()["id"] != first.json()["id"]
    assert "Idempotent-Replayed" not in again.headers


async def test_broken_token_begins_a_new_session_and_shows_nothing(
    service: Installation, secret: str
) -> None:
    async with browser(service, secret) as page:
        good = (await page.extract()).headers[HEADER]
        head, body, signature = good.split(".")
        unsigned = "eyJhbGciOiJub25lIn0"
        turned = good[:-1] + ("B" if good.endswith("A") else "A")
        for broken in ("", "x", "a.b.c", "é" * 9, good[:-1], turned, good + "A",
                       f"{head}.{body}.", f"{unsigned}.{body}.",
                       f"{head}.{body}.{signature[::-1]}", "A" * 5000, service.secret):  # fmt: skip
            page.token = broken
            # The cookie is still good; a header that is sent is the one that counts.
            headers = [(b"x-api-key", secret.encode()), (HEADER.encode(), broken.encode("latin-1"))]
            listed = await page.client.get("/v1/receipts", headers=headers)
            assert [] == listed.json()["data"], broken
        page.token = "broken"  # noqa: S105
        again = await page.extract(make.jpeg("other"))

    assert good != again.headers[HEADER]


async def test_access_token_is_no_session(service: Installation, secret: str) -> None:
    tokens = await make.session(service.services.identity, await make.org(service.database))
    async with browser(service, secret) as page:
        page.token = tokens.access_token
        assert HEADER in (await page.extract()).headers
        assert [] == await page.ids()


@ON_BOTH
async def test_files_and_keys_are_recognised_within_the_session_only(
    service: Installation, secret: str
) -> None:
    ids = {(await service.extracted(DOCUMENT, key="k"))["id"]}
    async with browser(service, secret) as anas, browser(service, secret) as beas:
        for page in (anas, beas):
            first, again = await page.extract(), await page.extract()
            ids.add(first.json()["id"])
            assert "Idempotent-Replayed" not in first.headers
            assert ("true", first.json()) == (again.headers["Idempotent-Replayed"], again.json())
    # And back: what a browser sent first is new to the secret key, under the same key, too.
    other = make.jpeg("other")
    async with browser(service, secret) as page:
        page.client.headers["Idempotency-Key"] = "n"
        ids.add((await page.extracted(other))["id"])
        assert (409, "conflict") == refusal(await page.extract(make.jpeg("third")))
    answer = await service.extract(other, key="n")
    ids.add(answer.json()["id"])

    assert "Idempotent-Replayed" not in answer.headers
    assert 5 == len(ids) == len(await service.rows(Receipt))


@ON_BOTH
async def test_reread_knows_only_files_of_the_session(service: Installation, secret: str) -> None:
    own = await service.extracted(DOCUMENT)
    async with browser(service, secret) as page:
        read = await page.extracted(reread="true", accuracy="high")
        again = await page.extracted(reread="true", accuracy="high")

    assert read["id"] == again["id"] != own["id"]
    assert "standard" == (await service.get(f"/receipts/{own['id']}")).json()["accuracy"]


@ON_BOTH
async def test_fifty_copies_at_once_of_a_session_are_one_receipt(
    service: Installation, secret: str
) -> None:
    async with browser(service, secret) as page:
        page.token = (await page.extract(make.jpeg("first"))).headers[HEADER]
        answers = await asyncio.gather(*(page.extract() for _ in range(50)))

    assert {200} == {answer.status_code for answer in answers}
    assert 1 == len({answer.json()["id"] for answer in answers})


async def test_failures_of_another_session_are_not_visible(
    database_url: str, tmp_path: Path
) -> None:
    failure = Failure(FailureKind.UNREADABLE, "unreadable")
    reader = FakeReader({DOCUMENT: failure})
    async with installation.start(database_url, tmp_path, reader=reader) as i:
        secret = await publishable(i)
        async with browser(i, secret) as page:
            failed = [(await page.extract()).json()["error"]["receipt_id"] for _ in range(4)]
            body = (await page.get(f"/receipts/{failed[0]}")).json()
        async with browser(i, secret) as other:
            foreign = (await other.extract()).json()["error"]["receipt_id"]
        orgs = (await i.extract(DOCUMENT)).json()["error"]["receipt_id"]

    # Three tries are made within each space, the fourth is answered from its record.
    assert 3 == len(set(failed))
    assert foreign not in failed
    assert orgs not in {*failed, foreign}
    assert "failed" == body["status"]


async def test_refused_upload_returns_a_session_too(service: Installation, secret: str) -> None:
    """A receipt that failed is kept, and the page may want to show it."""
    async with browser(service, secret) as page:
        refused = await page.extract(b"")
        assert (400, "validation_error") == refusal(refused)
        page.token = refused.headers[HEADER]
        assert HEADER not in (await page.extract()).headers


async def test_what_needs_more_than_the_scope_is_403(service: Installation, secret: str) -> None:
    async with browser(service, secret) as page:
        receipt = await page.extracted()
        path = f"/v1/receipts/{receipt['id']}"
        deleted = await page.client.delete(path, headers={"X-API-Key": secret})
        for url in ("https://example.com/hook", "", "ftp://x"):
            answer = await page.extract(make.jpeg("hook"), webhook_url=url)
            assert (403, "insufficient_scope") == refusal(answer)

        assert (403, "insufficient_scope") == refusal(deleted)
        assert [receipt["id"]] == await page.ids()
    assert 1 == len(await service.rows(Receipt))


async def test_key_may_not_read_its_own_record(service: Installation, secret: str) -> None:
    """Everybody who opens the page would learn the org's usage and who made the key."""
    async with browser(service, secret) as page:
        await page.extracted()
        answer = await page.get("/key")

    assert (403, "insufficient_scope") == refusal(answer)
    assert {"code", "message", "request_id"} == set(answer.json()["error"])


async def test_key_gets_nothing_but_receipts(service: Installation, secret: str) -> None:
    """Each route of the API that takes a GET, with ids of what is there."""
    async with browser(service, secret) as page:
        await page.extracted()
        open_ones = {"/receipts", "/receipts/{receipt_id}", "/receipts/{receipt_id}/file"}
        paths = [
            path.removeprefix("/v1")
            for path, methods in document()["paths"].items()
            if path.startswith("/v1/") and "get" in methods
        ]
        refused = {
            path: (await page.get(path)).status_code
            for path in paths
            if not path.startswith("/receipts/") and path not in open_ones
        }

    assert {"/key", "/api-keys", "/audit", "/org", "/webhooks/events"} <= set(refused)
    assert {401, 403} >= set(refused.values()), refused


async def test_secret_keys_have_no_session(service: Installation, secret: str) -> None:
    """Not even one that may only upload, and shows the token of a browser."""
    async with browser(service, secret) as page:
        seen = await page.extract()
        page.secret = service.secret
        page.token = seen.headers[HEADER]
        answer = await page.extract(make.jpeg("other"))

        assert HEADER not in answer.headers
        assert "Set-Cookie" not in answer.headers
        assert answer.json()["created_by"].startswith("key_")
        assert 2 == len(await page.ids())


async def test_audit_names_the_key(service: Installation, secret: str) -> None:
    async with browser(service, secret) as page:
        receipt_id = (await page.extracted())["id"]

    [made] = [row for row in await service.rows(AuditEvent) if row.resource_id == receipt_id]
    [key] = [row for row in await service.rows(ApiKey) if row.kind == "publishable"]
    assert key.id == made.actor_api_key_id


async def test_five_uploads_a_minute_from_one_address_replays_included(
    service: Installation, secret: str
) -> None:
    other = await make.publishable_key(service.database, await make.org(service.database))
    async with (
        browser(service, secret, address="203.0.113.7") as page,
        browser(service, other, address="203.0.113.7") as blocked,
        browser(service, secret, address="203.0.113.8") as far,
    ):
        answers = [await page.extract() for _ in range(5)]
        refused = await page.extract(b"")

        assert [200] * 5 == [answer.status_code for answer in answers]
        assert (429, "rate_limit_exceeded") == refusal(refused)
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert int(refused.headers["Retry-After"]) == refused.json()["error"]["retry_after"]
        assert 429 == (await blocked.extract()).status_code
        assert 200 == (await far.extract()).status_code
        # Reads are counted by themselves, secret keys not at all.
        assert 1 == len(await page.ids())
        page.secret = service.secret
        assert 200 == (await page.extract()).status_code
        page.secret = secret
        with clock.moved(MINUTE):
            assert 200 == (await page.extract()).status_code


async def test_sixty_uploads_an_hour_from_one_address(service: Installation, secret: str) -> None:
    async with browser(service, secret, address="203.0.113.7") as page:
        for minute in range(12):
            with clock.moved(minute * MINUTE):
                answers = [await page.extract(b"") for _ in range(5)]
                assert {400} == {answer.status_code for answer in answers}
        with clock.moved(20 * MINUTE):
            refused = await page.extract()
            assert 429 == refused.status_code
            assert 30 * 60 < int(refused.headers["Retry-After"]) <= 40 * 60
        with clock.moved(61 * MINUTE):
            assert 200 == (await page.extract()).status_code


async def test_sixty_reads_a_minute_from_one_address(service: Installation, secret: str) -> None:
    async with browser(service, secret, address="203.0.113.7") as page:
        paths = ("/receipts", "/receipts/rcp_x", "/receipts/rcp_x/file") * 20
        answers = [await page.get(path) for path in paths]

        assert {200, 404} == {answer.status_code for answer in answers}
        for path in paths[:3]:
            refused = await page.get(path)
            assert (429, "rate_limit_exceeded") == refusal(refused)
            assert "Retry-After" in refused.headers
        with clock.moved(MINUTE):
            assert [] == await page.ids()


@ON_BOTH
async def test_parallel_uploads_get_no_more_than_five(service: Installation, secret: str) -> None:
    async with browser(service, secret, address="203.0.113.7") as page:
        answers = await asyncio.gather(*(page.extract(b"") for _ in range(20)))

    assert [400] * 5 + [429] * 15 == sorted(answer.status_code for answer in answers)


async def test_own_machine_is_not_limited_in_development(
    service: Installation, secret: str
) -> None:
    async with browser(service, secret, address="127.0.0.1") as page:
        answers = [await page.extract(b"") for _ in range(7)]

    assert {400} == {answer.status_code for answer in answers}


async def test_wrong_key_is_not_counted(service: Installation, secret: str) -> None:
    async with browser(service, secret, address="203.0.113.7") as page:
        page.secret = "pk_publishable_" + "0" * 38
        answers = [await page.extract(b"") for _ in range(7)]
        page.secret = secret

        assert {401} == {answer.status_code for answer in answers}
        assert 200 == (await page.extract()).status_code
