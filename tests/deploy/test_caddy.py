"""The whole installation without its containers: Caddy, Recibo, PostgreSQL by its socket, mail."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from tests import servers
from tests.cli.test_create_org import PASSWORD, create_org
from tests.deploy import caddies, composed
from tests.deploy.composed import GIVEN
from tests.mail_servers import Inbox, part
from tests.mail_servers import serving as serving_mail
from tests.portal import pages
from tests.serving.running import QUICK, serving

DATABASE = "company"
# Production takes no address of a domain that is reserved for tests; nothing leaves this machine.
OWNER = "ana@padaria-aurora.com.br"
LINK = re.compile(r"https://\S+(/portal/accept-invite\?token=\w{32})")
FORGED = "203.0.113.7"


@dataclass(frozen=True, slots=True)
class Company:
    """A running installation: what comes in by HTTPS, and the invitation of its first owner."""

    browser: httpx.AsyncClient
    invitation: str


@asynccontextmanager
async def start(folder: Path, postgres: servers.Postgres) -> AsyncIterator[Company]:
    """Run what compose.yaml runs, and create the first organization."""
    address = f"https://localhost:{servers.free_port()}"
    inbox = Inbox()
    async with serving_mail(inbox) as port:
        given = GIVEN | {
            "RECIBO_BASE_URL": address,
            "RECIBO_EMAIL_URL": f"smtp://127.0.0.1:{port}",
        }
        environment = composed.environment("compose.yaml", given=given) | {
            # By the socket, as there; the containers' own addresses are not on this machine.
            "RECIBO_DATABASE_URL": f"postgresql://postgres@/{DATABASE}"
            f"?host={postgres.folder}&port={postgres.port}",
            "RECIBO_TRUSTED_PROXIES": "127.0.0.1",
        }
        settings = {name.removeprefix("RECIBO_"): value for name, value in environment.items()}
        done = await create_org(folder, "Aurora", "--owner", OWNER, **settings)
        assert done.status == 0, done.stderr
        (mail,) = inbox.mails
        (link,) = LINK.findall(part(mail, "plain"))
        with serving(folder, program=QUICK, **settings) as server:
            upstream = server.url.removeprefix("http://")
            with caddies.serving(folder, base_url=address, upstream=upstream) as trusted:
                async with httpx.AsyncClient(
                    base_url=address, verify=trusted, timeout=60
                ) as browser:
                    yield Company(browser, link)


@pytest.fixture
def company_database(postgres: servers.Postgres) -> servers.Postgres:
    """A server with an empty database."""
    postgres.execute(f"DROP DATABASE IF EXISTS {DATABASE}", f"CREATE DATABASE {DATABASE}")
    return postgres


async def test_first_owner_comes_in_and_uploads_by_https(
    tmp_path: Path, company_database: servers.Postgres
) -> None:
    async with start(tmp_path, company_database) as company:
        browser = company.browser
        page = pages.parse(await browser.get(company.invitation))
        token = page.inputs["token"]["value"] or ""
        accepted = await browser.post("/portal/accept-invite", data={"token": token})
        await browser.post(accepted.headers["location"], data={"new_password": PASSWORD})
        home = await browser.get("/portal")
        forged = {"X-Forwarded-For": FORGED, "X-Forwarded-Proto": "http"}
        made = await browser.post("/v1/api-keys", json={"name": "till"}, headers=forged)
        key = {"X-API-Key": made.json()["secret"]}
        uploaded = await browser.post(
            "/v1/extract",
            headers=key,
            files={"file": ("r.jpg", b"\xff\xd8\xff" + b"x" * 1_000_000)},
        )
        log = await browser.get("/v1/audit?action=apikey.created")
        own = await browser.get("/v1/key", headers=key)
        metrics = await browser.get("/metrics")
        large = await browser.get("/healthz", headers={"X-Large": "x" * 100_000})
        billing = await browser.get("/portal/billing")

    assert "The operator of this installation invites you" in page.text
    assert 303 == accepted.status_code
    assert "Secure" in accepted.headers["set-cookie"]
    assert "Aurora" in home.text
    assert 201 == made.status_code
    assert 200 == uploaded.status_code, uploaded.text
    assert "5000" == uploaded.headers["X-RateLimit-Limit"]
    assert ["127.0.0.1"] == [item["ip_address"] for item in log.json()["items"]]
    assert None is own.json()["quota_receipts_month"]
    assert [404, 404] == [metrics.status_code, billing.status_code]
    assert HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE == large.status_code


def test_caddy_leads_http_to_https_and_keeps_bodies_and_heads_small() -> None:
    config = caddies.adapted({"RECIBO_BASE_URL": "https://receipts.example.com"})
    (server,) = config["apps"]["http"]["servers"].values()
    text = str(server)

    assert [":443"] == server["listen"]
    assert 64_000 == server["max_header_bytes"]
    assert 10e9 == server["read_header_timeout"]
    assert "receipts.example.com" in text
    assert "'max_size': 160000000" in text
    assert "'dial': 'recibo:8000'" in text
