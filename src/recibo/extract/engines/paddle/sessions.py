"""Finds the recognition models in the installation and opens them."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from recibo.extract.engines.paddle import weights
from recibo.extract.errors import MissingModel

# Its wheel tells its makers of its use from the import on, unless it is told not to before. Who
# reads receipts here is nobody's business.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # noqa: TID251 - it knows no other way
import onnxruntime as ort

#: The wheel that carries the models. It is searched, never imported: its import costs a second.
MODEL_PACKAGE = "rapidocr"

#: A batch of pictures as the networks take it: batch x 3 x height x width.
Tensor = npt.NDArray[np.float32]


class Network:
    """One ONNX model with one input and one output."""

    def __init__(self, path: Path) -> None:
        self._session = ort.InferenceSession(
            weights.read(path), sess_options=_options(), providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name

    def __call__(self, batch: Tensor) -> Tensor:
        """Run the network once."""
        output: Tensor = self._session.run(None, {self._input: batch})[0]
        return output

    def metadata(self, key: str) -> str:
        """Return a text that the model file carries beside its weights."""
        texts: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        return texts[key]


def open_model(file_name: str) -> Network:
    """Open a model of the installed wheel.

    Raises:
        MissingModel: The wheel or the file in it is missing.
    """
    return Network(model_path(file_name))


def model_path(file_name: str) -> Path:
    """Return where a model lies; raises MissingModel when it does not."""
    package = importlib.util.find_spec(MODEL_PACKAGE)
    for folder in (package.submodule_search_locations or []) if package else []:
        path = Path(folder) / "models" / file_name
        if path.is_file():
            return path
    raise MissingModel(
        f"The recognition model {file_name} is missing: install the package {MODEL_PACKAGE} again."
    )


def _options() -> ort.SessionOptions:
    """Return options for one thread and flat memory.

    The arena keeps the largest buffers of every input shape ever seen; without it memory stays
    flat at no measurable cost. More threads a page gain less than more processes do.
    """
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    return options
