"""Which URLs a webhook may be sent to, as far as the URL itself tells.

A host name is judged when it is connected to, by the addresses that it then has.
"""

import ipaddress
import socket
import unicodedata
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

_MAX_LENGTH = 2048
# NAT64 prefixes carry an IPv4 address in their last 32 bits (RFC 6052, RFC 8215).
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
_REFUSED = (
    # Not told from global ones by `is_global` of Python 3.11.
    ipaddress.ip_network("192.0.0.0/24"),
    ipaddress.ip_network("fec0::/10"),
    # Reserved, and the broadcast address.
    ipaddress.ip_network("240.0.0.0/4"),
    # Where clouds tell their machines' secrets, beside the link-local addresses.
    ipaddress.ip_network("fd00:ec2::254/128"),
    ipaddress.ip_network("168.63.129.16/32"),
)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Policy:
    """What an installation allows."""

    https_only: bool
    private_allowed: bool


def problem(url: str, policy: Policy) -> str | None:
    """Return what is wrong with a URL, None when it may be tried."""
    schemes = ("https",) if policy.https_only else ("http", "https")
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "is not a URL"
    if len(url) > _MAX_LENGTH or not url.isprintable() or " " in url:
        return f"must be a URL of at most {_MAX_LENGTH} printable characters"
    if parts.scheme.lower() not in schemes or not parts.hostname:
        return f"must be a URL that begins with {' or '.join(f'{one}://' for one in schemes)}"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or password"
    return _host_problem(parts, policy)


def is_allowed(address: Address, policy: Policy) -> bool:
    """Tell whether an address may be connected to."""
    address = _unwrapped(address)
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    if any(address in network for network in _REFUSED if network.version == address.version):
        return False
    if address.is_global:
        return True
    return policy.private_allowed and (address.is_loopback or address.is_private)


def _host_problem(parts: SplitResult, policy: Policy) -> str | None:
    address = _literal(parts.hostname or "")
    if address is None or is_allowed(address, policy):
        return None
    return "points to an address that webhooks are not sent to"


def _literal(host: str) -> Address | None:
    """Return the address that a host spells, in any spelling that resolvers take."""
    # Wide digits and ideographic full stops become plain ones before a name is looked up (UTS 46).
    host = unicodedata.normalize("NFKC", host).replace("。", ".").removesuffix(".")
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        # Octal, hexadecimal, decimal and shortened IPv4, as the C library reads them.
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


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
