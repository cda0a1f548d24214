"""Whether a request comes from this machine, without a proxy in between."""

import ipaddress
from urllib.parse import urlsplit

from fastapi import Request

# Headers that proxies and tunnels add.
_FORWARDING = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def is_local(request: Request) -> bool:
    """Return whether a request was sent directly to a loopback address, with a loopback Host.

    The Host matters: otherwise a site whose name resolves to 127.0.0.1 (DNS rebinding) could read
    the answer.
    """
    return is_direct(request) and _names_loopback(request.headers.get("host", ""))


def is_direct(request: Request) -> bool:
    """Return whether a request was sent from this machine and no proxy forwarded it."""
    is_forwarded = any(name in request.headers for name in _FORWARDING)
    return bool(request.state.is_loopback) and not is_forwarded


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
