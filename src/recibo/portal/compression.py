"""Compress pages, but only for requests whose text no other site can have chosen.

The size of a compressed page says whether a text of the request is also elsewhere on the page
(BREACH). Another site can open a page with a text of its choice, but the browser then says so.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_MIN_BYTES = 1024
# Level 9 saves 1% and takes twice as long.
_LEVEL = 6
_PAGE = "text/html"
# Exports stream, and documents and pictures are compressed already.
_NO_PAGES = (
    "application/*", "audio/*", "font/*", "image/*", "video/*", "text/csv", "text/plain",
)  # fmt: skip
_OWN = ("same-origin", "none")
# The headers of a request that decide.
_DECIDING = ("Accept-Encoding", "Sec-Fetch-Site", "Sec-Fetch-Mode")


class CompressedPages:
    """ASGI middleware that compresses a page that a person opens from another one or by hand."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._compressed = GZipMiddleware(
            app, minimum_size=_MIN_BYTES, compresslevel=_LEVEL, exclude_content_types=_NO_PAGES
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                _vary(MutableHeaders(scope=message))
            await send(message)

        app = self._compressed if _is_chosen_here(Headers(scope=scope)) else self._app
        await app(scope, receive, answer)


def _is_chosen_here(headers: Headers) -> bool:
    """Return whether the address or the form is one of our own pages or typed by hand.

    Scripts load the page again at its address, which another site may have chosen.
    """
    is_own = headers.get("sec-fetch-site") in _OWN
    return is_own and headers.get("sec-fetch-mode") == "navigate"


def _vary(headers: MutableHeaders) -> None:
    if headers.get("content-type", "").startswith(_PAGE):
        named = headers.get("vary", "")
        for name in _DECIDING:
            if name not in named:
                headers.add_vary_header(name)
