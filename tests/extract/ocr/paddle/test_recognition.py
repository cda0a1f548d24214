"""Lines are read, and letters are joined to pieces of text."""

import numpy as np
import pytest
from PIL import Image, ImageDraw

from recibo.extract.model import Picture
from recibo.extract.ocr.paddle import recognition
from recibo.extract.ocr.paddle.onnxruntime_network import OnnxRuntimeNetwork
from recibo.extract.ocr.paddle.recognition import Recognizer, _Letter, _pieces
from training.receipts import faces


@pytest.fixture(scope="module")
def recognizer() -> Recognizer:
    """Return the recognizer that every installation can run."""
    return Recognizer(OnnxRuntimeNetwork(recognition.MODEL))


def printed(text: str, size: int) -> Picture:
    """Return a line as coarse as a receipt printer's, without grays."""
    font = faces.DEJAVU_MONO.font(size, is_bold=False)
    page = Image.new("L", (int(font.getlength(text)) + 6, size + 6), 255)
    ImageDraw.Draw(page).text((3, 2), text, 0, font)
    dots = page.point(lambda gray: 0 if gray < 150 else 255)
    line = dots.resize((round(dots.width * recognition.HEIGHT / dots.height), recognition.HEIGHT))
    return np.repeat(np.asarray(line)[:, :, None], 3, axis=2)


def worn(line: Picture) -> Picture:
    """Return a line of which every other column is not printed."""
    line[:, 1::2] = 255
    return line


# The published model reads none of the following lines.
@pytest.mark.parametrize("text", ["KJØTTDEIG 400G", "ØL 0,5L"])
@pytest.mark.parametrize("size", [14, 16])
def test_crossed_letters_of_printers_are_read(recognizer: Recognizer, text: str, size: int) -> None:
    assert [text] == [piece.text for piece in recognizer(printed(text, size))]


@pytest.mark.parametrize(
    "text", ["OLEO SOJA 900ML", "COCA COLA 2L", "LIMAO TAITI KG", "KEFIR 250ml", "NOVA ESPERANCA"]
)
@pytest.mark.parametrize("size", [14, 16])
def test_worn_print_is_read(recognizer: Recognizer, text: str, size: int) -> None:
    read = recognizer(worn(printed(text, size)))

    assert text == " ".join(piece.text for piece in read)


def letters(text: str, xs: list[float], probability: float = 0.9) -> list[_Letter]:
    """Return the letters of a text at these positions."""
    return [_Letter(sign, probability, x) for sign, x in zip(text, xs, strict=True)]


def texts(found: list[_Letter]) -> list[str]:
    """Return the text of each piece of a line 400 pixels wide."""
    return [piece.text for piece in _pieces(found, 400)]


def test_an_even_line_is_one_piece() -> None:
    assert ["TOTAL 12"] == texts(letters("TOTAL 12", [10, 30, 50, 70, 90, 110, 130, 150]))


def test_columns_that_touch_are_separated() -> None:
    """`23,28` and `18,00` stand in two columns of a table, and no blank was read between them."""
    found = letters("23,2818,00", [16, 32, 40, 56, 64, 104, 120, 128, 144, 160])

    assert ["23,28", "18,00"] == texts(found)


def test_pieces_have_their_place() -> None:
    first, second = _pieces(letters("ab", [10, 30]) + letters("cd", [300, 320]), 400)

    assert 0.0 == first.start
    assert first.end == second.start
    assert 30 / 400 < first.end < 300 / 400
    assert 1.0 == second.end


def test_widely_spaced_letters_are_one_piece() -> None:
    assert ["TOTAL"] == texts(letters("TOTAL", [10, 70, 130, 190, 250]))


def test_a_line_without_letters_is_one_empty_piece() -> None:
    (piece,) = _pieces([], 400)

    assert ("", 0.0) == (piece.text, piece.confidence)


def test_the_confidence_of_a_piece_is_the_mean_of_its_letters() -> None:
    (piece,) = _pieces(letters("a", [10], 0.4) + letters("b", [30], 0.8), 400)

    assert 0.6 == round(piece.confidence, 6)
