"""The services that the routes of the API and of the portal use."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, cast

from fastapi import Depends, Request

from recibo.lib import webhook_urls
from recibo.schemas.actor import ClientInfo
from recibo.services.billing.billing import Billing
from recibo.services.identity.identity import Identity
from recibo.services.reading.exports import Exports
from recibo.services.reading.extraction import Extraction
from recibo.services.reading.page_images import PageImages
from recibo.store.blobs import Blobs
from recibo.store.db import Database
from recibo.store.limits import Limits

# The audit log stores one with every entry; those of browsers are half as long.
_MAX_USER_AGENT = 500
#: The attribute of the request's state with the language of a page.
LANGUAGE = "language"

#: Returns whether a part of the service works.
Probe = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that routes use; `recibo.app` builds it."""

    database: Database
    blobs: Blobs
    extraction: Extraction
    exports: Exports
    page_images: PageImages
    #: The folder of uploads during their request.
    spool: Path
    #: Signs the cursors of lists.
    cursor_key: str
    #: How long POST /v1/extract waits for the reading.
    extract_wait_seconds: float
    #: Whether webhooks must be https, as in production.
    https_webhooks_only: bool
    #: Whether webhooks may go to loopback and private addresses.
    private_webhooks_allowed: bool
    metrics_token: str | None
    is_production: bool
    #: By the name of the part; without one of these the service is not ready.
    probes: Mapping[str, Probe]
    #: Parts without which requests are still served, by name.
    dispensable: Mapping[str, Probe]
    #: Updates the metrics that are counted when they are read.
    refresh_metrics: Callable[[], Awaitable[None]]
    limits: Limits
    identity: Identity
    billing: Billing
    #: The public address; empty when none is set.
    base_url: str
    #: Where mails are written to files that the development inbox shows; None without an inbox.
    outbox: Path | None
    #: The address to which organizations' tokens are added; empty if receipts by email are off.
    receipt_address: str = ""
    #: Limits the JSON bodies over 64 KB in memory; 32 of them are 32 MB.
    large_bodies: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(32))

    @property
    def webhook_policy(self) -> webhook_urls.Policy:
        """Which URLs webhooks may be sent to."""
        return webhook_urls.Policy(
            https_only=self.https_webhooks_only, private_allowed=self.private_webhooks_allowed
        )


async def services_of(request: Request) -> Services:
    """Return the services of the app; async, as FastAPI runs plain functions in threads."""
    return cast("Services", request.app.state.services)


def client_info_of(request: Request) -> ClientInfo:
    """Return the address and user agent of a request's client."""
    return ClientInfo(
        request_id=request.state.request_id,
        ip_address=request.client.host if request.client else None,
        user_agent=_cut(request.headers.get("user-agent")),
        language=getattr(request.state, LANGUAGE, None),
        is_limited_by_ip=request.state.is_limited_by_ip,
    )


def _cut(user_agent: str | None) -> str | None:
    return None if user_agent is None else user_agent[:_MAX_USER_AGENT]


TheServices = Annotated[Services, Depends(services_of)]
