"""The libraries that can run the recognition models."""

from enum import StrEnum


class Runtime(StrEnum):
    """What runs recognition, where nearly all the time goes."""

    #: OpenVINO if it is faster on the processor, else ONNX Runtime.
    AUTO = "auto"
    ONNXRUNTIME = "onnxruntime"
    OPENVINO = "openvino"
