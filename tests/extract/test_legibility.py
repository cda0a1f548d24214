"""Pages in scripts that the engine does not know say so, and give no noise as names."""

import pytest

from recibo.extract import errors, legibility, pipeline
from recibo.extract.model import Box, Hint, Quality, Receipt, TextPage, Word
from tests import drawing, make_documents
from training.receipts import pdf, strips
from training.receipts.faces import DEJAVU_MONO
from training.receipts.strips import Row, Strip

# What one process has read, it reads no more: see `tests/extract/conftest`.
pytestmark = pytest.mark.xdist_group("recognition")

RUSSIAN = (
    Row("Магазин «Ромашка»"),
    Row("город Москва, улица Ленина 15"),
    Row("ИНН 7707083893"),
    Row("Дата", "14.03.2025 10:27"),
    Row("Молоко топлёное", "89.90"),
    Row("Хлеб бородинский", "45.50"),
    Row("ИТОГ", "135.40"),
    Row("Наличными", "200.00"),
    Row("Сдача", "64.60"),
)
GREEK = (
    Row("Παπαδόπουλος και Υιοί"),
    Row("Λεωφόρος Κηφισίας 42, Αθήνα"),
    Row("Ημερομηνία", "14.03.2025 10:27"),
    Row("Γάλα φρέσκο", "1.90"),
    Row("Ψωμί χωριάτικο", "2.50"),
    Row("Σύνολο", "4.40"),
)
# As read on drawn receipts: text and confidence.
AMOUNTS = (("142.50", 0.99), ("132.52", 0.97), ("14.03.2025 10:27", 0.98))
HEBREW = (("D atn", 0.55), ("jaito", 0.6), ("AnTX nyn", 0.62), ("17% nyn", 0.58))
THAI = (("UAR:", 0.62), ("JUNSU", 0.66), ("suvu", 0.6))
BLACK_AND_WHITE = (("Everett, WA", 0.99), ("* * * *", 0.6), ("PARTY PK 18-22", 0.98))


def hints(receipt: Receipt) -> set[Hint]:
    return {hint for page in receipt.pages if page.quality for hint in page.quality.hints}


def words(texts: tuple[tuple[str, float], ...]) -> list[Word]:
    return [
        Word(text, Box(0, 30 * row, 12 * len(text), 30 * row + 20), confidence)
        for row, (text, confidence) in enumerate(texts)
    ]


@pytest.mark.parametrize("rows", [RUSSIAN, GREEK], ids=["Russian", "Greek"])
def test_unknown_script_is_named_and_gives_no_names(rows: tuple[Row, ...]) -> None:
    receipt = pipeline.extract(drawing.encode(drawing.picture(rows), "PNG"))

    assert Hint.UNSUPPORTED_SCRIPT in hints(receipt)
    assert receipt.merchant_name is None
    assert receipt.details.merchant_address is None
    assert receipt.issued_at is not None
    assert "2025-03-14" == receipt.issued_at.value.date.isoformat()
    assert {"135.40", "4.40"} & set(receipt.texts[0].split())


def test_pdf_with_text_is_read_in_any_script() -> None:
    strip = Strip(size=10, face=DEJAVU_MONO)
    receipt = pipeline.extract(pdf.write(strips.set_rows(RUSSIAN, strip)))

    assert not hints(receipt)
    assert receipt.merchant_name is not None
    assert "Ромашка" in receipt.merchant_name.value


def test_known_script_has_no_hint() -> None:
    sheet = drawing.picture(make_documents.till_receipt().rows)

    assert not hints(pipeline.extract(drawing.encode(sheet, "PNG")))


def test_page_without_anything_else_is_refused_with_the_reason() -> None:
    seen = Quality(None, 1.0, 0.0, (), None, (Hint.UNSUPPORTED_SCRIPT,))

    with pytest.raises(errors.UnknownScript, match="script that is not supported"):
        pipeline.understand([[TextPage(1, 500, 900, (), quality=seen)]])


@pytest.mark.parametrize("noise", [HEBREW, THAI], ids=["Hebrew", "Thai"])
def test_letters_that_are_hardly_recognized_are_of_an_unknown_script(
    noise: tuple[tuple[str, float], ...],
) -> None:
    assert legibility.is_unknown_script(words((*noise, *AMOUNTS)), unread=40)


def test_rules_and_stars_are_of_no_script() -> None:
    assert not legibility.is_unknown_script(words((*BLACK_AND_WHITE, *AMOUNTS)), unread=0)


def test_bad_photo_is_not_an_unknown_script() -> None:
    """Its amounts are as doubtful as its names."""
    doubtful = tuple((text, 0.8) for text, _ in AMOUNTS)

    assert not legibility.is_unknown_script(words((*HEBREW, *doubtful)), unread=40)
    assert not legibility.is_unknown_script([], unread=900)


def test_amounts_and_latin_names_stay() -> None:
    known = (("CARREFOUR", 0.99), ("9.90", 0.99))
    noise = (("MOCKBA", 0.99), ("rCtU", 0.7), ("HH 7707083893", 0.9))

    kept = legibility.without_noise(words((*known, *noise)))

    assert ["CARREFOUR", "9.90", "7707083893"] == [word.text for word in kept]
