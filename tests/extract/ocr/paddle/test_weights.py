"""Weights that are subnormal become zero, fine-tuned ones change, and nothing else of a model."""

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from recibo.extract.errors import MissingModel
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


def tensor_of(name: str, numbers: list[float], *, kind: int = 1) -> bytes:
    """Return a tensor with this name and type."""
    content = np.array(numbers, np.float32).tobytes()
    return field(1, len(numbers)) + field(2, kind) + field(8, name.encode()) + field(9, content)


def model(numbers: list[float], *, kind: int = 1) -> bytes:
    """Return a file with one tensor of this type among fields of all other types."""
    tensor = tensor_of(LONG, numbers, kind=kind)
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


def test_detection_returns_the_same_to_the_last_bit() -> None:
    batch = np.random.default_rng(3).uniform(-1, 1, (1, 3, 96, 160)).astype(np.float32)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    as_it_comes = ort.InferenceSession(str(model_path(detection.MODEL)), options)

    expected = as_it_comes.run(None, {as_it_comes.get_inputs()[0].name: batch})[0]

    assert np.array_equal(expected, OnnxRuntimeNetwork(detection.MODEL)(batch))


def test_changes_of_another_version_of_a_model_are_refused(tmp_path: Path) -> None:
    published = model_path(recognition.MODEL).read_bytes()
    name = "linear_8.b_0"
    assert name.encode() in published
    other = tmp_path / recognition.MODEL
    other.write_bytes(field(7, field(5, tensor_of(name, [1.5, 2.5]))))

    with pytest.raises(MissingModel, match="PP-OCRv6_rec_small"):
        weights.read(other)


def test_the_detection_model_has_weights_to_drop() -> None:
    path = model_path(detection.MODEL)
    before, after = (np.frombuffer(file, "u1") for file in (path.read_bytes(), weights.read(path)))

    assert np.count_nonzero(before != after) > 100_000
