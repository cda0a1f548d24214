"""Subnormal weights become zero; nothing else of a model changes."""

from pathlib import Path
from types import ModuleType

import numpy as np
import onnxruntime as ort
import pytest

from recibo.extract.ocr.paddle import detection, recognition, weights
from recibo.extract.ocr.paddle.networks import model_path
from recibo.extract.ocr.paddle.onnxruntime_network import OnnxRuntimeNetwork

LEAST = float(np.finfo(np.float32).smallest_normal)
LONG = "a name that is longer than one byte can count " * 9


def field(number: int, content: bytes | int) -> bytes:
    """Return a field of a Protocol Buffers message: a number, or bytes after their count."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    """Return a varint, seven bits per byte."""
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def model(numbers: list[float], *, kind: int = 1) -> bytes:
    """Return a file with one tensor of this type among fields of all other types."""
    content = np.array(numbers, np.float32).tobytes()
    tensor = field(1, len(numbers)) + field(2, kind) + field(8, LONG.encode()) + field(9, content)
    fixed = varint(3 << 3 | 5) + b"\xff\x00\x00\x80" + varint(4 << 3 | 1) + b"\x81" * 8
    graph = field(2, LONG.encode()) + fixed + field(5, tensor)
    return field(1, 300) + field(7, graph) + field(14, b"metadata")


def test_only_weights_too_small_to_count_become_zero(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(model([1.5, LEAST / 2, -LEAST / 1000, LEAST, -LEAST, 0]))

    assert model([1.5, 0, 0, LEAST, -LEAST, 0]) == weights.read(file)


def test_numbers_of_another_type_are_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    integers = model([1.5, LEAST / 2], kind=7)
    file.write_bytes(integers)

    assert integers == weights.read(file)


@pytest.mark.parametrize(
    ("module", "shape"),
    [(detection, (96, 160)), (recognition, (48, 160))],
    ids=["detection", "recognition"],
)
def test_networks_return_the_same_to_the_last_bit(
    module: ModuleType, shape: tuple[int, int]
) -> None:
    batch = np.random.default_rng(3).uniform(-1, 1, (1, 3, *shape)).astype(np.float32)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    as_it_comes = ort.InferenceSession(str(model_path(module.MODEL)), options)

    expected = as_it_comes.run(None, {as_it_comes.get_inputs()[0].name: batch})[0]

    assert np.array_equal(expected, OnnxRuntimeNetwork(module.MODEL)(batch))


def test_the_detection_model_has_weights_to_drop() -> None:
    path = model_path(detection.MODEL)
    before, after = (np.frombuffer(file, "u1") for file in (path.read_bytes(), weights.read(path)))

    assert np.count_nonzero(before != after) > 100_000
