"""Pages are compressed only where no other site can have chosen a text of the request."""

from pathlib import Path

import pytest

from tests.installation import Installation
from tests.portal import pages, receipt_pages

NAVIGATED = {"Accept-Encoding": "gzip", "Sec-Fetch-Mode": "navigate"}


@pytest.mark.parametrize(
    ("headers", "is_compressed"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({}, False),
        # A script may ask for an address that another site chose.
        ({"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}, False),
        ({"Sec-Fetch-Site": "same-origin", "Accept-Encoding": "identity"}, False),
    ],
    ids=["own page", "typed", "other site", "subdomain", "no browser", "script", "not accepted"],
)
async def test_page_is_compressed_for_own_pages_and_typed_addresses(
    sqlite_service: Installation, headers: dict[str, str], *, is_compressed: bool
) -> None:
    for path in ("/portal/sign-in", "/portal/nowhere"):
        answer = await sqlite_service.stranger.get(path, headers={**NAVIGATED, **headers})

        assert is_compressed == (answer.headers.get("content-encoding") == "gzip")
        assert "Recibo" in pages.parse(answer).title
        vary = answer.headers["vary"].split(", ")
        assert {"Accept-Encoding", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Cookie"} <= set(vary)
        assert len(vary) == len(set(vary))


async def test_documents_and_exports_are_sent_as_they_are(sqlite_url: str, tmp_path: Path) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        answers = [
            await service.stranger.get(
                f"{receipt_pages.PATH}/{path}",
                headers={**NAVIGATED, "Sec-Fetch-Site": "same-origin"},
            )
            for path in (f"{receipt_id}/file", f"{receipt_id}/json", "export?format=csv")
        ]

    for answer in answers:
        assert 200 == answer.status_code
        assert "content-encoding" not in answer.headers
