"""Security headers of pages, data, files and errors."""

import re
from pathlib import Path
from typing import Any

from recibo.web.security_headers import ALWAYS
from tests import installation

PATHS = [
    *("/healthz", "/readyz", "/metrics", "/openapi.json", "/nowhere", "/v1x"),
    *("/docs", "/docs/start.js", "/docs/nowhere", "/static-offline-docs/swagger-ui.css"),
    *("/static-offline-docs/nowhere", "/v1/receipts", "/v1/key", "/v1/nowhere", "/v1/auth/me"),
    *("/", "/portal", "/portal/sign-in", "/portal/nowhere", "/portal/static/watch.js"),
    *("/portal/static/nowhere", "/sandbox/checkout", "/sandbox/nowhere"),
]
HSTS = "Strict-Transport-Security"


async def test_every_answer_says_what_a_browser_may_do_with_it(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as i:
        answers = [
            await i.client.request(method, path) for path in PATHS for method in ("GET", "PUT")
        ]

    for answer in answers:
        assert all(name in answer.headers for name in ALWAYS), answer.url
        assert "nosniff" == answer.headers["X-Content-Type-Options"]
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert HSTS not in answer.headers


async def test_data_is_kept_in_no_cache(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path) as i:
        receipt = await i.extracted(b"\xff\xd8\xffpaper")
        paths = ("/receipts", f"/receipts/{receipt['id']}", "/key", "/nowhere", "/webhooks/events")
        answers = [await i.get(path) for path in paths]

    assert ["no-store"] * len(paths) == [one.headers["Cache-Control"] for one in answers]


async def test_answers_by_tls_ask_for_nothing_else(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(
        sqlite_url, tmp_path, with_worker=False, trusted_proxies="127.0.0.1"
    ) as i:
        proxied = {"X-Forwarded-Proto": "https"}
        result = [await i.stranger.get(path, headers=proxied) for path in PATHS]
        plain = await i.stranger.get("/healthz")

    assert {"max-age=31536000"} == {answer.headers[HSTS] for answer in result}
    assert HSTS not in plain.headers


async def test_production_asks_for_tls_always(sqlite_url: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "environment": "production",
        "secret_key": 48 * "s",
        "base_url": "https://recibo.test",
        "email_url": "smtp://127.0.0.1:1",
    }
    async with installation.start(sqlite_url, tmp_path, with_worker=False, **settings) as i:
        answers = [await i.stranger.get(path) for path in ("/healthz", "/docs", "/portal/sign-in")]

    assert all(HSTS in answer.headers for answer in answers)


async def test_documents_have_no_script_in_the_page(sqlite_url: str, tmp_path: Path) -> None:
    async with installation.start(sqlite_url, tmp_path, with_worker=False) as i:
        page = await i.stranger.get("/docs")
        sources = re.findall(r'(?:<link[^>]*? href|src)="([^"]+)"', page.text)
        loaded = [await i.stranger.get(source) for source in sources]

    assert {200} == {answer.status_code for answer in loaded}
    assert 0 == len(re.findall(r"<script(?![^>]* src=)", page.text))
    assert "script-src 'self';" in page.headers["Content-Security-Policy"]
