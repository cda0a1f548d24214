"""`/docs`: compressed, and with the landmarks that keyboards and screen readers need."""

import re

import pytest

from tests import make
from tests.installation import Installation

GZIP = {"Accept-Encoding": "gzip"}
SCRIPT = "/static-offline-docs/swagger-ui-bundle.js"


@pytest.mark.parametrize("path", ["/docs", "/openapi.json", "/docs/theme.css", SCRIPT])
async def test_documentation_is_compressed(door: Installation, path: str) -> None:
    compressed = await door.stranger.get(path, headers=GZIP)
    plain = await door.stranger.get(path, headers={"Accept-Encoding": "identity"})

    assert "gzip" == compressed.headers["Content-Encoding"]
    assert "Content-Encoding" not in plain.headers
    assert plain.content == compressed.content


async def test_answers_that_may_hold_secrets_are_not_compressed(reading_door: Installation) -> None:
    for number in range(3):
        await reading_door.extracted(make.jpeg(f"receipt {number}"))
    answers = [
        await reading_door.client.get(
            "/v1/receipts", headers={**GZIP, "X-API-Key": reading_door.secret}
        ),
        await reading_door.stranger.get("/portal/sign-in", headers=GZIP),
    ]

    assert all(len(answer.content) > 1024 for answer in answers)
    assert all("Content-Encoding" not in answer.headers for answer in answers)


async def test_page_has_landmarks_a_heading_and_a_language(door: Installation) -> None:
    page = (await door.stranger.get("/docs")).text

    assert '<html lang="en">' in page
    assert 1 == len(re.findall(r"<h1>", page))
    assert {"header", "main", "nav"} <= set(re.findall(r"<(\w+)", page))
    assert 'href="#docs"' in page
    assert 'id="docs"' in page


async def test_scripts_and_styles_change_their_address_with_their_content(
    door: Installation,
) -> None:
    page = (await door.stranger.get("/docs")).text

    for name in ("theme.css", "start.js"):
        (address,) = re.findall(rf'"(/docs/{re.escape(name)}\?v=[0-9a-f]{{12}})"', page)
        answer = await door.stranger.get(address)
        assert "immutable" in answer.headers["Cache-Control"]
