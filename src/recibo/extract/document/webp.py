"""Decodes large WebP pictures with less memory than Pillow needs.

Pillow treats every WebP as an animation and keeps four copies of its canvas in four channels.
The container is that of RFC 9649.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image

from recibo.extract.errors import Damaged
from recibo.extract.model import Picture

_HEAD = 12
_CHUNK = struct.Struct("<4sI")
#: A frame's position in pairs of pixels, its size less one, its duration and flags.
_FRAME = struct.Struct("<3s3s3s3s4x")
_HAS_ALPHA = 0x10

#: The channels of a picture without transparency.
_OPAQUE = 3


@dataclass(frozen=True, slots=True)
class Frame:
    """The first picture of a file and its position on the canvas; three or four channels."""

    pixels: Picture
    left: int
    top: int

    def rows(self, width: int, top: int, bottom: int) -> Image.Image:
        """Return rows of a canvas of this width, which is transparent outside the frame."""
        above, below = (max(0, row - self.top) for row in (top, bottom))
        shown = self.pixels[above:below]
        canvas = Image.new("RGBA", (width, bottom - top), (0, 0, 0, 0))
        if shown.size:
            part = Image.fromarray(cv2.cvtColor(shown, _order(self.pixels)))
            if part.size == canvas.size:
                return part
            canvas.paste(part, (self.left, max(0, self.top - top)))
        return canvas


def first_frame(data: bytes, width: int, height: int) -> Frame:
    """Decode the first picture of a file whose canvas has this size.

    Raises:
        Damaged: It is not a picture, or extends beyond the canvas.
    """
    for kind, content in _chunks(data[_HEAD:]):
        if kind == b"ANMF":
            return _of_animation(content, width, height)
    return Frame(_decoded(data), 0, 0)


def _of_animation(content: bytes, width: int, height: int) -> Frame:
    """Decode a frame of an animation as a still picture."""
    place = _FRAME.unpack_from(content)
    left, top, across, down = (int.from_bytes(number, "little") for number in place)
    left, top, across, down = left * 2, top * 2, across + 1, down + 1
    if left + across > width or top + down > height:
        raise Damaged
    parts = content[_FRAME.size :]
    has_alpha = any(kind in (b"ALPH", b"VP8L") for kind, _ in _chunks(parts))
    # The decoder refuses a picture of another size.
    canvas = struct.pack("<I", _HAS_ALPHA if has_alpha else 0) + place[2] + place[3]
    body = b"WEBP" + _CHUNK.pack(b"VP8X", len(canvas)) + canvas + parts
    return Frame(_decoded(_CHUNK.pack(b"RIFF", len(body)) + body), left, top)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 0
    while place + _CHUNK.size <= len(data):
        kind, length = _CHUNK.unpack_from(data, place)
        place += _CHUNK.size
        yield kind, data[place : place + length]
        # Chunks begin at even offsets.
        place += length + length % 2


def _decoded(data: bytes) -> Picture:
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise Damaged from error
    if pixels is None:
        raise Damaged
    return np.asarray(pixels, dtype=np.uint8)


def _order(pixels: Picture) -> int:
    return cv2.COLOR_BGR2RGB if pixels.shape[2] == _OPAQUE else cv2.COLOR_BGRA2RGBA
