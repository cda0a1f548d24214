import io

import numpy as np
import pypdfium2
import pytest
import zxingcpp
from PIL import Image

from training.receipts import kinds, looks
from training.receipts.faces import Case
from training.receipts.looks import Look
from training.receipts.truth import Document

PICTURES = [Look.CLEAN, Look.SCAN, Look.THERMAL, Look.PHOTO]


@pytest.fixture(scope="module")
def document() -> Document:
    return kinds.make("looks:1", "till", "fr-FR", Case())


@pytest.mark.parametrize("look", Look)
def test_the_same_seed_gives_the_same_file(document: Document, look: Look) -> None:
    first, again = (looks.file(document.print, look, 5) for _ in range(2))

    assert first
    assert first == again


@pytest.mark.parametrize("look", [Look.PDF_SCAN, Look.SCAN, Look.THERMAL, Look.PHOTO])
def test_another_seed_gives_another_damage(document: Document, look: Look) -> None:
    assert looks.file(document.print, look, 5) != looks.file(document.print, look, 6)


@pytest.mark.parametrize("look", PICTURES)
def test_a_picture_shows_dark_print_on_a_lighter_background(document: Document, look: Look) -> None:
    made = looks.file(document.print, look, 5)
    assert made
    picture = np.asarray(Image.open(io.BytesIO(made.data)).convert("L"))

    assert min(picture.shape) > 400
    assert np.percentile(picture, 60) - np.percentile(picture, 1) > 50


def test_a_pdf_contains_the_words_of_its_print(document: Document) -> None:
    made = looks.file(document.print, Look.PDF, 5)
    assert made
    text = pypdfium2.PdfDocument(made.data)[0].get_textpage().get_text_bounded()

    assert document.truth.merchant_name
    assert document.truth.merchant_name.split()[0] in text


def test_a_scanned_pdf_contains_no_words(document: Document) -> None:
    made = looks.file(document.print, Look.PDF_SCAN, 5)
    assert made

    assert not pypdfium2.PdfDocument(made.data)[0].get_textpage().get_text_bounded()


def test_a_picture_of_several_pages_is_not_made() -> None:
    documents = (kinds.make(f"pages:{number}", "invoice", "de-DE", Case()) for number in range(60))
    document = next(document for document in documents if len(document.print.pages) > 1)

    assert looks.file(document.print, Look.PHOTO, 5) is None
    scan = looks.file(document.print, Look.PDF_SCAN, 5)
    assert scan
    assert len(pypdfium2.PdfDocument(scan.data)) == len(document.print.pages)


@pytest.mark.parametrize("look", [Look.CLEAN, Look.THERMAL])
def test_the_codes_of_a_print_are_read_from_its_picture(look: Look) -> None:
    documents = (kinds.make(f"codes:{number}", "till", "nl-NL", Case()) for number in range(60))
    document = next(document for document in documents if any(document.print.codes()))
    made = looks.file(document.print, look, 5)
    assert made

    found = zxingcpp.read_barcodes(Image.open(io.BytesIO(made.data)))
    assert [code.text for code in document.print.codes()] == [code.text for code in found]
