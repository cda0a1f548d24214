"""What the models' code asks of a runtime, and where the models lie."""

import importlib.util
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recibo.extract.errors import MissingModel
from recibo.extract.ocr.runtime import Runtime

#: The wheel that carries the models. It is searched, never imported: its import costs a second.
MODEL_PACKAGE = "rapidocr"

#: A batch of pictures as the networks take it: batch x 3 x height x width.
Tensor = npt.NDArray[np.float32]


class Network(Protocol):
    """One ONNX model with one input and one output, opened by a runtime."""

    runtime: Runtime

    def __call__(self, batch: Tensor) -> Tensor:
        """Run the network once; the answer holds until the next run."""
        ...

    def metadata(self, key: str) -> str:
        """Return a text that the model file carries beside its weights."""
        ...


def model_path(file_name: str) -> Path:
    """Return where a model of the installed wheel lies; raises MissingModel when it does not."""
    package = importlib.util.find_spec(MODEL_PACKAGE)
    for folder in (package.submodule_search_locations or []) if package else []:
        path = Path(folder) / "models" / file_name
        if path.is_file():
            return path
    raise MissingModel(
        f"The recognition model {file_name} is missing: install the package {MODEL_PACKAGE} again."
    )
