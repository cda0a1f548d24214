"""Files with very many of one part: four times the parts take about four times the work.

The work of decoders written in C is measured in processor time, the least of several runs.
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
from tests.extract import stress_pdfs, stress_pictures

# Four times as many parts, the logarithm, and a tolerance for caches and other processes on the
# machine; quadratic work would be sixteen times.
_MOST = 9.0
_RUNS, _MOST_RUNS = 3, 8
# Shorter times are too noisy.
_LEAST_S = 0.002


def _load(data: bytes) -> None:
    """Do the steps of uploading and reading before OCR."""
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
    """Return the processor time of the second call as a multiple of the first."""
    # One-time loading is not measured.
    small()
    times: list[tuple[float, float]] = []
    growth = _MOST
    while len(times) < _RUNS or (growth >= _MOST and len(times) < _MOST_RUNS):
        times.append((_took(small), _took(large)))
        fewest, most = (min(column) for column in zip(*times, strict=True))
        growth = most / max(fewest, _LEAST_S)
    return growth


def _growth_of_loading(made: Callable[[int], bytes], few: int) -> float:
    """Return the growth of the work with four times as many parts."""
    small, large = made(few), made(4 * few)
    return _growth(lambda: _load(small), lambda: _load(large))


@pytest.mark.parametrize("name", stress_pictures.FILES)
def test_pictures_are_loaded(name: str) -> None:
    """With any number of parts."""
    made, few = stress_pictures.FILES[name]

    assert _growth_of_loading(made, few) < _MOST


@pytest.mark.parametrize("name", stress_pdfs.FILES)
def test_pdfs_are_loaded(name: str) -> None:
    """With any number of objects of a kind, or levels of nesting."""
    made, few = stress_pdfs.FILES[name]

    assert _growth_of_loading(made, few) < _MOST


def test_a_picture_with_very_many_exif_segments_is_refused() -> None:
    """Pillow copies all earlier segments for each one."""
    made = stress_pictures.jpeg_of(0xE1, b"Exif\0\0II*\0")

    assert pages.inspect(made(20)).page_count == 1
    with pytest.raises(Damaged):
        pages.inspect(made(1_000))


def test_overlapping_strips_are_refused() -> None:
    """If libtiff must reverse the bits of each of them."""
    assert pages.inspect(stress_pictures.tiff_of_reversed_strips(1)).page_count == 1
    with pytest.raises(Damaged):
        pages.inspect(stress_pictures.tiff_of_reversed_strips(2_000))


def test_a_tiff_with_a_loop_of_pages_ends() -> None:
    assert pages.inspect(stress_pictures.looped_tiff(20)).page_count == 20


@pytest.mark.parametrize("name", ["noise", "specks", "finders", "codes", "squares"])
def test_codes_are_searched(name: str) -> None:
    """Even if much of a picture looks like part of a code."""

    def search(side: int) -> Callable[[], object]:
        picture = stress_pictures.pattern(name, side)
        page = Page(1, side, side, lambda _: picture)
        return lambda: barcodes.find(page, [], is_exact=False)

    assert _growth(search(500), search(1_000)) < _MOST


@pytest.mark.parametrize("name", ["noise", "specks", "squares"])
def test_codes_are_searched_in_further_passes(name: str) -> None:
    """Further passes for a document without its key, on enhanced and enlarged pictures."""

    def search(side: int) -> Callable[[], object]:
        picture = stress_pictures.pattern(name, side)

        def draw(scale: float) -> Picture:
            return np.asarray(cv2.resize(picture, None, fx=scale, fy=scale), dtype=np.uint8)

        page = Page(1, side, side, draw)
        return lambda: barcodes.find(page, ["DANFE"], is_exact=False)

    assert _growth(search(200), search(400)) < _MOST


def test_the_number_of_regions_on_a_page_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A map with very many regions, each large enough for a line."""

    class Network:
        def __init__(self, _: str) -> None: ...

        def __call__(self, picture: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
            probabilities = np.zeros((1, 1, *picture.shape[2:]), np.float32)
            for down in range(8):
                probabilities[:, :, down::16, 2:] = 1.0
            for across in range(6):
                probabilities[:, :, :, across::14] = 0.0
            return probabilities

    monkeypatch.setattr(
        "recibo.extract.ocr.paddle.detection.OnnxRuntimeNetwork", Network, raising=True
    )

    found = Detector()(np.full((1_280, 1_280, 3), 255, np.uint8))

    assert 0 < len(found) <= MAX_REGIONS
