from pathlib import Path

import pytest
from PIL import Image

from benchmarks import reliability
from benchmarks.reliability import Verdict


def verdicts(*pairs: tuple[float, bool]) -> list[Verdict]:
    """Return verdicts with this confidence, right or wrong."""
    return [Verdict(confidence, is_right=is_right) for confidence, is_right in pairs]


def test_a_calibrated_confidence_has_no_error() -> None:
    kept = verdicts(*[(0.75, True)] * 3, (0.75, False), *[(1.0, True)] * 5)

    assert reliability.calibration_error(kept) == pytest.approx(0)


def test_the_error_of_a_confidence_that_is_never_right_is_the_confidence() -> None:
    assert reliability.calibration_error(verdicts((0.8, False), (0.8, False))) == pytest.approx(80)


def test_row_has_the_claimed_and_the_true_rate() -> None:
    row = reliability.row("total", verdicts((0.96, True), (0.9, False), (0.5, True), (0.1, False)))

    named = dict(zip(reliability.HEADINGS, row, strict=True))
    assert named == {
        "": "total",
        "read": "4",
        "right": "50.0",
        "mean": "61.5",
        "off by": "36.5",
        "AUC": "0.75",
        "at 0.9": "50.0",
        "of these": "50.0",
    }


def test_no_separation_without_errors() -> None:
    row = reliability.row("total", verdicts((0.5, True), (0.6, True)))

    assert row[-3:] == ("-", "0.0", "-")


def test_a_panel_is_drawn_for_each_name(tmp_path: Path) -> None:
    one, four = tmp_path / "one.png", tmp_path / "four.png"
    known = verdicts((0.9, True), (0.2, False))

    reliability.draw({"total": known}, one)
    reliability.draw(dict.fromkeys(("total", "date", "name", "tax"), known), four)

    with Image.open(one) as row, Image.open(four) as rows:
        assert rows.height == 2 * row.height
