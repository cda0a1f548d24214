"""IP addresses: their one spelling, and what limits count them by."""

import ipaddress

# RFC 6052: addresses of IPv4 hosts, as a translator shows them to an IPv6 server.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# What one customer of a provider gets at least, and may pick addresses from at will.
_NETWORK_BITS = 64


def normalized(text: str) -> str | None:
    """Return an address in its one spelling, so that nobody counts as many; None if it is none."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        # The zone has a meaning on its own machine only; anything may be written there.
        address = address.ipv4_mapped or ipaddress.IPv6Address(int(address))
    return str(address)


def limit_subject(text: str | None) -> str:
    """Return what limits count an address by: IPv4 as it is, IPv6 by its /64; empty for none."""
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
    """Return the IPv4 address of a host that is only shown as an IPv6 one."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    # A 6to4 host has 65,536 networks of its own.
    return address.ipv4_mapped or address.sixtofour
