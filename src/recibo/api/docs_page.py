"""GET /docs: the OpenAPI document to read and to try, without any script in the page itself."""

import hashlib
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

router = APIRouter(include_in_schema=False)

#: Where the scripts and styles of Swagger UI are served.
STATIC = "/static-offline-docs"

_FOLDER = Path(__file__).parent / "static"
_OPENAPI = "/openapi.json"
_MIN_BYTES = 1024
# Level 9 saves 1% and takes twice as long.
_LEVEL = 6
# The icons of Swagger UI are pictures within its styles.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


class CompressedDocs:
    """ASGI middleware that compresses the documentation, and nothing that holds a secret."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._compressed = GZipMiddleware(app, minimum_size=_MIN_BYTES, compresslevel=_LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        is_docs = scope["type"] == "http" and _is_documentation(scope["path"])
        await (self._compressed if is_docs else self._app)(scope, receive, send)


@router.get("/docs")
async def show_docs() -> Response:
    """Return the page that shows /openapi.json."""
    page = (
        _content("docs.html")
        .decode()
        .format(
            static=STATIC, openapi=_OPENAPI, theme=_address("theme.css"), start=_address("start.js")
        )
    )
    return Response(page, media_type="text/html", headers={"Content-Security-Policy": _POLICY})


@router.get("/docs/start.js")
async def get_start_script() -> Response:
    """Return the script that starts Swagger UI."""
    return Response(_content("start.js"), media_type="text/javascript", headers=_FOREVER)


@router.get("/docs/theme.css")
async def get_theme() -> Response:
    """Return the styles that give Swagger UI the look of the portal."""
    return Response(_content("theme.css"), media_type="text/css", headers=_FOREVER)


def _is_documentation(path: str) -> bool:
    return path in {_OPENAPI, "/docs"} or path.startswith(("/docs/", f"{STATIC}/"))


@cache
def _content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()


def _address(name: str) -> str:
    """Return a path that changes with the content, so that browsers may keep the file."""
    return f"/docs/{name}?v={hashlib.sha256(_content(name)).hexdigest()[:12]}"
