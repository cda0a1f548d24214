"""Host names and their addresses, looked up without threads: a lookup that hangs holds nobody up.

The event loop's own lookups run in a few threads, and names whose servers never answer would keep
these for half a minute each.
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

# Of the first try at a server; each further one is given twice as long. After the last, what is
# known of IPv4 counts without IPv6, or the other way round. c-ares gives less to servers that are
# mostly quick, down to 250 ms, and a name that they must ask around for needs more.
_TRY_S = 0.5
_TRIES = 4
_LIMIT_S = 8.0


class Resolver(Protocol):
    """Knows the addresses of host names."""

    async def addresses(self, name: str) -> Sequence[Address]:
        """Look a name up anew; without an address the answer is empty.

        Raises:
            TimeoutError: nobody said in time.
        """


class DnsResolver:
    """Asks as the system is set up: /etc/hosts and the name servers of /etc/resolv.conf."""

    def __init__(self, resolver: aiodns.DNSResolver, *, limit_s: float = _LIMIT_S) -> None:
        self._resolver = resolver
        self._limit_s = limit_s

    async def addresses(self, name: str) -> Sequence[Address]:
        """Look a name up."""
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
    """Open what looks names up, at the system's servers unless others are named."""
    async with aiodns.DNSResolver(servers, timeout=try_s, tries=_TRIES) as resolver:
        yield DnsResolver(resolver, limit_s=limit_s)
