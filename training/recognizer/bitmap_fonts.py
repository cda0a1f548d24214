"""Reads bitmap fonts of consoles, which look like those of receipt printers (PSF 1 and 2).

Format: https://www.win.tue.nl/~aeb/linux/kbd/font-formats-1.html
"""

import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]

_FIRST, _SECOND = b"\x36\x04", b"\x72\xb5\x4a\x86"
#: Flags of the first version: 512 instead of 256 glyphs.
_LARGE = 0x01
#: What ends the characters of a glyph, and what starts a sequence of several.
_END_1, _SEQUENCE_1 = 0xFFFF, 0xFFFE
_END_2, _SEQUENCE_2 = b"\xff", b"\xfe"


def read(file: Path) -> Mapping[str, Bits]:
    """Return the glyphs of a font by character: height x width, 1 where it prints.

    Raises:
        ValueError: It is neither a PSF 1 nor a PSF 2 file.
    """
    data = file.read_bytes()
    if data.startswith(_FIRST):
        return _first(data)
    if data.startswith(_SECOND):
        return _second(data)
    raise ValueError(f"{file.name} is not a PSF font.")


def _first(data: bytes) -> Mapping[str, Bits]:
    count, height, start = (512 if data[2] & _LARGE else 256), data[3], 4
    codes = np.frombuffer(data[start + count * height :], "<u2").tolist()
    glyphs: dict[str, Bits] = {}
    number = 0
    for code in codes:
        if code == _END_1:
            number += 1
        elif code != _SEQUENCE_1 and number < count:
            glyphs.setdefault(chr(code), _glyph(data, start + number * height, height, 8))
    return glyphs


def _second(data: bytes) -> Mapping[str, Bits]:
    _, start, _, count, size, height, width = struct.unpack_from("<7I", data, 4)
    glyphs: dict[str, Bits] = {}
    table = data[start + count * size :].split(_END_2)[:count]
    for number, characters in enumerate(table):
        for character in characters.split(_SEQUENCE_2)[0].decode(errors="ignore"):
            glyphs.setdefault(character, _glyph(data, start + number * size, height, width))
    return glyphs


def _glyph(data: bytes, place: int, height: int, width: int) -> Bits:
    row = (width + 7) // 8
    pixels = np.frombuffer(data, np.uint8, row * height, place).reshape(height, row)
    return np.unpackbits(pixels, axis=1)[:, :width]
