"""Draws a text as ink: an array of height x width, from 0 (none) to 1 (all of it)."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from matplotlib.ft2font import FT2Font
from PIL import Image, ImageDraw, ImageFont

from training.recognizer import bitmap_fonts

Ink = npt.NDArray[np.float32]

#: The suffixes of TrueType and OpenType fonts.
_OUTLINES = frozenset({".ttf", ".otf", ".ttc"})
#: The height that letters of few dots are enlarged to.
_HEIGHT = 44
#: The longest name that is set in display type, and the share of its letters.
_NAME_LENGTH, _NAME_LETTERS = 24, 0.7


@dataclass(frozen=True, slots=True)
class Font:
    """A font file and the characters that it has."""

    file: Path
    characters: frozenset[str]


@dataclass(frozen=True, slots=True)
class Fonts:
    """The fonts of a folder by kind."""

    bitmap: Sequence[Mapping[str, bitmap_fonts.Bits]]
    fixed: Sequence[Font]
    proportional: Sequence[Font]
    #: For names of shops.
    display: Sequence[Font]
    #: For Chinese and Japanese.
    ideographs: Sequence[Font]
    #: For scripts that the network does not know.
    unknown: Sequence[Font]


def fonts(folder: Path) -> Fonts:
    """Read the fonts of the six subfolders: those of `bitmap` are PSF files.

    Raises:
        ValueError: A subfolder has no font.
    """
    bitmaps = [bitmap_fonts.read(file) for file in sorted((folder / "bitmap").glob("*.psf"))]
    if not bitmaps:
        raise ValueError(f"{folder / 'bitmap'} has no font.")
    kinds = ("fixed", "proportional", "display", "ideographs", "unknown")
    return Fonts(bitmaps, *(_outlines(folder / kind) for kind in kinds))


def _outlines(folder: Path) -> Sequence[Font]:
    found = []
    for file in sorted(file for file in folder.glob("*") if file.suffix in _OUTLINES):
        characters = map(chr, FT2Font(str(file)).get_charmap())
        found.append(Font(file, frozenset(characters) | {" "}))
    if not found:
        raise ValueError(f"{folder} has no font.")
    return found


class Pen:
    """Draws texts in random fonts."""

    def __init__(self, kinds: Fonts, choices: random.Random) -> None:
        """Use these fonts and this source of randomness."""
        self._fonts = kinds
        self._random = choices

    def draw(self, text: str) -> Ink | None:
        """Return a text in a font that has all its characters; None if the chosen ones do not."""
        is_name = len(text) < _NAME_LENGTH and _letters(text) > _NAME_LETTERS * len(text)
        last = self._fonts.display if is_name else self._fonts.proportional
        kinds = (None, self._fonts.fixed, self._fonts.proportional, last)
        (kind,) = self._random.choices(kinds, (30, 30, 18, 22))
        if kind is None:
            return self._dots(text)
        return self._in_one_of(self._random.choices(kind, k=6), text)

    def draw_unknown(self, text: str) -> Ink | None:
        """Return a text in a script that the network does not know; None without a font for it."""
        some = self._fonts.unknown
        return self._in_one_of(self._random.sample(some, len(some)), text)

    def _in_one_of(self, some: Sequence[Font], text: str) -> Ink | None:
        for font in some:
            if font.characters.issuperset(text):
                return self._outline(text, font)
        return None

    def draw_ideographs(self, text: str) -> Ink | None:
        """Return a Chinese or Japanese text."""
        font = self._random.choice(self._fonts.ideographs)
        return _drawn(text, _loaded(font.file, self._random.randint(26, 44)), 0)

    def _dots(self, text: str) -> Ink | None:
        """Return a text as printed with pins, or as a thermal printer does: each dot a square."""
        glyphs = self._random.choice(self._fonts.bitmap)
        if not all(character in glyphs for character in text):
            return None
        dots = np.concatenate([glyphs[character] for character in text], axis=1)
        rows = np.flatnonzero(dots.any(axis=1))
        if not len(rows):
            return None
        dots = dots[max(rows[0] - 1, 0) : rows[-1] + 2].astype(np.float32)
        if self._random.random() < 0.2:
            dots[:, 1:] = np.maximum(dots[:, 1:], dots[:, :-1])
        size = max(1, round(_HEIGHT / len(dots)))
        wide, tall = self._random.choices(((1, 1), (2, 1), (1, 2)), (7, 2, 1))[0]
        across, down = size * wide, size * tall
        ink = np.kron(dots, np.ones((down, across), np.float32))
        if min(across, down) > 2 and self._random.random() < 1 / 3:
            ink *= np.tile(_round_dot(down, across), dots.shape)
        return _blurred(ink, self._random.uniform(0.4, 1.4) * max(1, min(across, down) / 2))

    def _outline(self, text: str, font: Font) -> Ink | None:
        is_coarse = self._random.random() < 0.45
        size = self._random.randint(15, 28) if is_coarse else self._random.randint(28, 50)
        spacing = self._random.choice((0, 0, 0, 0, 0, 0, 0, 1, 2, -1))
        ink = _drawn(text, _loaded(font.file, size), spacing)
        if ink is None or not is_coarse:
            return ink
        dots = (ink > self._random.uniform(0.3, 0.65)).astype(np.float32)
        size = max(1, round(_HEIGHT / len(dots)))
        enlarged = np.kron(dots, np.ones((size, size), np.float32))
        return _blurred(enlarged, self._random.uniform(0.4, 1.2) * max(1, size / 2))


def _letters(text: str) -> int:
    return sum(character.isalpha() for character in text)


@lru_cache(maxsize=600)
def _loaded(file: Path, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(file, size)


def _drawn(text: str, font: ImageFont.FreeTypeFont, spacing: int) -> Ink | None:
    """Return a text with `spacing` more pixels between letters; None if nothing of it shows."""
    left, top, right, bottom = font.getbbox(text)
    if right - left < 3 or bottom - top < 3:
        return None
    ascent, _ = font.getmetrics()
    top, bottom = min(top, ascent / 4), max(bottom, ascent)
    width = int(right - left) + 8 + abs(spacing) * len(text)
    page = Image.new("L", (width, int(bottom - top) + 6))
    pen, x = ImageDraw.Draw(page), 3 - left
    for part in text if spacing else (text,):
        pen.text((x, 3 - top), part, 255, font)
        x += font.getlength(part) + spacing
    return _cropped(np.asarray(page, np.float32) / np.float32(255))


def _cropped(ink: Ink) -> Ink | None:
    """Cut off what is empty, but keep the height of the line around dashes and dots."""
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows):
        return None
    if rows[-1] - rows[0] > len(ink) / 2:
        ink = ink[rows[0] : rows[-1] + 1]
    return ink[:, columns[0] : columns[-1] + 1]


def _round_dot(height: int, width: int) -> Ink:
    dot = np.zeros((height, width), np.float32)
    cv2.circle(dot, (width // 2, height // 2), max(1, min(width, height) // 2), 1.0, -1)
    return dot


def _blurred(ink: Ink, sigma: float) -> Ink:
    return np.asarray(cv2.GaussianBlur(ink, (0, 0), sigma), np.float32)
