"""Which URLs a webhook may be sent to, judged by the URL alone.

A host name is judged when it is connected to, by the addresses that it then has.
"""

import ipaddress
import re
import socket
import string
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

import idna

_MAX_LENGTH = 2048
_PORTS = {"http": 80, "https": 443}
# Underscores are not of host names, but of names that container networks give.
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
# A host that ends like this is an IPv4 address or invalid (https://url.spec.whatwg.org/#ends-in-a-number-checker).
_ENDS_IN_NUMBER = re.compile(r"(^|\.)([0-9]+|0x[0-9a-f]*)$")
# NAT64 carries an IPv4 address in the last 32 bits of these (RFC 6052, RFC 8215). The rest of
# 64:ff9b:1::/48 may carry one elsewhere as well, so two readings of it could differ.
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/96"))
# The global unicast range of IPv6 (RFC 4291). `is_global` of Python 3.11 takes unassigned addresses
# for global, too, such as `::a.b.c.d`.
_GIVEN_OUT = ipaddress.ip_network("2000::/3")
_REFUSED = tuple(
    ipaddress.ip_network(one)
    for one in (
        # `is_global` of Python 3.11 takes these for global.
        "192.0.0.0/24",
        "fec0::/10",
        "3fff::/20",
        # Tunnels: these hold two IPv4 addresses, one of them in disguise (Teredo), or any (6to4's
        # relays).
        "2001::/32",
        "192.88.99.0/24",
        # Reserved, and the broadcast address.
        "240.0.0.0/4",
        "0.0.0.0/8",
        # Metadata services of clouds outside the link-local addresses: Amazon,
        # Google, Oracle, Scaleway, Azure.
        "fd00:ec2::/32",
        "fd20:ce::/32",
        "fd00:c1::/32",
        "fd00:42::/32",
        "168.63.129.16/32",
    )
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Policy:
    """Which webhook URLs an installation allows."""

    https_only: bool
    private_allowed: bool


@dataclass(frozen=True, slots=True)
class Target:
    """The parsed parts of a webhook URL."""

    scheme: str
    #: In ASCII and lower case, without a dot at its end; an address in its usual spelling.
    host: str
    #: The host's IP address; None for a name.
    address: Address | None
    port: int
    #: In ASCII, as is the query.
    path: str
    #: Without its question mark; empty when there is none.
    query: str

    @property
    def authority(self) -> str:
        """The value of the header Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def problem(url: str, policy: Policy) -> str | None:
    """Return what is wrong with a URL; None if it is allowed."""
    found = target(url, policy)
    return found if isinstance(found, str) else None


def target(url: str, policy: Policy) -> Target | str:
    """Return the target of a URL, or what is wrong with it."""
    if len(url) > _MAX_LENGTH or not url.isprintable() or " " in url:
        return f"must be a URL of at most {_MAX_LENGTH} printable characters"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a URL"
    if wrong := _form_problem(parts, port, policy):
        return wrong
    host = _host(parts)
    if host is None:
        return "must name a host"
    address = None if isinstance(host, str) else host
    if address is not None and not is_allowed(address, policy):
        return "points to an address that webhooks are not sent to"
    scheme = parts.scheme.lower()
    return Target(
        scheme=scheme,
        host=str(host),
        address=address,
        port=port or _PORTS[scheme],
        path=_percent_encoded(parts.path) or "/",
        query=_percent_encoded(parts.query),
    )


def is_allowed(address: Address, policy: Policy) -> bool:
    """Return whether the policy allows connections to an address."""
    address = _unwrapped(address)
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    if any(address in network for network in _REFUSED if network.version == address.version):
        return False
    if address.is_loopback or address.is_private:
        return policy.private_allowed
    is_given_out = isinstance(address, ipaddress.IPv4Address) or address in _GIVEN_OUT
    return address.is_global and is_given_out


def _form_problem(parts: SplitResult, port: int | None, policy: Policy) -> str | None:
    schemes = ("https",) if policy.https_only else ("http", "https")
    if parts.scheme.lower() not in schemes or not parts.hostname:
        return f"must be a URL that begins with {' or '.join(f'{one}://' for one in schemes)}"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or password"
    return "must not name port 0" if port == 0 else None


def _host(parts: SplitResult) -> Address | str | None:
    """Return the IP address or the name of a host; None if it is neither."""
    host = parts.hostname or ""
    if "[" in parts.netloc:
        return _ipv6(host)
    name = _ascii(host)
    if name is None:
        return None
    try:
        # Octal, hexadecimal, decimal and shortened IPv4, as the C library reads them.
        return ipaddress.IPv4Address(socket.inet_aton(name))
    except OSError:
        pass
    return name if _NAME.fullmatch(name) and not _ENDS_IN_NUMBER.search(name) else None


def _ipv6(host: str) -> Address | None:
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return None
    # Refuse a zone: it names a network of this machine.
    return address if address.scope_id is None else None


def _ascii(host: str) -> str | None:
    """Return a host in ASCII: wide digits and ideographic full stops become plain (UTS 46)."""
    try:
        name = host if host.isascii() else idna.encode(host, uts46=True).decode()
    except idna.IDNAError:
        return None
    return name.lower().removesuffix(".")


def _percent_encoded(text: str) -> str:
    """Return a text with all beyond ASCII as percent-encoded UTF-8; what is encoded stays so."""
    return quote(text, safe=string.printable)


def _unwrapped(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if any(address in network for network in _NAT64):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address
