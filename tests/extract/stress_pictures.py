"""Picture files with very many of one part, each as small as possible."""

import io
import struct
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pillow_heif
import zxingcpp
from PIL import Image

from recibo.extract.model import Gray, Picture

_SIDE = 64

#: The tags of TIFF 6.0 that `_tiff` writes, and its types.
_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC = 256, 257, 258, 259, 262
_FILL_ORDER, _OFFSETS, _SAMPLES, _STRIP_ROWS, _BYTE_COUNTS = 266, 273, 277, 278, 279
_LONG, _UNDEFINED = 4, 7
_PACK_BITS, _REVERSED = 32773, 2
_PRIVATE = 40_000
_TIFF_HEAD = 8


def picture(kind: str = "JPEG", side: int = _SIDE) -> bytes:
    """Return a small white picture."""
    file = io.BytesIO()
    Image.new("RGB", (side, side), "white").save(file, kind)
    return file.getvalue()


def jpeg_of(marker: int, content: bytes) -> Callable[[int], bytes]:
    """Return a function that makes a JPEG with this many equal segments in its header."""
    segment = struct.pack(">BBH", 0xFF, marker, len(content) + 2) + content

    def made(count: int) -> bytes:
        sound = picture()
        return sound[:2] + segment * count + sound[2:]

    return made


def padded_jpeg(count: int) -> bytes:
    """Return a JPEG with this many fill bytes before its first marker."""
    sound = picture()
    return sound[:2] + b"\xff" * count + sound[2:]


def png_of(kind: bytes, content: bytes, *, is_late: bool = False) -> Callable[[int], bytes]:
    """Return a function that makes a PNG with this many equal chunks before or after its pixels."""
    chunk = _chunk(kind, content)

    def made(count: int) -> bytes:
        sound = picture("PNG")
        # The signature and the head; the end.
        place = len(sound) - 12 if is_late else 33
        return sound[:place] + chunk * count + sound[place:]

    return made


def crumbled_png(count: int) -> bytes:
    """Return a PNG with its pixels in this many chunks of one byte."""
    side = int(count**0.5)
    pixels = zlib.compress((b"\0" + bytes(side)) * side, 0)
    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    crumbs = b"".join(_chunk(b"IDAT", pixels[place : place + 1]) for place in range(len(pixels)))
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + crumbs + _chunk(b"IEND", b"")


def tiff_of_strips(count: int) -> bytes:
    """Return a TIFF with a strip for each of its rows."""
    width = count // 30 + 8
    return _tiff(width, count, offsets=[_TIFF_HEAD] * count, lengths=[width] * count, data=width)


def tiff_of_reversed_strips(count: int) -> bytes:
    """Return a TIFF with overlapping strips of reversed bits."""
    width, data = count // 30 + 8, 200 * count
    # Each begins with as many runs of zeros as a row has; the rest is not looked at.
    return _tiff(
        width,
        count,
        offsets=[_TIFF_HEAD] * count,
        lengths=[data] * count,
        data=data,
        more=[(_COMPRESSION, _PACK_BITS), (_FILL_ORDER, _REVERSED)],
    )


def tiff_of_tags(count: int) -> bytes:
    """Return a TIFF with this many unknown tags."""
    more = [(_PRIVATE + number % 25_000, 1) for number in range(count)]
    return _tiff(_SIDE, _SIDE, offsets=[_TIFF_HEAD], lengths=[_SIDE**2], data=_SIDE**2, more=more)


def tiff_of_large_tags(count: int) -> bytes:
    """Return a TIFF with this many tags that refer to the same bytes."""
    sound = bytearray(tiff_of_tags(count)) + bytes(100 * count)
    known = 9
    (start,) = struct.unpack_from("<I", sound, 4)
    for number in range(count):
        place = start + 2 + 12 * (known + number)
        struct.pack_into("<HII", sound, place + 2, _UNDEFINED, 100 * count, _TIFF_HEAD)
    return bytes(sound)


def looped_tiff(count: int) -> bytes:
    """Return a TIFF of this many pages; the last one refers to the first as the next."""
    sound = bytearray(_tiff(_SIDE, _SIDE, [_TIFF_HEAD], [_SIDE**2], data=_SIDE**2, pages=count))
    sound[-4:] = sound[4:8]
    return bytes(sound)


def webp_of_chunks(count: int) -> bytes:
    """Return a WebP with this many empty chunks after its picture."""
    return _webp(0, _frame_parts() + b"JUNK\0\0\0\0" * count)


def webp_of_frames(count: int) -> bytes:
    """Return an animation of this many frames."""
    return _webp(2, _ANIMATION + _frame(_frame_parts()) * count)


def webp_of_chunks_in_a_frame(count: int) -> bytes:
    """Return an animation of one frame with this many empty chunks."""
    return _webp(2, _ANIMATION + _frame(_frame_parts() + b"JUNK\0\0\0\0" * count))


def heic_of_pictures(count: int) -> bytes:
    """Return a HEIC with this many pictures."""
    file = pillow_heif.HeifFile()  # type: ignore[no-untyped-call]
    for _ in range(count):
        file.add_from_pillow(Image.new("RGB", (_SIDE, _SIDE), "white"))
    saved = io.BytesIO()
    file.save(saved, quality=50)
    return saved.getvalue()


def pattern(name: str, side: int) -> Picture:
    """Return a picture full of patterns that look like parts of a code."""
    gray = _PATTERNS[name](side)
    tiled = np.tile(gray, (-(-side // gray.shape[0]), -(-side // gray.shape[1])))[:side, :side]
    return np.repeat(tiled[:, :, np.newaxis], 3, axis=2)


def _noise(side: int) -> Gray:
    return np.random.default_rng(side).integers(0, 256, (side, side), dtype=np.uint8)


def _specks(_: int) -> Gray:
    speck = np.full((4, 4), 255, np.uint8)
    speck[:2, :2] = 0
    return speck


def _finder(_: int) -> Gray:
    """Return the finder pattern of a QR code."""
    squares = np.pad(np.zeros((3, 3), np.uint8), 1, constant_values=255)
    finder = np.pad(np.pad(squares, 1), 2, constant_values=255)
    return np.kron(finder, np.ones((2, 2), np.uint8))


def _code(_: int) -> Gray:
    code = zxingcpp.create_barcode("A", zxingcpp.BarcodeFormat.QRCode)
    return np.asarray(code.to_image(scale=2, add_quiet_zones=True), dtype=np.uint8)


def _squares(side: int) -> Gray:
    away = np.abs(np.arange(side) - side // 2)
    squares = np.maximum.outer(away, away) // 2 % 2
    return (squares * 255).astype(np.uint8)


_PATTERNS: Mapping[str, Callable[[int], Gray]] = MappingProxyType(
    {"noise": _noise, "specks": _specks, "finders": _finder, "codes": _code, "squares": _squares}
)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + kind
        + content
        + struct.pack(">I", zlib.crc32(kind + content))
    )


def _tiff(
    width: int,
    height: int,
    offsets: list[int],
    lengths: list[int],
    *,
    data: int,
    more: list[tuple[int, int]] | None = None,
    pages: int = 1,
) -> bytes:
    """Return a gray TIFF whose pixels are `data` zeros after its header; all pages are equal."""
    file = bytearray(b"II*\0" + bytes(4 + data))
    places = []
    for numbers in (offsets, lengths):
        places.append(len(file) if len(numbers) > 1 else numbers[0])
        file += struct.pack(f"<{len(numbers)}I", *numbers)
    tags = {
        _WIDTH: (1, width),
        _HEIGHT: (1, height),
        _BITS: (1, 8),
        _COMPRESSION: (1, 1),
        _PHOTOMETRIC: (1, 1),
        _OFFSETS: (len(offsets), places[0]),
        _SAMPLES: (1, 1),
        _STRIP_ROWS: (1, -(-height // len(offsets))),
        _BYTE_COUNTS: (len(lengths), places[1]),
    } | {tag: (1, value) for tag, value in more or ()}
    entries = b"".join(struct.pack("<HHII", tag, _LONG, *tags[tag]) for tag in sorted(tags))
    link = 4
    for _ in range(pages):
        struct.pack_into("<I", file, link, len(file))
        file += struct.pack("<H", len(tags)) + entries
        link = len(file)
        file += bytes(4)
    return bytes(file)


_CANVAS = struct.pack("<I", _SIDE - 1)[:3] * 2
_ANIMATION = b"ANIM" + struct.pack("<I", 6) + bytes(6)


def _frame_parts() -> bytes:
    return picture("WEBP")[12:]


def _frame(parts: bytes) -> bytes:
    content = bytes(6) + _CANVAS + b"\1\0\0\0" + parts
    return b"ANMF" + struct.pack("<I", len(content)) + content


def _webp(flags: int, parts: bytes) -> bytes:
    head = b"VP8X" + struct.pack("<I", 10) + struct.pack("<I", flags) + _CANVAS
    body = b"WEBP" + head + parts
    return b"RIFF" + struct.pack("<I", len(body)) + body


#: Name -> what makes it, and of how many parts a small one is.
FILES: Mapping[str, tuple[Callable[[int], bytes], int]] = MappingProxyType(
    {
        "JPEG, comments": (jpeg_of(0xFE, b"hello"), 4_000),
        "JPEG, pieces of a profile": (jpeg_of(0xE2, b"ICC_PROFILE\0\1\1x"), 3_000),
        "JPEG, Photoshop's blocks": (
            jpeg_of(0xED, b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0\0\0\0\2xx"),
            2_500,
        ),
        "JPEG, quantization tables": (jpeg_of(0xDB, b"\0" + b"\1" * 64), 1_500),
        "JPEG, fill bytes": (padded_jpeg, 10_000),
        "PNG, texts": (png_of(b"tEXt", b"a\0b"), 2_000),
        "PNG, compressed texts": (png_of(b"zTXt", b"a\0\0" + zlib.compress(bytes(999))), 1_500),
        "PNG, profiles": (png_of(b"iCCP", b"a\0\0" + zlib.compress(bytes(99_999))), 50),
        "PNG, private chunks": (png_of(b"prVt", b"x"), 1_500),
        "PNG, palettes": (png_of(b"PLTE", bytes(300)), 1_500),
        "PNG, texts behind the pixels": (png_of(b"tEXt", b"a\0b", is_late=True), 3_000),
        "PNG, crumbs": (crumbled_png, 3_000),
        "TIFF, strips": (tiff_of_strips, 1_500),
        "TIFF, tags": (tiff_of_tags, 500),
        "TIFF, large tags": (tiff_of_large_tags, 500),
        "WebP, chunks": (webp_of_chunks, 60_000),
        "WebP, frames": (webp_of_frames, 8_000),
        "WebP, chunks in a frame": (webp_of_chunks_in_a_frame, 60_000),
        "HEIC, pictures": (heic_of_pictures, 10),
    }
)
