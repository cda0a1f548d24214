"""Sends webhooks over HTTP to URLs that customers chose.

The address is checked when the connection is made, redirects are not followed, and the time and the
size of the answer are limited.
"""

import asyncio
import email.utils
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import certifi
import httpx

from recibo.adapters.resolver import Resolver
from recibo.lib import clock, webhook_urls
from recibo.lib.webhook_urls import Address, Policy, Target

# For everything: DNS, connecting, sending, and the whole answer.
LIMIT_S = 15.0
# Some addresses of a name may not answer while another does.
_MOST_ADDRESSES = 4
_CONNECT_S = 5.0
# The part of the remaining time for connecting, and again for TLS, so that httpx times out first: a
# connection that is cancelled during the TLS handshake leaks its socket.
_CONNECT_PART = 0.45
# How much of an answer is kept, and how much is read so that the server can finish sending.
KEPT_BYTES = 1024
_READ_BYTES = 64 * 1024
# An answer in pieces of one byte costs a thousand times as much as one in one piece.
_READ_PIECES = 256
# A longer number is not a plausible time.
_RETRY_AFTER_DIGITS = 9
_SAID = {
    httpx.ConnectTimeout: "the host did not answer in time",
    httpx.ConnectError: "the host cannot be reached",
    httpx.RemoteProtocolError: "the answer was not HTTP, or broke off",
    httpx.LocalProtocolError: "the request cannot be sent",
}
_HEADERS = {"Accept": "*/*", "Accept-Encoding": "identity", "Connection": "close"}


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """The outcome of one POST."""

    duration_s: float
    #: The HTTP status; None if there was no answer.
    status: int | None = None
    #: Why there was no answer, for the owner of the URL.
    error: str | None = None
    #: The first bytes of the answer.
    answer: bytes = b""
    #: From the header Retry-After.
    retry_after_s: float | None = None


class WebhookClient(Protocol):
    """Posts webhooks."""

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
        """Post once; errors are returned as outcomes, not raised."""


def _tls() -> ssl.SSLContext:
    # The system's certificates, which may include an operator's own authority, and certifi's list,
    # because small images have none.
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


@dataclass(frozen=True, slots=True)
class CheckedWebhookClient:
    """Posts over HTTP, to addresses that the policy allows.

    Each POST uses a new connection: connections are not shared between names or orgs.
    """

    policy: Policy
    resolver: Resolver
    #: The trusted certificates.
    tls: ssl.SSLContext = field(default_factory=_tls, repr=False)
    limit_s: float = LIMIT_S

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
        """Post once."""
        started = time.perf_counter()
        deadline = asyncio.get_running_loop().time() + self.limit_s
        status, error, answer, retry_after_s = None, None, b"", None
        # A bare transport has no environment proxy, no cookies and no redirects.
        async with httpx.AsyncHTTPTransport(verify=self.tls, trust_env=False) as transport:
            try:
                async with asyncio.timeout_at(deadline):
                    message = _Message(self._target(url), body, headers)
                    response = await self._send(transport, message, deadline)
                status, retry_after_s = response.status_code, _retry_after_s(response.headers)
                answer = await _first_bytes(response, deadline)
            except _NotPostedError as e:
                error = str(e)
            except TimeoutError:
                error = f"timed out after {self.limit_s:g} s"
        duration_s = time.perf_counter() - started
        return WebhookResponse(duration_s, status, error, answer, retry_after_s)

    def _target(self, url: str) -> Target:
        target = webhook_urls.target(url, self.policy)
        if isinstance(target, str):
            raise _NotPostedError(f"the URL {target}")
        return target

    async def _send(
        self, transport: httpx.AsyncHTTPTransport, message: "_Message", deadline: float
    ) -> httpx.Response:
        """Return the answer of the first address that responds, once its headers are received.

        Raises:
            _NotPostedError: no address responded.
        """
        failure: httpx.TransportError | None = None
        for address in await self._addresses(message.target):
            left_s = deadline - asyncio.get_running_loop().time()
            request = message.to(address, connect_s=min(_CONNECT_S, _CONNECT_PART * left_s))
            try:
                return await transport.handle_async_request(request)
            except httpx.TransportError as e:
                failure = e
                if not _may_help_elsewhere(e):
                    break
        assert failure is not None  # noqa: S101 - there is an address at least
        raise _NotPostedError(_reason(failure)) from failure

    async def _addresses(self, target: Target) -> Sequence[Address]:
        """Return the addresses to try; only these are used, so DNS rebinding has no effect."""
        if target.address is not None:
            return [target.address]
        try:
            found = await self.resolver.addresses(target.host)
        except TimeoutError:
            raise _NotPostedError("the name was not resolved in time") from None
        if not found:
            raise _NotPostedError("the name does not resolve")
        allowed = [one for one in found if webhook_urls.is_allowed(one, self.policy)]
        if not allowed:
            raise _NotPostedError("the name has no address that webhooks are sent to")
        return allowed[:_MOST_ADDRESSES]


class _NotPostedError(Exception):
    """There was no answer; the message says why and can be shown to customers."""


@dataclass(frozen=True, slots=True)
class _Message:
    """A webhook and its target."""

    target: Target
    body: bytes
    headers: Mapping[str, str]

    def to(self, address: Address, *, connect_s: float) -> httpx.Request:
        """Return the request to one of the addresses that the name has."""
        url = httpx.URL(
            scheme=self.target.scheme,
            host=str(address),
            port=self.target.port,
            path=self.target.path,
            query=self.target.query.encode() or None,
        )
        return httpx.Request(
            "POST",
            url,
            headers={**_HEADERS, **self.headers, "Host": self.target.authority},
            content=self.body,
            # The certificate is checked against this name, too.
            extensions={"sni_hostname": self.target.host, "timeout": {"connect": connect_s}},
        )


async def _first_bytes(response: httpx.Response, deadline: float) -> bytes:
    """Return the first bytes of an answer; one that breaks off or never ends counts, too."""
    kept, read, pieces = b"", 0, 0
    try:
        async with asyncio.timeout_at(deadline):
            async for piece in response.aiter_raw():
                kept = (kept + piece)[:KEPT_BYTES]
                read, pieces = read + len(piece), pieces + 1
                if read >= _READ_BYTES or pieces >= _READ_PIECES:
                    break
    except (TimeoutError, httpx.TransportError):
        pass
    finally:
        await response.aclose()
    return kept


def _retry_after_s(headers: httpx.Headers) -> float | None:
    """Return the seconds of Retry-After, which is a number or a date (RFC 9110)."""
    said = headers.get("Retry-After", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:_RETRY_AFTER_DIGITS])
    try:
        until = email.utils.parsedate_to_datetime(said)
        return max(0.0, (until - clock.now()).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _may_help_elsewhere(failure: httpx.TransportError) -> bool:
    """Return whether to try the next address: nothing was sent yet."""
    if isinstance(failure, httpx.ConnectTimeout):
        return True
    return isinstance(failure, httpx.ConnectError) and not isinstance(_root(failure), ssl.SSLError)


def _reason(failure: httpx.TransportError) -> str:
    """Describe the failure without details of this server."""
    # A TLS timeout wraps another error, too.
    root = failure if isinstance(failure, httpx.ConnectTimeout) else _root(failure)
    if isinstance(root, ssl.SSLCertVerificationError):
        return f"TLS failed: {root.verify_message}"
    if isinstance(root, ssl.SSLError):
        return f"TLS failed: {(root.reason or 'no agreement').lower().replace('_', ' ')}"
    if isinstance(root, ConnectionRefusedError):
        return "connection refused"
    return _SAID.get(type(failure), "the connection broke off")


def _root(failure: BaseException) -> BaseException:
    while (cause := failure.__cause__ or failure.__context__) is not None:
        failure = cause
    return failure
