"""Host names, asked of real name servers on this machine that answer, lie or hang."""

import asyncio
import ipaddress
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import cast

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from recibo.adapters import resolver

# Long enough for an answer on a loaded machine; what hangs is given up after less.
LONG_S = 60.0
HANGING = "hangs.test."
MANY = 60


class NameServer(asyncio.DatagramProtocol):
    """Answers from a table; a name that hangs gets no answer."""

    def __init__(self, known: Mapping[str, Sequence[str]]) -> None:
        self._known = known
        self._transport: asyncio.DatagramTransport | None = None
        self.asked: list[tuple[str, str]] = []
        #: Set when it has left as many names without an answer as a buffer holds with ease.
        self.leaves_many = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the way back."""
        # It is not of the class that it is documented as.
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a question."""
        query = dns.message.from_wire(data)
        (question,) = query.question
        name, kind = question.name.to_text(), dns.rdatatype.to_text(question.rdtype)
        self.asked.append((name, kind))
        if len({name for name, _ in self.asked if name.endswith(HANGING)}) >= MANY:
            self.leaves_many.set()
        if name.endswith(HANGING) or (name, kind) == ("half.test.", "AAAA"):
            return
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        found = [
            one
            for one in self._known.get(name, [])
            if (ipaddress.ip_address(one).version == 4) == (kind == "A")
        ]
        if found:
            answer.answer.append(dns.rrset.from_text(name, 0, "IN", kind, *found))
        elif name not in self._known:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        assert self._transport is not None
        self._transport.sendto(answer.to_wire(), addr)


@asynccontextmanager
async def name_server(**known: Sequence[str]) -> AsyncIterator[tuple[NameServer, str]]:
    """Serve names of `.test`; yield the server and its address."""
    table = {f"{name}.test.": addresses for name, addresses in known.items()}
    transport, server = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: NameServer(table), local_addr=("127.0.0.1", 0)
    )
    try:
        yield server, f"127.0.0.1:{transport.get_extra_info('sockname')[1]}"
    finally:
        transport.close()


async def test_name_has_the_addresses_of_both_kinds() -> None:
    async with (
        name_server(both=["93.184.216.34", "2606:2800:220:1::1"]) as (_, address),
        resolver.open_resolver([address], limit_s=LONG_S) as resolver_,
    ):
        found = await resolver_.addresses("both.test")

    assert {"93.184.216.34", "2606:2800:220:1::1"} == {str(one) for one in found}


async def test_private_addresses_are_returned() -> None:
    async with (
        name_server(inside=["10.0.0.1", "169.254.169.254"]) as (_, address),
        resolver.open_resolver([address], limit_s=LONG_S) as resolver_,
    ):
        found = await resolver_.addresses("inside.test")

    assert {"10.0.0.1", "169.254.169.254"} == {str(one) for one in found}


async def test_name_that_is_not_there_has_no_address() -> None:
    async with (
        name_server(empty=[]) as (_, address),
        resolver.open_resolver([address], limit_s=LONG_S) as resolver_,
    ):
        assert [] == await resolver_.addresses("nowhere.test")
        assert [] == await resolver_.addresses("empty.test")


async def test_names_of_this_machine_are_known() -> None:
    async with resolver.open_resolver(limit_s=LONG_S) as resolver_:
        found = await resolver_.addresses("localhost")

    assert found
    assert all(one.is_loopback for one in found)


async def test_one_address_family_is_enough_if_the_other_times_out() -> None:
    async with (
        name_server(half=["93.184.216.34"]) as (_, address),
        resolver.open_resolver([address], try_s=0.1, limit_s=LONG_S) as resolver_,
    ):
        found = await resolver_.addresses("half.test")

    assert ["93.184.216.34"] == [str(one) for one in found]


@pytest.mark.parametrize(("try_s", "limit_s"), [(0.05, LONG_S), (LONG_S, 0.05)])
async def test_server_that_hangs_is_given_up(try_s: float, limit_s: float) -> None:
    async with (
        name_server() as (_, address),
        resolver.open_resolver([address], try_s=try_s, limit_s=limit_s) as resolver_,
    ):
        with pytest.raises(TimeoutError):
            await resolver_.addresses("hangs.test")


async def test_lookups_that_hang_hold_neither_threads_nor_other_lookups() -> None:
    async with (
        name_server(lives=["93.184.216.34"]) as (server, address),
        resolver.open_resolver([address], try_s=LONG_S, limit_s=LONG_S) as resolver_,
    ):
        asking = (resolver_.addresses(f"n{n}.{HANGING}") for n in range(MANY))
        hanging = [asyncio.create_task(one) for one in asking]
        await server.leaves_many.wait()
        threads = threading.active_count()
        found = await resolver_.addresses("lives.test")
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)

    assert ["93.184.216.34"] == [str(one) for one in found]
    assert threads < 20


@pytest.mark.parametrize("name", ["a" * 64 + ".test", "a..b", "*", "a b"])
async def test_name_that_is_none_has_no_address(name: str) -> None:
    async with (
        name_server() as (_, address),
        resolver.open_resolver([address], limit_s=LONG_S) as resolver_,
    ):
        assert [] == await resolver_.addresses(name)
