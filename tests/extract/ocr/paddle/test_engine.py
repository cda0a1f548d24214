"""The engine reads pictures whichever side they lie on."""

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

ROWS = [
    Row("CORNER SHOP LIMITED", is_centred=True),
    Row("25 High Street, Springfield", is_centred=True),
    Row("Espresso doppio", "6.20"),
    Row("Butter croissant", "4.80"),
    Row("Mineral water", "2.10"),
    Row("TOTAL", "13.10"),
    Row("Thank you for your visit", is_centred=True),
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
    """Return the text of a reading from top to bottom, without blanks."""
    words = sorted(reading.words, key=lambda word: (round(word.box.y_centre / 20), word.box.x0))
    return "".join(word.text for word in words).replace(" ", "")


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_picture_is_read_on_any_side(engine: PaddleEngine, upright: Picture, turns: int) -> None:
    """A picture that was turned counterclockwise needs as many turns clockwise."""
    reading = engine.read(np.ascontiguousarray(np.rot90(upright, turns)))

    assert turns == reading.turns
    assert "".join(row.left + row.right for row in ROWS).replace(" ", "") == texts(reading)


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_picture_is_read_to_the_letter_as_when_it_is_upright(
    engine: PaddleEngine, upright: Picture, turns: int
) -> None:
    turned = engine.read(np.ascontiguousarray(np.rot90(upright, turns)))

    assert engine.read(upright).words == turned.words


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_a_blurred_picture_is_set_upright(
    engine: PaddleEngine, upright: Picture, turns: int
) -> None:
    blurred = np.asarray(cv2.GaussianBlur(upright, (0, 0), 4), dtype=np.uint8)

    reading = engine.read(np.ascontiguousarray(np.rot90(blurred, turns)))

    assert turns == reading.turns
    assert "CORNER SHOP LIMITED" in [word.text for word in reading.words]


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_rules_of_dashes_do_not_tell_the_side(engine: PaddleEngine, turns: int) -> None:
    """They are the longest lines, and read the same on their heads."""
    rule = Row("-" * 34)
    upright = np.asarray(drawing.picture([row for line in ROWS for row in (rule, line)]))

    assert turns == engine.read(np.ascontiguousarray(np.rot90(upright, turns))).turns


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_long_marks_that_run_up_a_page_do_not_tell_the_side(
    engine: PaddleEngine, upright: Picture, turns: int
) -> None:
    mark = np.asarray(drawing.picture([Row("- " * 17)]).rotate(90, expand=True))
    strip = mark[mark.shape[0] - upright.shape[0] :]
    page = np.hstack([strip] * 5 + [upright])

    assert turns == engine.read(np.ascontiguousarray(np.rot90(page, turns))).turns


def test_boxes_lie_on_the_ink_of_the_upright_picture(
    engine: PaddleEngine, upright: Picture
) -> None:
    reading = engine.read(np.ascontiguousarray(np.rot90(upright, 1)))

    box = next(word.box for word in reading.words if word.text == "13.10")
    inside = upright[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)]
    assert inside.min() < 60
    assert inside.mean() < 240


@pytest.mark.parametrize("degrees", [-8, 8])
def test_slanted_writing_tells_its_slope(engine: PaddleEngine, degrees: float) -> None:
    page = drawing.picture(ROWS).rotate(-degrees, fillcolor="white", expand=True)

    reading = engine.read(np.asarray(page))

    longest = max(reading.words, key=lambda word: len(word.text))
    assert np.degrees(np.arctan(longest.slope)) == pytest.approx(degrees, abs=1.5)
    assert longest.box.height < 60


def test_text_that_runs_up_the_side_is_read(engine: PaddleEngine, upright: Picture) -> None:
    stub = drawing.picture([Row("PAID IN CASH")]).rotate(90, expand=True)
    page = Image.new("RGB", (upright.shape[1] + stub.width, upright.shape[0]), "white")
    page.paste(stub.crop((0, 400, stub.width, stub.height)), (0, 0))
    page.paste(Image.fromarray(upright), (stub.width, 0))

    reading = engine.read(np.asarray(page))

    upended = [word for word in reading.words if word.is_upended]
    assert reading.turns == 0
    assert "PAIDINCASH" == "".join(word.text for word in upended).replace(" ", "")


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (900, 3), (40, 40)])
def test_pictures_without_text_have_no_words(engine: PaddleEngine, size: tuple[int, int]) -> None:
    blank = np.full((*size, 3), 255, np.uint8)

    assert Reading(()) == engine.read(blank)


def test_noise_is_survived(engine: PaddleEngine) -> None:
    noise = np.random.default_rng(3).integers(0, 255, (500, 500, 3)).astype(np.uint8)

    engine.read(noise)


@pytest.mark.parametrize(("sureness", "is_kept"), [(1.0, True), (0.5, False)])
def test_a_later_look_reads_again_what_is_in_doubt(
    engine: PaddleEngine, upright: Picture, sureness: float, *, is_kept: bool
) -> None:
    first = engine.read(upright)
    words = tuple(replace(word, text="KNOWN", confidence=sureness) for word in first.words)

    later = engine.read(upright, fineness=1.5, earlier=Reading(words))

    assert is_kept == (texts(later) == "KNOWN" * len(words))
    assert is_kept != (texts(later) == texts(first))


def test_a_later_look_keeps_the_surer_reading(engine: PaddleEngine, upright: Picture) -> None:
    """Here the later look has only each third column of the letters."""
    words = [replace(word, text="KNOWN", confidence=0.96) for word in engine.read(upright).words]
    worn = upright.copy()
    worn[:, 0::3] = worn[:, 1::3] = 255

    later = engine.read(worn, earlier=Reading(tuple(words))).words

    kept = [word for word in later if word in words]
    assert 0 < len(kept) < len(later)
    assert all(word.confidence >= 0.96 for word in later)


def test_a_later_look_stays_on_the_side_of_the_first(
    engine: PaddleEngine, upright: Picture
) -> None:
    turned = np.ascontiguousarray(np.rot90(upright, 3))
    first = engine.read(turned)

    later = engine.read(turned, fineness=1.5, earlier=first)

    assert 3 == later.turns
    assert texts(first) == texts(later)


def test_what_an_earlier_look_missed_is_found(engine: PaddleEngine, upright: Picture) -> None:
    first = engine.read(upright)

    later = engine.read(upright, earlier=replace(first, words=first.words[2:]))

    assert texts(first) == texts(later)
