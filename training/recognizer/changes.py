"""Writes and reads what was learned, as changes of the published weights."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from recibo.extract.ocr.paddle.fine_tuning import STEP, STEPS, Weights, change

#: The largest number of steps in 8 bits.
_MOST = 127


def read(file: Path) -> Mapping[str, Weights]:
    """Return the changes of a file by the names of weights."""
    with np.load(file, allow_pickle=False) as arrays:
        names = [name.removesuffix(STEPS) for name in arrays if name.endswith(STEPS)]
        return {name: change(arrays[name + STEPS], arrays[name + STEP]) for name in names}


def part(
    end: Mapping[str, Weights], share: float, start: Mapping[str, Weights] = MappingProxyType({})
) -> Mapping[str, Weights]:
    """Return the changes this share of the way from those at the start to those at the end.

    Weights halfway between the published and the learned ones read better than the learned ones
    where the generated lines are not like real ones (https://arxiv.org/abs/2109.01903).
    """
    return {
        name: share * moved + (1 - share) * start.get(name, np.zeros_like(moved))
        for name, moved in end.items()
    }


def write(file: Path, changes: Mapping[str, Weights]) -> None:
    """Write the changes of the published weights."""
    arrays: dict[str, npt.NDArray[np.int8] | Weights] = {}
    for name, moved in changes.items():
        rows = moved.reshape(len(moved) if moved.ndim > 1 else 1, -1)
        largest = np.abs(rows).max(axis=1)
        step = np.where(largest > 0, largest / _MOST, 1).astype(np.float32)
        steps = np.round(rows / step[:, None]).astype(np.int8)
        arrays |= {name + STEPS: steps.reshape(moved.shape), name + STEP: step}
    np.savez_compressed(file, allow_pickle=False, **arrays)
