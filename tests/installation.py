"""Runs the whole service in this process, with either database and an in-memory reader."""

import re
from collections.abc import AsyncIterator, Container, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import httpx
from fastapi import FastAPI
from sqlalchemy import select
from structlog.testing import capture_logs

from recibo import app
from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.fake_webhook_client import FakeWebhookClient
from recibo.adapters.webhook_client import WebhookClient
from recibo.api import application
from recibo.schemas.ids import ReceiptId
from recibo.services.identity.demo_org import Demo
from recibo.settings import Settings
from recibo.store.db import Database
from recibo.store.tables import Table
from recibo.web.services import Services

Row = TypeVar("Row", bound=Table)

# Production refuses the sandbox; there are no requests to Stripe before a purchase.
_STRIPE = {
    "payments": "stripe",
    "stripe_api_key": "sk_test_nothing",
    "stripe_webhook_secret": "whsec_nothing",
    "stripe_api_base": "http://127.0.0.1:1",
    "stripe_price_indie": "price_indie",
    "stripe_price_startup": "price_startup",
    "stripe_price_scale": "price_scale",
}

# Readings are released before a test waits, so only a hanging service takes this long.
WAIT_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Installation:
    """A running service and its parts for tests."""

    asgi: FastAPI
    #: Sends the key below with every request.
    client: httpx.AsyncClient
    #: Sends no credential.
    stranger: httpx.AsyncClient
    #: The key of the demo org: plan scale, scopes read and write.
    secret: str
    reader: FakeReader
    data_dir: Path
    logs: Sequence[Mapping[str, Any]]
    #: Sends webhooks; a fake unless the test gave one.
    webhook_client: WebhookClient

    @property
    def services(self) -> Services:
        """The services of the routes."""
        return cast("Services", self.asgi.state.services)

    @property
    def database(self) -> Database:
        """The database of the service."""
        return self.services.database

    async def extract(
        self,
        data: bytes,
        *,
        secret: str | None = None,
        key: str | None = None,
        media_type: str = "image/jpeg",
        **fields: str,
    ) -> httpx.Response:
        """Upload a file; `key` is the Idempotency-Key."""
        headers = {"X-API-Key": secret or self.secret}
        if key is not None:
            headers["Idempotency-Key"] = key
        files = {"file": ("receipt.jpg", data, media_type)}
        return await self.client.post("/v1/extract", headers=headers, files=files, data=fields)

    async def extracted(self, data: bytes, **options: str) -> dict[str, Any]:
        """Upload a file that is read, and return the receipt."""
        answer = await self.extract(data, **options)
        assert answer.status_code == 200, answer.text
        return cast("dict[str, Any]", answer.json())

    async def get(self, path: str, *, secret: str | None = None, **query: str) -> httpx.Response:
        """Ask for something under /v1."""
        headers = {"X-API-Key": secret or self.secret}
        return await self.client.get(f"/v1{path}", headers=headers, params=query)

    async def delete(self, path: str, *, secret: str | None = None) -> httpx.Response:
        """Delete something under /v1."""
        headers = {"X-API-Key": secret or self.secret}
        return await self.client.delete(f"/v1{path}", headers=headers)

    async def patch(
        self, receipt_id: str, changes: Mapping[str, Any], *, secret: str | None = None
    ) -> httpx.Response:
        """Change a receipt."""
        headers = {"X-API-Key": secret or self.secret}
        return await self.client.patch(
            f"/v1/receipts/{receipt_id}", headers=headers, json=dict(changes)
        )

    async def patched(self, receipt_id: str, **changes: Any) -> dict[str, Any]:
        """Change a receipt and return it."""
        answer = await self.patch(receipt_id, changes)
        assert answer.status_code == 200, answer.text
        return cast("dict[str, Any]", answer.json())

    async def waited(self, receipt_id: str) -> dict[str, Any]:
        """Wait until a receipt is no longer pending and return it."""
        self.reader.release()
        receipt: dict[str, Any] = {"status": "pending"}
        # On a loaded machine, a reading may outlast the longest wait of a request.
        for _ in range(3):
            if receipt.get("status") == "pending":
                answer = await self.get(f"/receipts/{receipt_id}", wait=str(WAIT_SECONDS))
                receipt = answer.json()
        return receipt

    async def rows(self, table: type[Row]) -> list[Row]:
        """Return all rows of a table."""
        async with self.database.read() as session:
            return list((await session.execute(select(table))).scalars())

    async def used(self, *, secret: str | None = None) -> tuple[int, int]:
        """Return what the key's org used this month: receipts and credits."""
        key = (await self.get("/key", secret=secret)).json()
        return key["usage_this_month"], key["credits_used_this_month"]

    async def file(self, receipt_id: str) -> Path | None:
        """Return where the file of a receipt is kept."""
        async with self.services.blobs.local_file(ReceiptId(receipt_id)) as path:
            return path


@asynccontextmanager
async def start(
    database_url: str,
    data_dir: Path,
    *,
    reader: FakeReader | None = None,
    webhook_client: WebhookClient | None = None,
    with_worker: bool = True,
    **settings: Any,
) -> AsyncIterator[Installation]:
    """Start an installation; its key is known only on a fresh database."""
    reader, webhook_client = reader or FakeReader(), webhook_client or FakeWebhookClient()
    demos = list[Demo]()
    chosen = make_settings(data_dir, database_url=database_url, **settings)
    with capture_logs() as logs:
        async with app.lifespan(
            chosen,
            with_worker=with_worker,
            reader=reader,
            webhook_client=webhook_client,
            on_first_start=demos.append,
        ) as asgi:
            secret = demos[0].key if demos else ""
            async with (
                client_of(asgi, headers={"X-API-Key": secret}) as client,
                client_of(asgi) as stranger,
            ):
                yield Installation(
                    asgi, client, stranger, secret, reader, data_dir, logs, webhook_client
                )


def make_settings(data_dir: Path, **settings: Any) -> Settings:
    """Return settings that ignore a `.env` file."""
    if settings.get("environment") == "production":
        settings = {**_STRIPE, **settings}
    return Settings(_env_file=None, data_dir=data_dir, **settings)


def client_of(
    asgi: FastAPI, *, address: str = "127.0.0.1", headers: Mapping[str, str] | None = None
) -> httpx.AsyncClient:
    """Return a client with an IP address that gets an answer even if the app raises.

    It asserts that every status it gets is in the OpenAPI document.
    """
    transport = httpx.ASGITransport(app=asgi, raise_app_exceptions=False, client=(address, 1))
    return httpx.AsyncClient(
        transport=transport,
        base_url="http://recibo.test",
        headers=headers,
        event_hooks={"response": [_assert_status_is_documented]},
    )


async def _assert_status_is_documented(answer: httpx.Response) -> None:
    method, path = answer.request.method, answer.request.url.path
    for pattern, documented in _statuses(method):
        if pattern.fullmatch(path):
            assert answer.status_code in documented, (method, path, answer.status_code)
            # Like in routing, the first match counts.
            return


@cache
def _statuses(method: str) -> Sequence[tuple[re.Pattern[str], Container[int]]]:
    """Return the paths that take a method, each with the statuses that its documents name."""
    return [
        (re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), [int(one) for one in named["responses"]])
        for path, operations in document()["paths"].items()
        if (named := operations.get(method.lower()))
    ]


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document, which takes half a second to build and needs no services."""
    return application.create_app(cast("Services", None)).openapi()
