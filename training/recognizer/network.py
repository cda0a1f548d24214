"""An ONNX model of one input and one output as a function that PyTorch can differentiate.

It runs the nodes of the file one after another, with its weights as parameters, so that what was
learned can be written back by the names of the weights. Operators: https://onnx.ai/onnx/operators/
(opset 11), only those of the recognition models of PaddleOCR.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch.nn import functional

Attributes = Mapping[str, Any]
_Operator = Callable[[Sequence[torch.Tensor], Attributes], torch.Tensor]


class Network(torch.nn.Module):
    """A model whose last operator is a softmax, which is left out."""

    def __init__(self, file: Path) -> None:
        """Load a model file."""
        super().__init__()
        model = onnx.load(file)
        self._nodes = [_Node(node) for node in model.graph.node][:-1]
        self._input, self._output = model.graph.input[0].name, self._nodes[-1].output
        # The statistics of normalizations stay as they are.
        fixed = {name for node in self._nodes for name in node.statistics}
        self._parameter_of: dict[str, str] = {}
        self._constants: dict[str, torch.Tensor] = {}
        for number, tensor in enumerate(model.graph.initializer):
            array = np.array(numpy_helper.to_array(tensor))
            if array.dtype == np.float32 and array.size > 1 and tensor.name not in fixed:
                self._parameter_of[tensor.name] = f"weight{number}"
                array[np.abs(array) < np.finfo(np.float32).smallest_normal] = 0
                weight = torch.nn.Parameter(torch.from_numpy(array))
                self.register_parameter(f"weight{number}", weight)
            else:
                self._constants[tensor.name] = torch.from_numpy(array)
        texts = {entry.key: entry.value for entry in model.metadata_props}
        #: The character of each class: the first is the blank of CTC, the last the space.
        self.characters = ("", *texts["character"].split("\n"), " ")

    def weights(self) -> dict[str, torch.Tensor]:
        """Return the weights by their names in the file."""
        parameters = dict(self.named_parameters())
        return {name: parameters[own].detach() for name, own in self._parameter_of.items()}

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return logits, batch x places x characters, of pictures, batch x 3 x height x width."""
        values: dict[str, torch.Tensor] = {self._input: pictures}
        values |= {name: getattr(self, own) for name, own in self._parameter_of.items()}
        for name, constant in self._constants.items():
            values[name] = (
                constant.to(pictures.device) if constant.is_floating_point() else constant
            )
        for node in self._nodes:
            inputs = [values[name] for name in node.inputs]
            values[node.output] = node.operator(inputs, node.attributes)
        return values[self._output]


class _Node:
    """An operator with the names of its inputs and its output."""

    def __init__(self, node: onnx.NodeProto) -> None:
        self.operator = _OPERATORS[node.op_type]
        self.inputs, self.output = list(node.input), node.output[0]
        self.attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        self.statistics = self.inputs[3:5] if node.op_type == "BatchNormalization" else []


def _reshape(inputs: Sequence[torch.Tensor], _: Attributes) -> torch.Tensor:
    sizes = inputs[1].tolist()
    return inputs[0].reshape([size or inputs[0].shape[at] for at, size in enumerate(sizes)])


def _squeeze(inputs: Sequence[torch.Tensor], of: Attributes) -> torch.Tensor:
    return inputs[0].squeeze(tuple(of["axes"]))


def _unsqueeze(inputs: Sequence[torch.Tensor], of: Attributes) -> torch.Tensor:
    value = inputs[0]
    for axis in sorted(of["axes"]):
        value = value.unsqueeze(axis)
    return value


def _slice(inputs: Sequence[torch.Tensor], _: Attributes) -> torch.Tensor:
    value, starts, ends = inputs[0], inputs[1].tolist(), inputs[2].tolist()
    axes = inputs[3].tolist() if len(inputs) > 3 else range(len(starts))
    for axis, start, end in zip(axes, starts, ends, strict=True):
        first, last, _step = slice(start, end).indices(value.shape[axis])
        value = value.narrow(axis, first, last - first)
    return value


def _normalize(inputs: Sequence[torch.Tensor], of: Attributes) -> torch.Tensor:
    value, scale, shift, mean, variance = inputs
    return functional.batch_norm(value, mean, variance, scale, shift, eps=of.get("epsilon", 1e-5))


def _convolve(inputs: Sequence[torch.Tensor], of: Attributes) -> torch.Tensor:
    value, kernel, *bias = inputs
    return functional.conv2d(
        _padded(value, of),
        kernel,
        bias[0] if bias else None,
        of.get("strides", [1, 1]),
        0,
        of.get("dilations", [1, 1]),
        of.get("group", 1),
    )


def _max_pool(inputs: Sequence[torch.Tensor], of: Attributes) -> torch.Tensor:
    value = _padded(inputs[0], of, -torch.inf)
    return functional.max_pool2d(value, of["kernel_shape"], of["strides"])


def _average_pool(inputs: Sequence[torch.Tensor], of: Attributes) -> torch.Tensor:
    return functional.avg_pool2d(inputs[0], of["kernel_shape"], of["strides"])


def _padded(value: torch.Tensor, of: Attributes, filled: float = 0) -> torch.Tensor:
    top, left, bottom, right = of.get("pads", [0, 0, 0, 0])
    if of.get("auto_pad") == b"SAME_UPPER":
        (top, bottom), (left, right) = (
            _same(size, stride, kernel)
            for size, stride, kernel in zip(
                value.shape[2:], of["strides"], of["kernel_shape"], strict=True
            )
        )
    return functional.pad(value, (left, right, top, bottom), value=filled)


def _same(size: int, stride: int, kernel: int) -> tuple[int, int]:
    missing = max(0, (-(-size // stride) - 1) * stride + kernel - size)
    return missing // 2, missing - missing // 2


_OPERATORS: Mapping[str, _Operator] = {
    "Add": lambda inputs, _: inputs[0] + inputs[1],
    "AveragePool": _average_pool,
    "BatchNormalization": _normalize,
    "Concat": lambda inputs, of: torch.cat([one.cpu() for one in inputs], of["axis"]),
    "Conv": _convolve,
    "Div": lambda inputs, _: inputs[0] / inputs[1],
    "Erf": lambda inputs, _: inputs[0].erf(),
    "HardSigmoid": lambda inputs, of: (inputs[0] * of["alpha"] + of["beta"]).clamp(0, 1),
    "Identity": lambda inputs, _: inputs[0],
    "MatMul": lambda inputs, _: inputs[0] @ inputs[1],
    "MaxPool": _max_pool,
    "Mul": lambda inputs, _: inputs[0] * inputs[1],
    "Pow": lambda inputs, _: inputs[0] ** inputs[1].item(),
    "ReduceMean": lambda inputs, of: inputs[0].mean(of["axes"], keepdim=True),
    "Relu": lambda inputs, _: inputs[0].relu(),
    "Reshape": _reshape,
    "Shape": lambda inputs, _: torch.tensor(inputs[0].shape),
    "Sigmoid": lambda inputs, _: inputs[0].sigmoid(),
    "Slice": _slice,
    "Softmax": lambda inputs, of: inputs[0].softmax(of["axis"]),
    "Sqrt": lambda inputs, _: inputs[0].sqrt(),
    "Squeeze": _squeeze,
    "Sub": lambda inputs, _: inputs[0] - inputs[1],
    "Transpose": lambda inputs, of: inputs[0].permute(of["perm"]),
    "Unsqueeze": _unsqueeze,
}
