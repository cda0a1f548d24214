"""GET /v1/receipts/{id}/pages/{n}."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from recibo.adapters.fake_reader import FakeReader
from recibo.adapters.reader import Failure, FailureKind, PoolReader
from recibo.extract.model import SeenPage
from tests import drawing, installation, make, receipts
from tests.installation import Installation
from training.receipts.strips import Row

DOCUMENT = make.jpeg("document")


async def test_page_is_upright_and_cached(database_url: str, tmp_path: Path) -> None:
    turned = replace(receipts.sure(), pages=(SeenPage(400, 900, turns=3),))
    reader = FakeReader({DOCUMENT: turned})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        receipt = await service.extracted(DOCUMENT)
        path = f"/receipts/{receipt['id']}/pages"
        whole = await service.get(f"{path}/1")
        small = await service.get(f"{path}/1", width="64")
        stored = await service.get(f"/receipts/{receipt['id']}", include="pages")
        file = await service.file(receipt["id"])
        assert file
        file.unlink()
        again = await service.get(f"{path}/1")
        await service.delete(f"/receipts/{receipt['id']}")
        deleted = await service.get(f"{path}/1")

    assert ("page 1 turned 3 width None", "page 1 turned 3 width 64") == (whole.text, small.text)
    assert "image/webp" == whole.headers["content-type"]
    assert whole.headers["cache-control"].startswith("private")
    assert whole.content == again.content
    assert 404 == deleted.status_code
    assert [{"width": 400, "height": 900, "turns": 3}] == stored.json()["pages"]


@pytest.mark.parametrize("page", ["0", "2", "-1", "01x", "a", "1.0", "99999", "٣", "%00"])
async def test_any_other_page_is_404(page: str, reading_door: Installation) -> None:
    receipt = await reading_door.extracted(DOCUMENT)

    answer = await reading_door.client.get(f"/v1/receipts/{receipt['id']}/pages/{page}")

    assert 404 == answer.status_code


@pytest.mark.parametrize("width", ["63", "1601", "", "64.0", "x"])
async def test_invalid_width_is_refused(width: str, reading_door: Installation) -> None:
    receipt = await reading_door.extracted(DOCUMENT)

    answer = await reading_door.get(f"/receipts/{receipt['id']}/pages/1", width=width)

    assert (400, "width") == (answer.status_code, answer.json()["error"]["details"][0]["field"])


async def test_page_of_another_org_is_404(reading_door: Installation) -> None:
    receipt = await reading_door.extracted(DOCUMENT)
    database = reading_door.database
    other = await make.key(database, await make.org(database))

    answer = await reading_door.get(f"/receipts/{receipt['id']}/pages/1", secret=other)

    assert 404 == answer.status_code


async def test_document_that_cannot_be_drawn_is_404(
    reading_door: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def draw(*_: object, **__: object) -> Failure:
        return Failure(FailureKind.CRASHED, "the process died")

    receipt = await reading_door.extracted(DOCUMENT)
    monkeypatch.setattr(reading_door.reader, "draw", draw)

    assert 404 == (await reading_door.get(f"/receipts/{receipt['id']}/pages/1")).status_code


SHEET = Image.new("RGB", (900, 2400), "white")
# Made by the tests, because encoding takes a while.
FILES = {
    "phone.heic": lambda: drawing.encode(SHEET, "HEIF"),
    "scan.tif": lambda: drawing.encode_tiff([SHEET]),
    "invoice.pdf": lambda: drawing.pdf([Row("Total", "42.59")]),
}


@pytest.mark.parametrize("name", FILES)
async def test_formats_that_browsers_do_not_show_are_drawn(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    reader = PoolReader(processes=1)
    try:
        drawn = [
            await reader.draw(path, 1, turns=0, width=None),
            await reader.draw(path, 1, turns=0, width=64),
            await reader.draw(path, 1, turns=1, width=64),
            await reader.draw(path, 2, turns=0, width=None),
        ]
    finally:
        await reader.aclose()

    *pages, beyond = drawn
    assert beyond is None
    pictures = [Image.open(io.BytesIO(page)) for page in pages if isinstance(page, bytes)]
    assert ["WEBP"] * 3 == [picture.format for picture in pictures]
    whole, small, turned = (picture.size for picture in pictures)
    assert max(whole) <= 1600
    assert (64, 64) == (small[0], turned[0])
    # A quarter turn swaps width and height.
    assert small[1] / 64 == pytest.approx(64 / turned[1], rel=0.05)
    assert small[1] / 64 == pytest.approx(whole[1] / whole[0], rel=0.05)
