"""Whether a request comes from a browser on this very machine, with nothing in between."""

import ipaddress
from urllib.parse import urlsplit

from fastapi import Request

# What proxies and tunnels add: a request that bears one was sent elsewhere first.
_FORWARDING = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def is_local(request: Request) -> bool:
    """Return whether a request was sent straight to a loopback address, under a name of one.

    The name matters: a foreign site whose name resolves to 127.0.0.1 (DNS rebinding) could read
    what the browser gets from there.
    """
    if not request.state.is_loopback:
        return False
    if any(name in request.headers for name in _FORWARDING):
        return False
    return _names_loopback(request.headers.get("host", ""))


def _names_loopback(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
