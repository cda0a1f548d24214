"""Runs models on ONNX Runtime, which runs everywhere."""

import os

from recibo.extract.ocr.paddle import weights
from recibo.extract.ocr.paddle.networks import Tensor, model_path
from recibo.extract.ocr.runtime import Runtime

# The wheel sends telemetry from its import on, unless this is set before it; its own function for
# that can only be called after the import.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
import onnxruntime as ort


class OnnxRuntimeNetwork:
    """A model on one thread, in 32 bits."""

    runtime = Runtime.ONNXRUNTIME

    def __init__(self, file_name: str) -> None:
        """Load a model of the installed wheel; raises MissingModel."""
        self._session = ort.InferenceSession(
            weights.read(model_path(file_name)),
            sess_options=_options(),
            providers=["CPUExecutionProvider"],
        )
        self._input = self._session.get_inputs()[0].name

    def __call__(self, batch: Tensor) -> Tensor:
        """Run the network once."""
        output: Tensor = self._session.run(None, {self._input: batch})[0]
        return output

    def metadata(self, key: str) -> str:
        """Return a text from the metadata of the model file."""
        texts: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        return texts[key]


def _options() -> ort.SessionOptions:
    """Return options for one thread and constant memory.

    The arena keeps the largest buffers of every input shape; without it memory stays constant at
    no measurable cost. More threads per page gain less than more processes.
    """
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    return options
