"""Generates pictures of lines with their texts, in batches of one width."""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from training.recognizer.ink import Fonts, Ink, Pen
from training.recognizer.pictures import HEIGHT, Camera, Picture
from training.recognizer.texts import Texts, Vocabulary

#: The widths that pictures are padded to, and the lines in a batch of each: as many as use about
#: the same memory.
BATCHES: Mapping[int, int] = {160: 256, 320: 224, 480: 144, 640: 112}
#: What a picture is padded with: the network sees zero.
_GRAY = 127
#: The pixels of a letter, at least: the network has a place per eight.
_LEAST_PITCH = 9.5
_LEAST_WIDTH, _MOST_WIDTH = 6, 610
#: The share of lines in Chinese or Japanese, of which nothing must be lost, and of those in scripts
#: that the network does not know, of which it must stay as unsure as it is.
_IDEOGRAPHS, _UNKNOWN = 1 / 12, 1 / 20


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines of one width."""

    #: Batch x height x width x 3, BGR.
    pictures: npt.NDArray[np.uint8]
    #: None for a text in a script that the network does not know.
    texts: Sequence[str | None]


@dataclass
class _Waiting:
    """Lines of one width, fewer than a batch."""

    pictures: list[Picture] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)


class Lines:
    """Draws lines whose characters the network knows."""

    def __init__(
        self, vocabulary: Vocabulary, fonts: Fonts, characters: Collection[str], seed: int
    ) -> None:
        """Use these words, fonts and characters; the same seed gives the same lines."""
        self._random = random.Random(seed)
        self._characters = frozenset(characters)
        self._texts = Texts(vocabulary, self._random)
        self._pen = Pen(fonts, self._random)
        self._camera = Camera(self._random)

    def line(self) -> tuple[Picture, str | None]:
        """Return a line and its text, in which several spaces are one."""
        while True:
            draw = self._random.choices(
                (self._ideographs, self._unknown, self._latin),
                (_IDEOGRAPHS, _UNKNOWN, 1 - _IDEOGRAPHS - _UNKNOWN),
            )[0]
            ink, text = draw()
            if ink is None:
                continue
            fitted = self._camera.fitted(ink)
            width = fitted.shape[1]
            if _LEAST_WIDTH <= width <= _MOST_WIDTH and width >= _LEAST_PITCH * len(text or ""):
                return self._camera.picture(fitted), text

    def _latin(self) -> tuple[Ink | None, str]:
        text = self._texts.text()
        is_known = text and self._characters.issuperset(text)
        return (self._pen.draw(text) if is_known else None), " ".join(text.split())

    def _ideographs(self) -> tuple[Ink | None, str]:
        text = self._texts.ideographs()
        is_known = self._characters.issuperset(text)
        return (self._pen.draw_ideographs(text) if is_known else None), text

    def _unknown(self) -> tuple[Ink | None, None]:
        return self._pen.draw_unknown(self._texts.unknown()), None

    def batches(self, share: float = 1) -> Iterator[Batch]:
        """Yield batches without end, each of this share of the usual size."""
        waiting = {width: _Waiting() for width in BATCHES}
        while True:
            picture, text = self.line()
            width = next((width for width in BATCHES if width >= picture.shape[1]), max(BATCHES))
            group = waiting[width]
            group.pictures.append(picture)
            group.texts.append(text)
            if len(group.texts) >= max(2, BATCHES[width] * share):
                yield _batch(group, width)
                waiting[width] = _Waiting()


def _batch(lines: _Waiting, width: int) -> Batch:
    pictures = np.full((len(lines.texts), HEIGHT, width, 3), _GRAY, np.uint8)
    for place, picture in zip(pictures, lines.pictures, strict=True):
        place[:, : picture.shape[1]] = picture[:, :width]
    return Batch(pictures, lines.texts)
