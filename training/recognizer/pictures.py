"""Turns ink into the picture of a line that text detection would cut from a photo or scan."""

import math
import random
from collections.abc import Iterator

import cv2
import numpy as np
import numpy.typing as npt

from training.recognizer.ink import Ink

#: The picture of a line: height x width x 3, BGR.
Picture = npt.NDArray[np.uint8]
Light = npt.NDArray[np.float32]

#: The height of lines that the network reads, and the height of letters in them.
HEIGHT = 48
_LEAST_LETTERS, _MOST_LETTERS = 28, 44
#: Ink around the line that a slant moves into it.
_MARGIN = 24
#: The least gap between words that a line of a table goes through, and what counts as no ink in it.
_LEAST_GAP, _FAINT = 14, 0.1


class Camera:
    """Prints and photographs lines, each with other damage."""

    def __init__(self, choices: random.Random) -> None:
        """Use this source of randomness."""
        self._random = choices
        self._noise = np.random.default_rng(choices.randrange(2**32))

    def fitted(self, ink: Ink) -> Ink:
        """Return ink scaled to the height of letters, half of it stretched."""
        height = self._random.randint(_LEAST_LETTERS, _MOST_LETTERS)
        scale = height / len(ink)
        stretch = self._random.uniform(0.8, 1.3) if self._chance(0.5) else 1
        width = max(1, int(ink.shape[1] * scale * stretch))
        way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        return np.asarray(cv2.resize(ink, (width, height), interpolation=way), np.float32)

    def picture(self, ink: Ink) -> Picture:
        """Return a line of fitted ink as photographed, `HEIGHT` pixels high."""
        placed = self._bent(self._worn(self._placed(ink)))[_MARGIN:-_MARGIN, _MARGIN:-_MARGIN]
        return self._sharpness(self._colors(placed))

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _placed(self, ink: Ink) -> Ink:
        """Put the line on a larger sheet, some between two others."""
        before, after = self._random.randint(1, 14), self._random.randint(1, 14)
        height, width = ink.shape
        top = _MARGIN + int((HEIGHT - height) * self._random.uniform(0.2, 0.8))
        sheet = np.zeros((HEIGHT + 2 * _MARGIN, width + before + after + 2 * _MARGIN), np.float32)
        left = _MARGIN + before
        sheet[top : top + height, left : left + width] = ink
        if self._chance(0.22):
            gap, turned = self._random.randint(2, 9), np.roll(ink, self._random.randrange(90), 1)
            above, below = turned[-max(0, top - gap) :], turned[: len(sheet) - top - height - gap]
            if top > gap and self._chance(0.6):
                sheet[top - gap - len(above) : top - gap, left : left + width] = above
            if self._chance(0.6):
                start = top + height + gap
                sheet[start : start + len(below), left : left + width] = below
        if self._chance(0.03):
            sheet[top + height + 1 : top + height + 3] = 1
        if self._chance(0.2):
            self._rule(sheet, top, top + height, left, left + width)
        return sheet

    def _rule(self, sheet: Ink, top: int, bottom: int, left: int, right: int) -> None:
        """Draw some of the lines of a table around the text and in its widest gap."""
        strength, thickness = self._random.uniform(0.3, 1), self._random.randint(1, 3)
        dashes = self._random.randint(3, 12) if self._chance(0.3) else 1
        drawn = (np.arange(max(sheet.shape)) % dashes <= dashes // 2) * np.float32(strength)
        columns = [
            left - self._random.randint(1, 10) - thickness,
            right + self._random.randint(1, 10),
            *_middle_of_gap(sheet[top:bottom, left:right], left),
        ]
        for column in columns:
            if self._chance(0.5):
                lines = sheet[:, column : column + thickness]
                np.maximum(lines, drawn[: len(sheet), None], out=lines)
        for row in (top - self._random.randint(2, 8), bottom + self._random.randint(1, 8)):
            if self._chance(0.35):
                lines = sheet[row : row + thickness]
                np.maximum(lines, drawn[: sheet.shape[1]], out=lines)

    def _worn(self, ink: Ink) -> Ink:
        """Print with too much or too little ink, unevenly, with dots that fail."""
        (change,) = self._random.choices((cv2.erode, cv2.dilate, None), (15, 20, 65))
        if change:
            size = (2, 2) if change is cv2.erode else self._random.choices((2, 3), k=2)
            ink = np.asarray(change(ink, np.ones(size, np.uint8)), np.float32)
        if self._chance(0.45):
            uneven = self._random.uniform(0, 1.2) * (self._clouds(ink.shape, 5, 60) - 0.3)
            ink = ink * np.clip(self._random.uniform(0.2, 1) + uneven, 0.1, 1)
        if self._chance(0.2):
            ink = ink * (self._noise.random(ink.shape) > self._random.uniform(0.02, 0.25))
        if self._chance(0.12):
            for _ in range(self._random.randint(1, 4)):
                row_or_column = ink if self._chance(0.5) else ink.T
                place = self._random.randrange(len(row_or_column))
                row_or_column[place : place + 2] *= self._random.uniform(0, 0.6)
        return np.asarray(ink, np.float32)

    def _bent(self, ink: Ink) -> Ink:
        """Slant the line, look at it from the side, curl it."""
        height, width = ink.shape
        if self._chance(0.7):
            corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
            rise = math.tan(math.radians(self._random.gauss(0, 0.9))) * width / 2
            shear = self._random.gauss(0, 2.5)
            turned = [[shear, -rise], [shear, rise], [-shear, rise], [-shear, -rise]]
            seen = corners + np.array(turned) + self._noise.normal(0, 1.2, (4, 2))
            view = cv2.getPerspectiveTransform(corners, seen.astype(np.float32))
            ink = np.asarray(cv2.warpPerspective(ink, view, (width, height)), np.float32)
        if self._chance(0.15):
            y, x = np.mgrid[0:height, 0:width].astype(np.float32)
            length, phase = self._random.uniform(60, 400), self._random.uniform(0, math.tau)
            wave = self._random.uniform(0.5, 2.2) * np.sin(x / length * math.tau + phase)
            moved = (y + wave).astype(np.float32)
            ink = np.asarray(cv2.remap(ink, x, moved, cv2.INTER_LINEAR), np.float32)
        return ink

    def _colors(self, ink: Ink) -> Picture:
        """Return ink on white, gray or colored sheets, a few as light on dark."""
        light = (
            self._random.uniform(225, 255) if self._chance(0.4) else self._random.uniform(120, 255)
        )
        faintest = min(190 if light > 220 else 150, light - self._random.choice((35, 60, 90)))
        dark = self._random.uniform(0, faintest)
        sheet = np.full(ink.shape, light, np.float32)
        if self._chance(0.5):
            sheet += self._random.uniform(5, 40) * (self._clouds(ink.shape, 20, 200) - 0.5)
        if self._chance(0.25):
            sheet += self._random.uniform(3, 22) * (self._clouds(ink.shape, 1, 4) - 0.5)
        gray = sheet * (1 - ink) + dark * ink
        picture = np.repeat((255 - gray if self._chance(0.05) else gray)[:, :, None], 3, axis=2)
        if self._chance(0.35):
            picture *= self._noise.uniform((0.82, 0.85, 0.8), 1).astype(np.float32)
        if self._chance(0.08):
            picture[:, :, self._random.randrange(3)] += ink * self._random.uniform(30, 90)
        return _uint8(np.clip(picture, 0, 255))

    def _sharpness(self, picture: Picture) -> Picture:
        """Photograph from further away, out of focus, in motion, with noise; compress."""
        height, width = picture.shape[:2]
        if self._chance(0.55):
            scale = self._random.uniform(0.28, 1)
            size = (max(4, int(width * scale)), max(10, int(height * scale)))
            picture = _uint8(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
        (blur,) = self._random.choices(("focus", "motion", None), (35, 8, 57))
        if blur == "focus":
            picture = _uint8(cv2.GaussianBlur(picture, (0, 0), self._random.uniform(0.3, 1.1)))
        elif blur == "motion":
            length = self._random.randint(2, 4)
            path = np.eye(length) if self._chance(0.5) else np.ones((1, length))
            picture = _uint8(cv2.filter2D(picture, -1, path / length))
        if self._chance(0.4):
            noise = self._noise.normal(0, self._random.uniform(2, 14), picture.shape)
            picture = np.clip(picture + noise, 0, 255).astype(np.uint8)
        if self._chance(0.15):
            soft = cv2.GaussianBlur(picture, (0, 0), 1.2)
            picture = _uint8(cv2.addWeighted(picture, 1.8, soft, -0.8, 0))
        if self._chance(0.6):
            quality = [cv2.IMWRITE_JPEG_QUALITY, self._random.randint(25, 92)]
            picture = _uint8(
                cv2.imdecode(cv2.imencode(".jpg", picture, quality)[1], cv2.IMREAD_COLOR)
            )
        width = max(8, round(picture.shape[1] * HEIGHT / len(picture)))
        return _uint8(cv2.resize(picture, (width, HEIGHT), interpolation=cv2.INTER_LINEAR))

    def _clouds(self, shape: tuple[int, ...], least: float, most: float) -> Light:
        """Return smooth noise from 0 to 1 whose spots have a size of `least` to `most` pixels."""
        size = self._random.uniform(least, most)
        few = self._noise.random((max(2, int(shape[0] / size)), max(2, int(shape[1] / size))))
        smooth = cv2.resize(few, shape[1::-1], interpolation=cv2.INTER_CUBIC)
        return np.asarray(smooth, np.float32)


def _middle_of_gap(ink: Ink, left: int) -> Iterator[int]:
    """Yield the middle of the widest gap of a line that starts at `left`, if a rule fits in."""
    filled = np.flatnonzero(ink.max(axis=0) > _FAINT)
    gaps = np.diff(filled)
    if len(gaps) and gaps.max() >= _LEAST_GAP:
        widest = int(gaps.argmax())
        yield left + int(filled[widest] + filled[widest + 1]) // 2


def _uint8(picture: object) -> Picture:
    return np.asarray(picture, np.uint8)
