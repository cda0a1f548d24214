"""Only pages of the service itself may use a session's cookies (CSRF protection)."""

from urllib.parse import urlsplit

from fastapi import Request

from recibo.errors import CrossSiteRequest

_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_PORTS = {"http": 80, "https": 443}


def refuse_cross_site(request: Request, base_url: str) -> None:
    """Refuse a request that a page of another site makes with the session's cookies.

    Requests with an Authorization header pass: browsers never add one on their own. So do requests
    without `Origin` and `Sec-Fetch-Site`: they do not come from a browser.

    Raises:
        CrossSiteRequest: the browser says that the page is of another site.
    """
    if "authorization" not in request.headers:
        refuse_foreign_page(request, base_url)


def refuse_foreign_page(request: Request, base_url: str) -> None:
    """Refuse a request that a page of another site makes, with any credential.

    Raises:
        CrossSiteRequest: the browser says that the page is of another site.
    """
    if request.method in _SAFE_METHODS:
        return
    origin = request.headers.get("origin")
    is_foreign = origin is not None and not _is_own(origin, request, base_url)
    if is_foreign or request.headers.get("sec-fetch-site") == "cross-site":
        raise CrossSiteRequest


def _is_own(origin: str, request: Request, base_url: str) -> bool:
    own = {_origin_of(str(request.url)), _origin_of(base_url)} - {None}
    return _origin_of(origin) in own


def _origin_of(url: str) -> tuple[str, str, int | None] | None:
    """Return scheme, host and port (RFC 6454); None for `null` and URLs without a host."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.scheme and parts.hostname else None
