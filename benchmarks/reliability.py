"""Measures how well confidences are calibrated: tables and a plot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Nearly all receipts with at least this confidence must have the right total.
SURE = 0.9
_BINS = 10
_COLUMNS = 2

#: The headings of `row`.
HEADINGS = ("", "read", "right", "mean", "off by", "AUC", "at 0.9", "of these")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The confidence of a value, and whether it was right."""

    confidence: float
    is_right: bool


def row(name: str, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return one row of the table: percentages, and the AUC."""
    sure = [verdict for verdict in verdicts if verdict.confidence >= SURE]
    return (
        name,
        str(len(verdicts)),
        f"{_share_right(verdicts):.1f}",
        f"{_mean(verdicts):.1f}",
        f"{calibration_error(verdicts):.1f}",
        _auc(verdicts),
        f"{percent(len(sure), len(verdicts)):.1f}",
        f"{_share_right(sure):.1f}" if sure else "-",
    )


def calibration_error(verdicts: Sequence[Verdict]) -> float:
    """Return the expected calibration error over ten bins, in percentage points."""
    return sum(
        abs(_mean(within) - _share_right(within)) * len(within) / len(verdicts)
        for within in _bins(verdicts)
    )


def draw(by_name: Mapping[str, Sequence[Verdict]], path: Path) -> None:
    """Plot accuracy against confidence for each name."""
    from matplotlib.figure import Figure

    rows = -(-len(by_name) // _COLUMNS)
    figure = Figure(figsize=(4 * _COLUMNS, 4 * rows), layout="constrained")
    for place, (name, verdicts) in enumerate(by_name.items()):
        _panel(figure.add_subplot(rows, _COLUMNS, place + 1), name, verdicts)
    figure.savefig(path, dpi=100)


def percent(part: int, whole: int) -> float:
    """Return a part in percent; 0 if the whole is 0."""
    return 100 * part / whole if whole else 0.0


def _panel(axes: "Axes", name: str, verdicts: Sequence[Verdict]) -> None:
    axes.plot([0, 1], [0, 1], linestyle="--", color="grey")
    for within in _bins(verdicts):
        mean, share = _mean(within) / 100, _share_right(within) / 100
        axes.scatter([mean], [share], color="black")
        axes.annotate(str(len(within)), (mean, share), textcoords="offset points", xytext=(5, -12))
    axes.set(title=name, xlabel="confidence", ylabel="right", xlim=(0, 1.04), ylim=(0, 1.04))


def _bins(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Return the verdicts in ten bins of confidence, without empty ones."""
    bins: list[list[Verdict]] = [[] for _ in range(_BINS)]
    for verdict in verdicts:
        bins[min(int(verdict.confidence * _BINS), _BINS - 1)].append(verdict)
    return [within for within in bins if within]


def _mean(verdicts: Sequence[Verdict]) -> float:
    return 100 * sum(verdict.confidence for verdict in verdicts) / (len(verdicts) or 1)


def _share_right(verdicts: Sequence[Verdict]) -> float:
    return percent(sum(verdict.is_right for verdict in verdicts), len(verdicts))


def _auc(verdicts: Sequence[Verdict]) -> str:
    """Return how often a right value has a higher confidence than a wrong one; ties count half."""
    right = [verdict.confidence for verdict in verdicts if verdict.is_right]
    wrong = [verdict.confidence for verdict in verdicts if not verdict.is_right]
    pairs = len(right) * len(wrong)
    if not pairs:
        return "-"
    won = sum((good > bad) + (good == bad) / 2 for good in right for bad in wrong)
    return f"{won / pairs:.2f}"
