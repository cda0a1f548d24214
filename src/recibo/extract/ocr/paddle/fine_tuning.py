"""What the recognizer learned from lines of receipts, as changes of the published weights.

`training/recognizer` fits them and describes them. A file `data/networks/MODEL.npz` has two arrays
for each weight of the model that changes: `NAME.steps`, 8-bit numbers in the weight's shape, and
`NAME.step`, the size of a step for each of its first dimension.
"""

from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from recibo.extract.errors import MissingModel

Weights = npt.NDArray[np.float32]

_FOLDER = files("recibo.extract") / "data" / "networks"
STEPS, STEP = ".steps", ".step"


class Changes:
    """The changes of a model's weights by name; none if the model is used as published."""

    def __init__(self, model: str) -> None:
        """Read the changes of the model with this name, without the suffix of its file."""
        self._model = model
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        file = _FOLDER / f"{model}.npz"
        if file.is_file():
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                self._arrays = dict(arrays)

    def add(self, name: str, weights: Weights) -> None:
        """Change the weights with this name in place; raises MissingModel if they do not fit."""
        if name + STEPS not in self._arrays:
            return
        steps, step = self._arrays[name + STEPS], self._arrays[name + STEP]
        if steps.size != weights.size:
            raise MissingModel(f"The model {self._model} is not the one its changes are for.")
        weights += change(steps, step).ravel()


def change(steps: npt.NDArray[np.int8], step: Weights) -> Weights:
    """Return the change of a weight, in its shape, from its two arrays."""
    rows = steps.reshape(len(step), -1).astype(np.float32) * step[:, None]
    return rows.reshape(steps.shape)
