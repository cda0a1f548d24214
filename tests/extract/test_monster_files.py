"""Files with very many of one part: four times the parts are hardly more than so much work.

What decoders written in C do is counted in processor time, the least of several runs.
"""

import time
from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from recibo.extract import barcodes
from recibo.extract.document import pages
from recibo.extract.errors import Damaged, ReadingError
from recibo.extract.model import Page, Picture
from recibo.extract.ocr.paddle.detection import MAX_REGIONS, Detector
from tests.extract import monster_pdfs, monster_pictures

# Four times as many parts, the logarithm, and as much again for what caches and others on the
# machine do; by the square it would be sixteen times.
_MOST = 9.0
_RUNS, _MOST_RUNS = 3, 8
# Shorter times are those of the machine.
_LEAST_S = 0.002


def _load(data: bytes) -> None:
    """Do what uploading and reading do before anything is recognized."""
    try:
        pages.inspect(data)
        for page in pages.pages(data):
            page.draw(0.25)
    except ReadingError:
        return


def _took(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _growth(small: Callable[[], object], large: Callable[[], object]) -> float:
    """Return how many times the processor time of one grows in the other."""
    # What is loaded once counts for neither.
    small()
    times: list[tuple[float, float]] = []
    growth = _MOST
    while len(times) < _RUNS or (growth >= _MOST and len(times) < _MOST_RUNS):
        times.append((_took(small), _took(large)))
        fewest, most = (min(column) for column in zip(*times, strict=True))
        growth = most / max(fewest, _LEAST_S)
    return growth


def _growth_of_loading(made: Callable[[int], bytes], few: int) -> float:
    """Return how many times the work grows with four times as many parts."""
    small, large = made(few), made(4 * few)
    return _growth(lambda: _load(small), lambda: _load(large))


@pytest.mark.parametrize("name", monster_pictures.FILES)
def test_pictures_are_loaded(name: str) -> None:
    """However many parts they have."""
    made, few = monster_pictures.FILES[name]

    assert _growth_of_loading(made, few) < _MOST


@pytest.mark.parametrize("name", monster_pdfs.FILES)
def test_pdfs_are_loaded(name: str) -> None:
    """However many objects of any kind, or layers of one."""
    made, few = monster_pdfs.FILES[name]

    assert _growth_of_loading(made, few) < _MOST


def test_exif_without_end_is_refused() -> None:
    """Pillow copies all earlier segments at each."""
    made = monster_pictures.jpeg_of(0xE1, b"Exif\0\0II*\0")

    assert pages.inspect(made(20)).page_count == 1
    with pytest.raises(Damaged):
        pages.inspect(made(1_000))


def test_overlapping_strips_are_refused() -> None:
    """Where libtiff turns the bits of each of them round."""
    assert pages.inspect(monster_pictures.tiff_of_reversed_strips(1)).page_count == 1
    with pytest.raises(Damaged):
        pages.inspect(monster_pictures.tiff_of_reversed_strips(2_000))


def test_a_tiff_whose_pages_go_round_ends() -> None:
    assert pages.inspect(monster_pictures.looped_tiff(20)).page_count == 20


@pytest.mark.parametrize("name", ["noise", "specks", "finders", "codes", "squares"])
def test_codes_are_looked_for(name: str) -> None:
    """However much of a picture looks like a part of one."""

    def look(side: int) -> Callable[[], object]:
        picture = monster_pictures.pattern(name, side)
        page = Page(1, side, side, lambda _: picture)
        return lambda: barcodes.find(page, [], is_exact=False)

    assert _growth(look(500), look(1_000)) < _MOST


@pytest.mark.parametrize("name", ["noise", "specks", "squares"])
def test_codes_are_looked_for_harder(name: str) -> None:
    """Where a document lacks its key, in pictures of other light and of twice the size."""

    def look(side: int) -> Callable[[], object]:
        picture = monster_pictures.pattern(name, side)

        def draw(scale: float) -> Picture:
            return np.asarray(cv2.resize(picture, None, fx=scale, fy=scale), dtype=np.uint8)

        page = Page(1, side, side, draw)
        return lambda: barcodes.find(page, ["DANFE"], is_exact=False)

    assert _growth(look(200), look(400)) < _MOST


def test_no_more_lines_are_found_than_a_page_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map of specks without end, of which none is too small for a line."""

    class Network:
        def __init__(self, _: str) -> None: ...

        def __call__(self, picture: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
            chances = np.zeros((1, 1, *picture.shape[2:]), np.float32)
            for down in range(8):
                chances[:, :, down::16, 2:] = 1.0
            for across in range(6):
                chances[:, :, :, across::14] = 0.0
            return chances

    monkeypatch.setattr(
        "recibo.extract.ocr.paddle.detection.OnnxRuntimeNetwork", Network, raising=True
    )

    found = Detector()(np.full((1_280, 1_280, 3), 255, np.uint8))

    assert 0 < len(found) <= MAX_REGIONS
