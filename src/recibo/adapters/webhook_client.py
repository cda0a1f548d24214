"""Webhooks on their way: each is posted once, to an address that strangers chose.

So the address is checked when it is connected to, redirects are not followed, and neither time nor
the answer goes beyond its bounds, whatever the other side does.
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

# For all of it: looking the name up, connecting, sending, the answer to its end.
LIMIT_S = 15.0
# A name may have addresses that nobody answers at, beside one that is fine.
_MOST_ADDRESSES = 4
_CONNECT_S = 5.0
# Of the time that is left, for connecting and again for TLS: so it is httpx that gives up. A
# connection that is cancelled in the middle of TLS keeps its socket open.
_CONNECT_PART = 0.45
# So much of an answer is kept; so much is read, that the other side may end it in peace.
KEPT_BYTES = 1024
_READ_BYTES = 64 * 1024
# An answer in pieces of a byte each costs a thousand times as much as one in one piece.
_READ_PIECES = 256
# More digits than these are no waiting time.
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
    """What became of one POST."""

    duration_s: float
    #: The HTTP status; None when there was no answer.
    status: int | None = None
    #: Why there was none, for the eyes of whoever chose the URL.
    error: str | None = None
    #: Its first bytes, as they came.
    answer: bytes = b""
    #: How long the other side asks to be left alone.
    retry_after_s: float | None = None


class WebhookClient(Protocol):
    """Posts webhooks."""

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
        """Post once; whatever goes wrong is an outcome."""


def _tls() -> ssl.SSLContext:
    # What the system trusts, an operator's own authority among it, and the list that browsers go
    # by: small images come without one.
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context


@dataclass(frozen=True, slots=True)
class CheckedWebhookClient:
    """Posts over HTTP, to addresses that the policy allows.

    Each POST has a connection of its own: one that was made for a name, or for an org, serves no
    other.
    """

    policy: Policy
    names: Resolver
    #: Whose certificates are believed.
    tls: ssl.SSLContext = field(default_factory=_tls, repr=False)
    limit_s: float = LIMIT_S

    async def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> WebhookResponse:
        """Post once."""
        started = time.perf_counter()
        deadline = asyncio.get_running_loop().time() + self.limit_s
        status, error, answer, retry_after_s = None, None, b"", None
        # No proxy of the environment, no cookies, no redirects: a transport knows none of these.
        async with httpx.AsyncHTTPTransport(verify=self.tls, trust_env=False) as transport:
            try:
                async with asyncio.timeout_at(deadline):
                    message = _Message(self._target(url), body, headers)
                    response = await self._answered(transport, message, deadline)
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

    async def _answered(
        self, transport: httpx.AsyncHTTPTransport, message: "_Message", deadline: float
    ) -> httpx.Response:
        """Return the answer as soon as its headers are there, from the first address that has one.

        Raises:
            _NotPostedError: there is none.
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
        raise _NotPostedError(_told(failure)) from failure

    async def _addresses(self, target: Target) -> Sequence[Address]:
        """Return the addresses to try; only these are connected to, so no later lookup counts."""
        if target.address is not None:
            return [target.address]
        try:
            found = await self.names.addresses(target.host)
        except TimeoutError:
            raise _NotPostedError("the name was not resolved in time") from None
        if not found:
            raise _NotPostedError("the name does not resolve")
        allowed = [one for one in found if webhook_urls.is_allowed(one, self.policy)]
        if not allowed:
            raise _NotPostedError("the name has no address that webhooks are sent to")
        return allowed[:_MOST_ADDRESSES]


class _NotPostedError(Exception):
    """There was no answer; the message says why, fit to be shown."""


@dataclass(frozen=True, slots=True)
class _Message:
    """What is posted, and where."""

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
    """Return what is kept of an answer; one that breaks off or never ends counts all the same."""
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
    """Return what Retry-After asks for: seconds, or the time until a date (RFC 9110)."""
    said = headers.get("Retry-After", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:_RETRY_AFTER_DIGITS])
    try:
        until = email.utils.parsedate_to_datetime(said)
        return max(0.0, (until - clock.now()).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _may_help_elsewhere(failure: httpx.TransportError) -> bool:
    """Tell whether another address of the name is worth a try: nothing was posted yet."""
    if isinstance(failure, httpx.ConnectTimeout):
        return True
    return isinstance(failure, httpx.ConnectError) and not isinstance(_root(failure), ssl.SSLError)


def _told(failure: httpx.TransportError) -> str:
    """Say what went wrong, in words that tell nothing of this side."""
    # TLS that waits for the other side is an error inside, too.
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
