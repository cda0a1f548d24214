"""The style page."""

from pathlib import Path
from typing import Any

from tests import installation


async def test_style_page_exists_only_in_development(sqlite_url: str, tmp_path: Path) -> None:
    production: dict[str, Any] = {
        "environment": "production",
        "secret_key": 48 * "s",
        "base_url": "https://recibo.test",
        "email_url": "smtp://127.0.0.1:1",
    }
    statuses = []
    for settings in ({}, production):
        async with installation.start(
            sqlite_url, tmp_path, with_worker=False, **settings
        ) as service:
            statuses.append((await service.stranger.get("/portal/style")).status_code)

    assert [200, 404] == statuses
