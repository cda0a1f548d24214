"""The interface of a network on a runtime, and the paths of the models."""

import importlib.util
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recibo.extract.errors import MissingModel
from recibo.extract.ocr.runtime import Runtime

#: The wheel that contains the models. It is located, never imported: importing takes a second.
MODEL_PACKAGE = "rapidocr"

#: A batch of pictures, the input of networks: batch x 3 x height x width.
Tensor = npt.NDArray[np.float32]


class Network(Protocol):
    """An ONNX model with one input and one output, loaded by a runtime."""

    runtime: Runtime

    def __call__(self, batch: Tensor) -> Tensor:
        """Run the network once; the output is valid until the next run."""
        ...

    def metadata(self, key: str) -> str:
        """Return a text from the metadata of the model file."""
        ...


def model_path(file_name: str) -> Path:
    """Return the path of a model in the installed wheel; raises MissingModel."""
    package = importlib.util.find_spec(MODEL_PACKAGE)
    for folder in (package.submodule_search_locations or []) if package else []:
        path = Path(folder) / "models" / file_name
        if path.is_file():
            return path
    raise MissingModel(
        f"The recognition model {file_name} is missing: install the package {MODEL_PACKAGE} again."
    )
