"""Loads a model file with fine-tuned weights, and with subnormal weights set to zero.

In training, the weights of unused channels shrink to subnormal numbers. They change no sum, but
a processor takes many times as long for each. Measured on the detection model, in whose widest
layer two thirds of the weights are subnormal: a page takes a third of the time, and its map is the
same to the last bit. The runtime can treat them as zero itself, but only by changing all arithmetic
of the thread that loads the first model, and in no other thread.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from recibo.extract.ocr.paddle.fine_tuning import Changes

#: The path of fields to the weights in an ONNX file, a Protocol Buffers message
#: (ModelProto, GraphProto and TensorProto of onnx.proto).
_GRAPH, _INITIALIZER, _DATA_TYPE, _NAME, _RAW_DATA = 7, 5, 2, 8, 9

#: The data type FLOAT as encoded in the file.
_FLOAT = b"\x01"

#: The wire types of fields: a varint, bytes after their count, or a fixed length.
_NUMBER, _COUNTED = 0, 2
_FIXED_LENGTHS = {1: 8, 5: 4}

_LEAST = np.finfo(np.float32).smallest_normal


def read(path: Path) -> bytes:
    """Return a model file with its changed weights, those that are subnormal as zeros.

    Raises:
        MissingModel: The changes are for another version of the model.
    """
    model, changes = bytearray(path.read_bytes()), Changes(path.stem)
    for graph in _contents(model, slice(0, len(model)), _GRAPH):
        for tensor in _contents(model, graph, _INITIALIZER):
            if any(model[kind] == _FLOAT for kind in _contents(model, tensor, _DATA_TYPE)):
                name = "".join(model[text].decode() for text in _contents(model, tensor, _NAME))
                for raw in _contents(model, tensor, _RAW_DATA):
                    weights = np.frombuffer(memoryview(model)[raw], "<f4")
                    changes.add(name, weights)
                    weights[np.abs(weights) < _LEAST] = 0
    return bytes(model)


def _contents(model: bytearray, message: slice, number: int) -> Iterator[slice]:
    """Yield the range of each field with this number in a message."""
    place = message.start
    while place < message.stop:
        key, place = _number(model, place)
        kind = key & 0b111
        if kind == _COUNTED:
            length, place = _number(model, place)
        elif kind == _NUMBER:
            length = _number(model, place)[1] - place
        else:
            length = _FIXED_LENGTHS[kind]
        if key >> 3 == number:
            yield slice(place, place + length)
        place += length


def _number(model: bytearray, place: int) -> tuple[int, int]:
    """Return the varint at `place`, seven bits per byte, lowest first, and its end."""
    number = shift = 0
    while model[place] & 0x80:
        number |= (model[place] & 0x7F) << shift
        place, shift = place + 1, shift + 7
    return number | model[place] << shift, place + 1
