"""Reads the text of one line cut out of a picture (connectionist temporal classification)."""

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recibo.extract.model import Picture
from recibo.extract.ocr.paddle.networks import Network, Tensor

MODEL = "PP-OCRv6_rec_small.onnx"

#: The height of line that the network was trained on.
HEIGHT = 48

#: Lines are padded to the next of these widths, so that few input shapes occur: every new shape
#: costs the runtime planning and memory. Padding all to 320, as is usual, costs 1.6 times as much.
WIDTHS = (
    *range(64, 320, 32),
    *range(320, 640, 64),
    *range(640, 1280, 128),
    *range(1280, 2561, 256),
)

#: What is wider is cut off: fifty times as wide as tall is no text.
MAX_WIDTH = WIDTHS[-1]


#: Letters stand in different columns when they are further apart than so many of the line's usual
#: distances and than this share of its height. One blank is twice the usual distance, and where
#: one was read the text is parted already, so that it takes more.
BARE_GAP = (2.2, 0.65)
BLANK_GAP = (3.5, 1.2)


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text of a line that stands by itself."""

    text: str
    #: The mean probability of its letters.
    confidence: float
    #: Where it begins and ends, as shares of the line's width.
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class _Letter:
    text: str
    chance: float
    #: Pixels from the left of the line.
    x: float


class Recogniser:
    """Reads lines."""

    def __init__(self, network: Network) -> None:
        """Take the opened model."""
        self.runtime = network.runtime
        self._network = network
        # The class before the letters is the gap between letters, the one after them the blank.
        self._letters = ("", *self._network.metadata("character").splitlines(), " ")

    def __call__(self, line: Picture) -> list[Piece]:
        """Read one line of `HEIGHT` rows; columns of a table that touch come in pieces."""
        tensor = _tensor(line)
        chances = self._network(tensor)[0]
        step = tensor.shape[3] / len(chances)
        best = chances.argmax(axis=1)
        is_letter = (best != 0) & (best != np.concatenate(([0], best[:-1])))
        letters = [
            _Letter(self._letters[best[place]], float(chances[place, best[place]]), x=place * step)
            for place in np.flatnonzero(is_letter)
        ]
        return _pieces(letters, line.shape[1])


def _pieces(letters: Sequence[_Letter], width: int) -> list[Piece]:
    """Part letters at wide gaps."""
    inked = [letter for letter in letters if letter.text != " "]
    gaps = sorted(after.x - before.x for before, after in itertools.pairwise(inked))
    # Above the median, for places come in steps: even print has gaps of three steps and of four.
    pitch = gaps[(len(gaps) - 1) * 7 // 10] if gaps else 0.0
    blanks = [letter.x for letter in letters if letter.text == " "]
    cuts = []
    for before, after in itertools.pairwise(inked):
        has_blank = any(before.x < blank < after.x for blank in blanks)
        in_pitches, in_heights = BLANK_GAP if has_blank else BARE_GAP
        if after.x - before.x > max(in_pitches * pitch, in_heights * HEIGHT):
            cuts.append((before.x + pitch + after.x) / 2)
    return [
        _piece([letter for letter in letters if start <= letter.x < end], start, end, width)
        for start, end in itertools.pairwise([0.0, *cuts, math.inf])
    ]


def _piece(letters: Sequence[_Letter], start: float, end: float, width: int) -> Piece:
    text = "".join(letter.text for letter in letters).strip()
    chances = [letter.chance for letter in letters]
    mean = sum(chances) / len(chances) if chances else 0.0
    return Piece(text, mean, start / width, min(1.0, end / width))


def _tensor(line: Picture) -> Tensor:
    """Return a line as the network was trained on: BGR, from -1 to 1, zeros to the right."""
    width = min(line.shape[1], MAX_WIDTH)
    padded_width = WIDTHS[bisect.bisect_left(WIDTHS, width)]
    tensor = np.zeros((1, 3, HEIGHT, padded_width), dtype=np.float32)
    tensor[0, :, :, :width] = line[:, :width, ::-1].transpose(2, 0, 1) / np.float32(127.5) - 1
    return tensor
