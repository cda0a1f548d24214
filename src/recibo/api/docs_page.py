"""GET /docs: the documents of the interface, to read and to try, without a script in the page."""

from fastapi import APIRouter, Response

router = APIRouter(include_in_schema=False)

#: Where the scripts and styles of Swagger UI are served.
STATIC = "/static-offline-docs"

_PAGE = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Recibo - API</title>
<link rel="stylesheet" href="{STATIC}/swagger-ui.css">
<link rel="icon" href="{STATIC}/favicon.png">
<link rel="alternate" type="application/json" href="/openapi.json">
</head>
<body>
<div id="swagger-ui"></div>
<script src="{STATIC}/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
_START = """"use strict";
SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  layout: "BaseLayout",
  deepLinking: true,
  showExtensions: true,
  showCommonExtensions: true,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
});
"""
# Its icons are pictures within its styles.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@router.get("/docs")
async def page() -> Response:
    """Return the page that shows /openapi.json."""
    return Response(_PAGE, media_type="text/html", headers={"Content-Security-Policy": _POLICY})


@router.get("/docs/start.js")
async def start() -> Response:
    """Return the script that starts the page."""
    return Response(_START, media_type="text/javascript")
