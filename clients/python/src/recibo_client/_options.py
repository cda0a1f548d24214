"""Where the server is and how to ask it, from arguments or the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from recibo_client._version import __version__
from recibo_client.errors import ConfigurationError

LOCAL_URL = "http://127.0.0.1:8000"
# The server holds an upload for 25 seconds.
TIMEOUT_SECONDS = 60.0
RETRY_SECONDS = 30.0
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Options:
    """The options of a client."""

    api_key: str
    base_url: str
    timeout: float
    retry_seconds: float

    def url(self, path: str) -> str:
        """Return the URL of a path."""
        return self.base_url + path

    def headers(self) -> dict[str, str]:
        """Return the headers of every request."""
        agent = f"recibo-client-python/{__version__}"
        return {"X-API-Key": self.api_key, "User-Agent": agent}

    def limits(self, wait_seconds: float) -> httpx.Timeout:
        """Return the time limits of a request that the server may hold for a while."""
        read = max(self.timeout, wait_seconds + min(self.timeout, _CONNECT_SECONDS))
        return httpx.Timeout(read, connect=min(self.timeout, _CONNECT_SECONDS))


def make(
    api_key: str | None, *, base_url: str | None, timeout: float, retry_seconds: float
) -> Options:
    """Return options; what is None comes from RECIBO_API_KEY and RECIBO_URL."""
    key = api_key or os.environ.get("RECIBO_API_KEY", "")
    if not key:
        message = "No API key: set RECIBO_API_KEY; in Python, Recibo() takes one, too."
        raise ConfigurationError(message)
    if not (key.isascii() and key.isprintable()) or " " in key:
        message = "The API key has characters that no key has: was it copied whole?"
        raise ConfigurationError(message)
    url = base_url or os.environ.get("RECIBO_URL") or LOCAL_URL
    if not url.startswith(("http://", "https://")):
        message = f"The URL of the server begins with https:// or http://, not {url!r}."
        raise ConfigurationError(message)
    _require_host(url)
    root = url.rstrip("/").removesuffix("/v1")
    return Options(key, root, timeout, retry_seconds)


def _require_host(url: str) -> None:
    try:
        parts = urlsplit(url)
        # Reading the port checks it.
        is_server = bool(parts.hostname) and parts.port != 0 and not set(url) & set(" \t\r\n")
    except ValueError:
        is_server = False
    if not is_server:
        message = f"The URL of the server needs a host, such as https://example.com, not {url!r}."
        raise ConfigurationError(message)
