"""Fits the weights of confidence and says what they are worth.

    python -m training.confidence.fit DATA --kept FOLDER [--write] [--plot FILE]

Weights are judged on folds that share no seller, and written from all of them.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from benchmarks import measuring, reliability
from benchmarks.reliability import Verdict
from recibo.extract.resolve import confidence
from training.confidence.samples import Sample, samples

_Numbers = npt.NDArray[np.float64]

# What each field is weighed by. More was tried: each kind of sum, the value's recurrence, the
# weakest word, the items. They fit better and say less of other sellers.
_FEATURES = {
    "merchant_name": ("score", "lead", "alone", "doubt", "doubtful", "mixed"),
    "issued_at": ("score", "doubt", "doubtful", "timed"),
    "total": ("score", "lead", "doubt", "doubtful", "exact", "change_off"),
    "subtotal": ("score", "doubt", "doubtful", "parts"),
    "tax": ("score", "doubt", "doubtful", "parts"),
    "document_number": ("score", "doubt", "doubtful"),
}
# How strongly weights are held to zero: of features in units of their spread.
_HELD = 10.0
_FOLDS = 5
_STEPS = 30
_PLOTTED_KINDS = ("clean", "damaged")
_PLOTTED = tuple(
    f"{field}, {kind}"
    for field in ("total", "issued_at", "merchant_name")
    for kind in _PLOTTED_KINDS
)
_HEADER = "# Log-odds for a field's being right: fitted by training/confidence, see its README.\n"


def main() -> None:
    """Fit, print tables, and write the weights if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with both sets and their scorers")
    parser.add_argument("--kept", type=Path, required=True, help="keeps recognised pages")
    parser.add_argument("--write", action="store_true", help="put the weights into the package")
    parser.add_argument("--plot", type=Path, help="where the reliability plot goes")
    asked = parser.parse_args()
    by_field = samples(asked.data, asked.kept)
    verdicts: dict[str, Sequence[Verdict]] = {}
    for field, known in by_field.items():
        by_kind = _verdicts(known, held_out(known, _FEATURES[field]))
        rows = [reliability.row(name, one) for name, one in by_kind.items()]
        measuring.show(f"{field} on sellers held out, percent", reliability.HEADINGS, rows)
        verdicts |= {f"{field}, {kind}": by_kind[f"{kind}: fitted"] for kind in _PLOTTED_KINDS}
    if asked.plot:
        plotted = {name: verdicts[name] for name in _PLOTTED}
        reliability.draw(plotted, asked.plot)
    if asked.write:
        weights = {field: fitted(by_field[field], names) for field, names in _FEATURES.items()}
        Path(confidence.__file__).with_suffix(".toml").write_text(_HEADER + _spelled(weights))


def held_out(known: Sequence[Sample], names: Sequence[str]) -> _Numbers:
    """Return how sure the weights are that were fitted on other sellers."""
    folds = np.array([crc32(sample.group.encode()) % _FOLDS for sample in known])
    sure = np.zeros(len(known))
    for fold in range(_FOLDS):
        others = [sample for sample, own in zip(known, folds, strict=True) if own != fold]
        weights = fitted(others, names)
        held = [sample for sample, own in zip(known, folds, strict=True) if own == fold]
        sure[folds == fold] = _sure(_table(held, names) @ np.array(list(weights.values())))
    return sure


def fitted(known: Sequence[Sample], names: Sequence[str]) -> Mapping[str, float]:
    """Return the weights of a logistic regression, "always" the last, by Newton's method."""
    table = _table(known, names)
    spread = np.append(table[:, :-1].std(axis=0) + 1e-9, 1.0)
    table = table / spread
    share = np.array([sample.share for sample in known])
    right = np.array([float(sample.is_right) for sample in known])
    held = np.diag([_HELD] * len(names) + [0.0])
    weights = np.zeros(len(names) + 1)
    for _ in range(_STEPS):
        sure = _sure(table @ weights)
        slope = table.T @ (share * (right - sure)) - held @ weights
        bend = (table * (share * sure * (1 - sure))[:, None]).T @ table + held
        weights += np.linalg.solve(bend, slope)
    return dict(zip((*names, "always"), (weights / spread).tolist(), strict=True))


def _verdicts(known: Sequence[Sample], sure: _Numbers) -> dict[str, list[Verdict]]:
    """Return for each kind of sample what the finders' scores claim, and what the weights do."""
    by_kind: dict[str, list[Verdict]] = {}
    for sample, claim in zip(known, sure, strict=True):
        before = by_kind.setdefault(f"{sample.kind}: scores", [])
        after = by_kind.setdefault(f"{sample.kind}: fitted", [])
        before.append(Verdict(sample.score, sample.is_right))
        after.append(Verdict(float(claim), sample.is_right))
    return by_kind


def _table(known: Sequence[Sample], names: Sequence[str]) -> _Numbers:
    return np.array([[*(float(sample.features[name]) for name in names), 1.0] for sample in known])


def _sure(log_odds: _Numbers) -> _Numbers:
    sure: _Numbers = 1 / (1 + np.exp(-log_odds))
    return sure


def _spelled(weights: Mapping[str, Mapping[str, float]]) -> str:
    tables = (
        f"\n[{field}]\n" + "".join(f"{name} = {weight:.3f}\n" for name, weight in own.items())
        for field, own in weights.items()
    )
    return "".join(tables)


if __name__ == "__main__":
    main()
