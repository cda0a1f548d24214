import io

import pytest
from PIL import Image

from recibo.extract.model import TextPage
from tests import drawing
from tests.extract import typesetting
from training.fields import damage
from training.receipts.strips import Row

PICTURE = drawing.encode(drawing.picture([Row("CORNER SHOP"), Row("TOTAL", "11.00")]), "PNG")
SHEET = typesetting.text_page("\n".join(f"Item number {row}   {row}.00" for row in range(60)))


def text(sheets: list[TextPage]) -> str:
    """Return all words."""
    return " ".join(line.text for sheet in sheets for line in sheet.lines)


@pytest.mark.parametrize("seed", "abcdefgh")
def test_a_damaged_picture_is_reproducible_and_different(seed: str) -> None:
    damaged = damage.picture(PICTURE, seed)

    assert damaged == damage.picture(PICTURE, seed)
    assert Image.open(io.BytesIO(damaged)).tobytes() != Image.open(io.BytesIO(PICTURE)).tobytes()


@pytest.mark.parametrize("how", damage.WORD_DAMAGES)
def test_damaged_words_are_reproducible_and_different(how: str) -> None:
    damaged = damage.words([SHEET], how, "a")

    assert damaged == damage.words([SHEET], how, "a")
    assert text(damaged) != text([SHEET])


def test_a_misread_word_has_a_lower_confidence() -> None:
    before = {word.box: word for line in SHEET.lines for word in line.words}
    (damaged,) = damage.words([SHEET], "more letters", "a")
    misread = [
        word for line in damaged.lines for word in line.words if word.text != before[word.box].text
    ]

    assert misread
    assert all(word.confidence < 1 for word in misread)
