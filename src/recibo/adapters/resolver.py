"""Looks up host names without threads, so that a lookup that hangs delays no other.

The event loop's own lookups run in a few threads, and a name whose server never answers would block
one for half a minute.
"""

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import aiodns

from recibo.lib.webhook_urls import Address

# The timeout of the first try at a server; each further try has twice as long. After the last, the
# IPv4 addresses count without IPv6, or the other way round. c-ares lowers the timeout for fast
# servers down to 250 ms, but a name that is not in their cache needs more.
_TRY_S = 0.5
_TRIES = 4
_LIMIT_S = 8.0


class Resolver(Protocol):
    """Looks up the addresses of host names."""

    async def addresses(self, name: str) -> Sequence[Address]:
        """Return the addresses of a name, uncached; empty if it has none.

        Raises:
            TimeoutError: no server answered in time.
        """


class DnsResolver:
    """Uses the system's configuration: /etc/hosts and the name servers of /etc/resolv.conf."""

    def __init__(self, resolver: aiodns.DNSResolver, *, limit_s: float = _LIMIT_S) -> None:
        self._resolver = resolver
        self._limit_s = limit_s

    async def addresses(self, name: str) -> Sequence[Address]:
        """Return the addresses of a name."""
        try:
            async with asyncio.timeout(self._limit_s):
                found = await self._resolver.getaddrinfo(name, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as e:
            if e.args[0] == aiodns.error.ARES_ETIMEOUT:
                raise TimeoutError from e
            return []
        addresses = list[Address]()
        for node in found.nodes:
            with contextlib.suppress(ValueError):
                addresses.append(ipaddress.ip_address(node.addr[0].decode()))
        return addresses


@asynccontextmanager
async def open_resolver(
    servers: Sequence[str] | None = None, *, try_s: float = _TRY_S, limit_s: float = _LIMIT_S
) -> AsyncIterator[DnsResolver]:
    """Open a resolver that uses the system's name servers unless others are given."""
    async with aiodns.DNSResolver(servers, timeout=try_s, tries=_TRIES) as resolver:
        yield DnsResolver(resolver, limit_s=limit_s)
