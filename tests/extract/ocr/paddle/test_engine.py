"""The engine reads pictures in any rotation."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from PIL import Image

from recibo.extract.model import Picture
from recibo.extract.ocr.engine import Reading
from recibo.extract.ocr.paddle.engine import PaddleEngine
from tests import drawing
from training.receipts.strips import Row

# What one process has read, it reads no more: see `tests/extract/conftest`.
pytestmark = pytest.mark.xdist_group("recognition")

ROWS = [
    Row("CORNER SHOP LIMITED", is_centered=True),
    Row("25 High Street, Springfield", is_centered=True),
    Row("Espresso doppio", "6.20"),
    Row("Butter croissant", "4.80"),
    Row("Mineral water", "2.10"),
    Row("TOTAL", "13.10"),
    Row("Thank you for your visit", is_centered=True),
]


@pytest.fixture(scope="module")
def engine() -> PaddleEngine:
    """The engine with its models loaded."""
    return PaddleEngine()


@pytest.fixture(scope="module")
def upright() -> Picture:
    """A receipt."""
    return np.asarray(drawing.picture(ROWS))


def texts(reading: Reading) -> str:
    """Return the text of a reading from top to bottom, without spaces."""
    words = sorted(reading.words, key=lambda word: (round(word.box.y_center / 20), word.box.x0))
    return "".join(word.text for word in words).replace(" ", "")


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_picture_is_read_in_any_rotation(
    engine: PaddleEngine, upright: Picture, turns: int
) -> None:
    """A picture rotated counterclockwise needs as many quarter turns clockwise."""
    reading = engine.read(np.ascontiguousarray(np.rot90(upright, turns)))

    assert turns == reading.turns
    assert "".join(row.left + row.right for row in ROWS).replace(" ", "") == texts(reading)


@pytest.mark.parametrize("bow", [-70, 50, 100])
def test_bent_lines_are_read(engine: PaddleEngine, bow: int) -> None:
    """Their smallest rectangles are mostly empty, or hold parts of other lines."""
    rows = [Row(f"Order {number} of March, open till late at night", "9.20") for number in range(9)]

    reading = engine.read(np.asarray(drawing.curled(drawing.picture(rows), bow)))

    names = [
        word.text.replace(" ", "").casefold()
        for word in sorted(reading.words, key=lambda word: word.box.y_center)
        if word.text != "9.20"
    ]
    assert "".join(row.left for row in rows).replace(" ", "").casefold() == "".join(names)
    assert len(rows) == sum(word.text == "9.20" for word in reading.words)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_rotated_picture_is_read_exactly_like_an_upright_one(
    engine: PaddleEngine, upright: Picture, turns: int
) -> None:
    turned = engine.read(np.ascontiguousarray(np.rot90(upright, turns)))

    assert engine.read(upright).words == turned.words


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_blurred_picture_is_rotated_upright(
    engine: PaddleEngine, upright: Picture, turns: int
) -> None:
    blurred = np.asarray(cv2.GaussianBlur(upright, (0, 0), 4), dtype=np.uint8)

    reading = engine.read(np.ascontiguousarray(np.rot90(blurred, turns)))

    assert turns == reading.turns
    assert "CORNER SHOP LIMITED" in [word.text for word in reading.words]


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_rules_of_dashes_do_not_decide_the_rotation(engine: PaddleEngine, turns: int) -> None:
    """They are the longest lines, and the same upside down."""
    rule = Row("-" * 34)
    upright = np.asarray(drawing.picture([row for line in ROWS for row in (rule, line)]))

    assert turns == engine.read(np.ascontiguousarray(np.rot90(upright, turns))).turns


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_long_vertical_marks_do_not_decide_the_rotation(
    engine: PaddleEngine, upright: Picture, turns: int
) -> None:
    mark = np.asarray(drawing.picture([Row("- " * 17)]).rotate(90, expand=True))
    strip = mark[mark.shape[0] - upright.shape[0] :]
    page = np.hstack([strip] * 5 + [upright])

    assert turns == engine.read(np.ascontiguousarray(np.rot90(page, turns))).turns


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_bars_of_a_barcode_do_not_decide_the_rotation(
    engine: PaddleEngine, upright: Picture, turns: int
) -> None:
    height, width = upright.shape[:2]
    with_bars = cv2.copyMakeBorder(upright, 0, 260, 0, 0, cv2.BORDER_CONSTANT, value=(255,) * 3)
    for left in range(20, width - 30, 14):
        # Each bar is broken, like those of a PDF417 code.
        for top in range(height + 40, height + 220, 4):
            with_bars[top : top + 3, left : left + 8] = 0

    reading = engine.read(np.ascontiguousarray(np.rot90(with_bars, turns)))

    assert turns == reading.turns
    assert "CORNER SHOP LIMITED" in [word.text for word in reading.words]


def test_boxes_are_around_the_letters_of_the_upright_picture(
    engine: PaddleEngine, upright: Picture
) -> None:
    reading = engine.read(np.ascontiguousarray(np.rot90(upright, 1)))

    box = next(word.box for word in reading.words if word.text == "13.10")
    inside = upright[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)]
    assert inside.min() < 60
    assert inside.mean() < 240


@pytest.mark.parametrize("degrees", [-8, 8])
def test_slanted_text_has_its_slope(engine: PaddleEngine, degrees: float) -> None:
    page = drawing.picture(ROWS).rotate(-degrees, fillcolor="white", expand=True)

    reading = engine.read(np.asarray(page))

    longest = max(reading.words, key=lambda word: len(word.text))
    assert np.degrees(np.arctan(longest.slope)) == pytest.approx(degrees, abs=1.5)
    assert longest.box.height < 60


def test_vertical_text_at_the_side_is_read(engine: PaddleEngine, upright: Picture) -> None:
    stub = drawing.picture([Row("PAID IN CASH")]).rotate(90, expand=True)
    page = Image.new("RGB", (upright.shape[1] + stub.width, upright.shape[0]), "white")
    page.paste(stub.crop((0, 400, stub.width, stub.height)), (0, 0))
    page.paste(Image.fromarray(upright), (stub.width, 0))

    reading = engine.read(np.asarray(page))

    vertical = [word for word in reading.words if word.is_vertical]
    assert reading.turns == 0
    assert "PAIDINCASH" == "".join(word.text for word in vertical).replace(" ", "")


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (900, 3), (40, 40)])
def test_pictures_without_text_have_no_words(engine: PaddleEngine, size: tuple[int, int]) -> None:
    blank = np.full((*size, 3), 255, np.uint8)

    assert Reading(()) == engine.read(blank)


def test_noise_does_not_fail(engine: PaddleEngine) -> None:
    noise = np.random.default_rng(3).integers(0, 255, (500, 500, 3)).astype(np.uint8)

    engine.read(noise)


@pytest.mark.parametrize(("sureness", "is_kept"), [(1.0, True), (0.5, False)])
def test_a_later_pass_reads_uncertain_words_again(
    engine: PaddleEngine, upright: Picture, sureness: float, *, is_kept: bool
) -> None:
    first = engine.read(upright)
    words = tuple(replace(word, text="KNOWN", confidence=sureness) for word in first.words)

    later = engine.read(upright, scale=1.5, earlier=Reading(words))

    assert is_kept == (texts(later) == "KNOWN" * len(words))
    assert is_kept != (texts(later) == texts(first))


def test_a_later_pass_keeps_the_words_with_the_higher_confidence(
    engine: PaddleEngine, upright: Picture
) -> None:
    """Here the later pass has only every fourth column of the lower half."""
    words = [replace(word, text="KNOWN", confidence=0.96) for word in engine.read(upright).words]
    worn = upright.copy()
    worn[len(worn) // 2 :, np.arange(worn.shape[1]) % 4 > 0] = 255

    later = engine.read(worn, earlier=Reading(tuple(words))).words

    kept = [word for word in later if word in words]
    assert 0 < len(kept) < len(later)
    assert all(word.confidence >= 0.96 for word in later)


def test_a_later_pass_keeps_the_rotation_of_the_first(
    engine: PaddleEngine, upright: Picture
) -> None:
    turned = np.ascontiguousarray(np.rot90(upright, 3))
    first = engine.read(turned)

    later = engine.read(turned, scale=1.5, earlier=first)

    assert 3 == later.turns
    assert texts(first) == texts(later)


def test_words_that_an_earlier_pass_missed_are_found(
    engine: PaddleEngine, upright: Picture
) -> None:
    first = engine.read(upright)

    later = engine.read(upright, earlier=replace(first, words=first.words[2:]))

    assert texts(first) == texts(later)


def test_a_column_of_single_digits_is_read_on_a_blurred_photo(engine: PaddleEngine) -> None:
    """The detection network does not find these digits: it was trained on words."""
    rows = [
        *ROWS[:2],
        Row("1   Fresh buttermilk", "2.29"),
        Row("1   White bread", "4.20"),
        Row("1   Salted butter", "2.35"),
        Row("TOTAL", "8.84"),
        *ROWS[-1:],
    ]
    margins = ((400, 400), (400, 400), (0, 0))
    sheet = np.pad(np.asarray(drawing.picture(rows)), margins, constant_values=255)
    photo = np.asarray(cv2.GaussianBlur(sheet / 3 + 150, (0, 0), 3), dtype=np.uint8)

    reading = engine.read(photo)

    assert [word.text for word in reading.words].count("1") == 3
