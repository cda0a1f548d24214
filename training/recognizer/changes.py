"""Writes and reads what was learned, as changes of the published weights."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.float32]

#: The ends of the names of two arrays for each weight that changes: 8-bit numbers in its shape, and
#: the size of a step for each of its first dimension.
STEPS, STEP = ".steps", ".step"
#: The largest number of steps in 8 bits.
_MOST = 127


def read(file: Path) -> Mapping[str, Weights]:
    """Return the changes of a file by the names of weights."""
    with np.load(file, allow_pickle=False) as arrays:
        names = [name.removesuffix(STEPS) for name in arrays if name.endswith(STEPS)]
        return {name: _change(arrays[name + STEPS], arrays[name + STEP]) for name in names}


def _change(steps: npt.NDArray[np.int8], step: Weights) -> Weights:
    rows = steps.reshape(len(step), -1) * step[:, None]
    return rows.reshape(steps.shape).astype(np.float32)


def write(
    file: Path, published: Mapping[str, Weights], learned: Mapping[str, Weights], share: float
) -> None:
    """Write a share of the way from the published weights to the learned ones.

    Weights halfway between the two read better than the learned ones where the generated lines
    are not like real ones (https://arxiv.org/abs/2109.01903).
    """
    arrays: dict[str, npt.NDArray[np.int8] | Weights] = {}
    for name, weights in published.items():
        change = share * (learned[name] - weights)
        rows = change.reshape(len(change) if change.ndim > 1 else 1, -1)
        largest = np.abs(rows).max(axis=1)
        step = np.where(largest > 0, largest / _MOST, 1).astype(np.float32)
        steps = np.round(rows / step[:, None]).astype(np.int8)
        arrays |= {name + STEPS: steps.reshape(change.shape), name + STEP: step}
    np.savez_compressed(file, allow_pickle=False, **arrays)
