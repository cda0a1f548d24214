"""Reads the text of one line cut out of a picture (connectionist temporal classification)."""

from dataclasses import dataclass

import numpy as np

from recibo.extract.engines.paddle.sessions import Tensor, open_model
from recibo.extract.model import Picture

MODEL = "PP-OCRv6_rec_small.onnx"

#: The height of line that the network was trained on.
HEIGHT = 48

#: Lines are padded to the next multiple, so that few input shapes occur: every new shape costs
#: the runtime planning and memory. Padding all to 320, as is usual, costs 1.6 times as much.
WIDTH_STEP = 32
MIN_WIDTH = 64

#: The widest line that is read in one piece: forty times as wide as tall is no text.
MAX_WIDTH = 2400


@dataclass(frozen=True, slots=True)
class Reading:
    """The text of a line with the mean probability of its letters."""

    text: str
    confidence: float


class Recogniser:
    """Reads lines."""

    def __init__(self) -> None:
        self._network = open_model(MODEL)
        # The class before the letters is the gap between letters, the one after them the blank.
        self._letters = ("", *self._network.metadata("character").splitlines(), " ")

    def __call__(self, line: Picture) -> Reading:
        """Read one line of `HEIGHT` rows."""
        chances = self._network(_tensor(line))[0]
        best = chances.argmax(axis=1)
        is_letter = (best != 0) & (best != np.concatenate(([0], best[:-1])))
        places = np.flatnonzero(is_letter)
        if places.size == 0:
            return Reading("", 0.0)
        text = "".join(self._letters[letter] for letter in best[places])
        return Reading(text.strip(), float(chances[places, best[places]].mean()))


def _tensor(line: Picture) -> Tensor:
    """Return a line as the network was trained on: BGR, from -1 to 1, zeros to the right."""
    width = min(line.shape[1], MAX_WIDTH)
    padded_width = max(MIN_WIDTH, -(-width // WIDTH_STEP) * WIDTH_STEP)
    tensor = np.zeros((1, 3, HEIGHT, padded_width), dtype=np.float32)
    tensor[0, :, :, :width] = line[:, :width, ::-1].transpose(2, 0, 1) / np.float32(127.5) - 1
    return tensor
