"""Reads the text of a line cut from a picture (connectionist temporal classification)."""

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recibo.extract.model import Picture
from recibo.extract.ocr.paddle.networks import Network, Tensor

MODEL = "PP-OCRv6_rec_small.onnx"

#: The height of lines in the network's training.
HEIGHT = 48

#: Lines are padded to the next of these widths, since every new input shape costs the runtime time
#: and memory. Padding all to at least 320, as is usual, takes 1.6 times as long.
WIDTHS = (
    *range(64, 320, 32),
    *range(320, 640, 64),
    *range(640, 1280, 128),
    *range(1280, 2561, 256),
)

#: Wider lines are cut: no text is fifty times as wide as high.
MAX_WIDTH = WIDTHS[-1]


#: Two letters are in different columns if their distance is more than this many times the line's
#: usual one and more than this share of its height. A space is twice the usual distance; where one
#: was read, the limits are higher.
GAP = (2.2, 0.65)
SPACE_GAP = (3.5, 1.2)


@dataclass(frozen=True, slots=True)
class Piece:
    """A separate part of the text of a line."""

    text: str
    #: The mean probability of its letters.
    confidence: float
    #: Its start and end as shares of the line's width.
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class _Letter:
    text: str
    probability: float
    #: Pixels from the left of the line.
    x: float


class Recognizer:
    """Reads lines."""

    def __init__(self, network: Network) -> None:
        """Use a loaded network."""
        self.runtime = network.runtime
        self._network = network
        # The class before the letters is the CTC blank, the one after them the space.
        self._letters = ("", *self._network.metadata("character").splitlines(), " ")

    def __call__(self, line: Picture) -> list[Piece]:
        """Read a line of `HEIGHT` rows; table columns that touch become separate pieces."""
        tensor = _tensor(line)
        probabilities = self._network(tensor)[0]
        step = tensor.shape[3] / len(probabilities)
        best = probabilities.argmax(axis=1)
        is_letter = (best != 0) & (best != np.concatenate(([0], best[:-1])))
        letters = [
            _Letter(
                self._letters[best[place]], float(probabilities[place, best[place]]), x=place * step
            )
            for place in np.flatnonzero(is_letter)
        ]
        return _pieces(letters, line.shape[1])


def _pieces(letters: Sequence[_Letter], width: int) -> list[Piece]:
    """Split letters at wide gaps."""
    visible = [letter for letter in letters if letter.text != " "]
    gaps = sorted(after.x - before.x for before, after in itertools.pairwise(visible))
    # Above the median, since positions are quantized: even text has gaps of three and four steps.
    pitch = gaps[(len(gaps) - 1) * 7 // 10] if gaps else 0.0
    spaces = [letter.x for letter in letters if letter.text == " "]
    cuts = []
    for before, after in itertools.pairwise(visible):
        has_space = any(before.x < space < after.x for space in spaces)
        in_pitches, in_heights = SPACE_GAP if has_space else GAP
        if after.x - before.x > max(in_pitches * pitch, in_heights * HEIGHT):
            cuts.append((before.x + pitch + after.x) / 2)
    return [
        _piece([letter for letter in letters if start <= letter.x < end], start, end, width)
        for start, end in itertools.pairwise([0.0, *cuts, math.inf])
    ]


def _piece(letters: Sequence[_Letter], start: float, end: float, width: int) -> Piece:
    text = "".join(letter.text for letter in letters).strip()
    probabilities = [letter.probability for letter in letters]
    mean = sum(probabilities) / len(probabilities) if probabilities else 0.0
    return Piece(text, mean, start / width, min(1.0, end / width))


def _tensor(line: Picture) -> Tensor:
    """Return a line as the network expects it: BGR, from -1 to 1, zeros to the right."""
    width = min(line.shape[1], MAX_WIDTH)
    padded_width = WIDTHS[bisect.bisect_left(WIDTHS, width)]
    tensor = np.zeros((1, 3, HEIGHT, padded_width), dtype=np.float32)
    tensor[0, :, :, :width] = line[:, :width, ::-1].transpose(2, 0, 1) / np.float32(127.5) - 1
    return tensor
