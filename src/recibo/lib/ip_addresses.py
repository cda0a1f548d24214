"""Normalizes IP addresses and groups them for rate limits."""

import ipaddress

# RFC 6052: addresses of IPv4 hosts, as a translator shows them to an IPv6 server.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# A provider's customer gets at least a /64 and can use any address in it.
_NETWORK_BITS = 64


def normalized(text: str) -> str | None:
    """Return the canonical form of an address; None if the text is not an address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        # Drop the zone: it is local to a machine, and a client can write anything there.
        address = address.ipv4_mapped or ipaddress.IPv6Address(int(address))
    return str(address)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a host."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def limit_subject(text: str | None) -> str:
    """Return the rate limit key of an address: IPv4 as is, IPv6 as its /64; else empty."""
    try:
        address = ipaddress.ip_address(text or "")
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if (embedded := _embedded(address)) is not None:
        return str(embedded)
    return str(ipaddress.IPv6Network((int(address), _NETWORK_BITS), strict=False))


def _embedded(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address embeds, if any."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    # A 6to4 host controls 65,536 networks.
    return address.ipv4_mapped or address.sixtofour
