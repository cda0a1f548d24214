"""How well a photo can be read, and what would make it better."""

import io

import pytest
from PIL import Image, ImageDraw, ImageFilter

from recibo.extract import pipeline
from recibo.schemas import receipts
from recibo.schemas.receipts import Quality
from tests import drawing, make_documents

# What one process has read, it reads no more: see `tests/extract/conftest`.
pytestmark = pytest.mark.xdist_group("recognition")

SHEET = drawing.picture(make_documents.till_receipt().rows).convert("RGB")
# Paper in a room is not white.
PHOTO = SHEET.point([value * 0.8 for value in range(256)] * 3)


def quality(picture: Image.Image) -> Quality:
    """Return the quality in the evidence of a picture."""
    file = io.BytesIO()
    picture.save(file, "PNG")
    found = receipts.evidence(pipeline.extract(file.getvalue())).quality
    assert found is not None
    return found


def spotted(picture: Image.Image) -> Image.Image:
    """Return a picture with the reflection of a lamp."""
    shown = picture.copy()
    width, height = shown.size
    ImageDraw.Draw(shown).ellipse(
        (width // 3, height // 2, 2 * width // 3, 5 * height // 6), fill="white"
    )
    return shown


def test_good_photo_has_no_hints() -> None:
    found = quality(PHOTO)

    assert () == found.hints
    assert () == found.cut_off
    assert found.sharpness is not None
    assert found.sharpness > 0.8
    assert found.glare == 0


def test_hints_say_what_is_wrong() -> None:
    width, height = PHOTO.size
    cut = PHOTO.crop((width // 9, 0, width, height))
    dark = SHEET.point([value * 0.3 for value in range(256)] * 3)

    assert ("blurred",) == quality(PHOTO.filter(ImageFilter.GaussianBlur(3.2))).hints
    assert ("dark",) == quality(dark).hints
    assert ("glare",) == quality(spotted(PHOTO)).hints
    assert (("cut_off",), ("left",)) == (quality(cut).hints, quality(cut).cut_off)


def test_white_scan_has_no_glare() -> None:
    assert () == quality(SHEET).hints


@pytest.mark.parametrize("share", [0.35])
def test_small_picture_is_named_as_such(share: float) -> None:
    small = PHOTO.resize((round(PHOTO.width * share), round(PHOTO.height * share)))
    found = quality(small)

    assert "low_resolution" in found.hints
    assert found.resolution_dpi is not None
    assert found.resolution_dpi < 110


def test_hardest_page_of_a_document_counts() -> None:
    pages = [PHOTO, spotted(PHOTO), PHOTO]
    receipt = pipeline.extract(drawing.encode_tiff(pages))
    found = receipts.evidence(receipt).quality

    assert found is not None
    assert ("glare",) == found.hints


def test_pdf_with_text_has_no_quality() -> None:
    receipt = pipeline.extract(make_documents.till_receipt().pdf())

    assert receipts.evidence(receipt).quality is None
