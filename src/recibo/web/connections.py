"""Open connections: how many there may be, and how long each may keep the server waiting."""

import ipaddress
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from recibo.lib import ip_addresses

# With all heads at their limit these are 64 MB.
_MOST_CONNECTIONS = 1024
# An upload takes its connection, the form, its copy, and the copy once more while it is stored.
_FILES_PER_CONNECTION = 4
_OTHER_FILES = 256


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of one connection, and of their number."""

    #: Heads of requests, with the request line.
    head_bytes: int = 64 * 1024
    head_seconds: float = 10
    #: The rate of bodies and of answers is measured over this time.
    window_seconds: float = 15
    bytes_a_second: int = 1024
    #: 15 MB in this time are 9 KB/s: slower than any mobile network.
    body_seconds: float = 30 * 60
    #: How long a refused client may take to read the answer.
    linger_seconds: float = 2
    #: Requests sent before the first is answered; no common client sends two.
    pipelined: int = 8
    connections: int = _MOST_CONNECTIONS
    #: Beyond the most uploads that a plan allows at once, four times 50.
    connections_per_address: int = 256
    #: Further connections, which get 503, or the health of the service.
    surplus: int = 64

    @classmethod
    def within(cls, files: int) -> "Bounds":
        """Return the bounds of a process that may open this many files."""
        most = max(16, (files - _OTHER_FILES) // _FILES_PER_CONNECTION)
        return cls(connections=min(_MOST_CONNECTIONS, most))


class Connection(Protocol):
    """One client's connection."""

    #: The subject that its address counts as; None when its connections are not limited.
    subject: str | None

    @property
    def is_waiting(self) -> bool:
        """Whether no request is in progress."""

    def drop(self) -> None:
        """Close it at once."""

    def check(self, now: float) -> None:
        """Close it if the server has waited for it too long."""


class Connections:
    """The open connections of this process, the oldest first."""

    def __init__(self, bounds: Bounds, *, is_exempt: Callable[[str], bool]) -> None:
        self.bounds = bounds
        self._is_exempt = is_exempt
        self._open = dict[Connection, None]()
        self._by_subject = Counter[str]()

    def subject_of(self, address: str | None) -> str | None:
        """Return the subject of an address; None when its connections are not limited."""
        if address is None or self._is_exempt(address):
            return None
        return ip_addresses.limit_subject(address)

    def enter(self, connection: Connection) -> bool:
        """Add a connection; return False when there are too many and it must be refused.

        At the limit, the oldest connection without a complete request head is closed instead: it
        loses nothing.
        """
        subject, bounds = connection.subject, self.bounds
        is_surplus = False
        if subject is not None and self._by_subject[subject] >= bounds.connections_per_address:
            is_surplus = not self._evict(subject)
        if len(self._open) >= bounds.connections and not is_surplus:
            is_surplus = not self._evict(None)
        # Otherwise one address could take all connections.
        most_of_one = bounds.connections_per_address + bounds.surplus
        is_flood = subject is not None and self._by_subject[subject] >= most_of_one
        if is_flood or len(self._open) >= bounds.connections + bounds.surplus:
            connection.drop()
        self._open[connection] = None
        if subject is not None:
            self._by_subject[subject] += 1
        return not is_surplus

    def leave(self, connection: Connection) -> None:
        """Remove a closed connection."""
        if connection not in self._open:
            return
        del self._open[connection]
        subject = connection.subject
        if subject is not None:
            self._by_subject[subject] -= 1
            if not self._by_subject[subject]:
                del self._by_subject[subject]

    def __len__(self) -> int:
        return len(self._open)

    def sweep(self, now: float) -> None:
        """Close the connections that the server has waited for too long."""
        for connection in list(self._open):
            connection.check(now)

    def _evict(self, subject: str | None) -> bool:
        for one in self._open:
            if one.is_waiting and (subject is None or one.subject == subject):
                one.drop()
                self.leave(one)
                return True
        return False


class TransferRate:
    """Measures, window by window, whether bytes pass fast enough."""

    def __init__(self, bounds: Bounds, now: float) -> None:
        self._bounds = bounds
        self._begun = now
        self._count = 0
        self._is_excused = False

    def count(self, size: int) -> None:
        """Count bytes that have passed."""
        self._count += size

    def excuse(self) -> None:
        """Ignore this window: the client had to wait for the server."""
        self._is_excused = True

    def is_late(self, now: float) -> bool:
        """Return whether too few bytes passed in the last complete window."""
        window = self._bounds.window_seconds
        if now - self._begun < window:
            return False
        is_late = self._count < window * self._bounds.bytes_a_second and not self._is_excused
        self._begun, self._count, self._is_excused = now, 0, False
        return is_late


def exemption(trusted: Sequence[str], *, limits_loopback: bool) -> Callable[[str], bool]:
    """Return a test for peers without a limit: proxies, and loopback in development."""
    networks = [ipaddress.ip_network(one) for one in trusted]

    def is_exempt(address: str) -> bool:
        peer = ipaddress.ip_address(address)
        if peer.is_loopback and not limits_loopback:
            return True
        return any(peer in network for network in networks)

    return is_exempt
