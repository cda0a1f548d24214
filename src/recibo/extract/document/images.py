"""The pages of picture files."""

import io
import math
import re
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import cv2
import numpy as np
import numpy.typing as npt
import pillow_heif
from PIL import (
    ExifTags,
    Image,
    JpegImagePlugin,
    MpoImagePlugin,
    PngImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)

from recibo.extract.document import limits, webp
from recibo.extract.errors import Damaged, Unreadable
from recibo.extract.model import Page, Picture

pillow_heif.register_heif_opener(thumbnails=False)

# Pillow warns at its own bound and refuses at twice that; `limits` is the bound here, tested on
# the header of every page before any of its pixels is decoded.
Image.MAX_IMAGE_PIXELS = None

#: The decoders that may look at a file, of the many that Pillow has. Pillow loads but a few by
#: itself, so these are imported here.
_DECODERS = (JpegImagePlugin, MpoImagePlugin, PngImagePlugin, WebPImagePlugin, TiffImagePlugin)
_FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "HEIF")

#: What the decoders call what they opened -> media type.
_MIMES = {
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "TIFF": "image/tiff",
    "HEIF": "image/heic",
}

_JPEG = "image/jpeg"

#: The only format whose further pictures are pages; elsewhere they are previews or animation.
_PAGED = "TIFF"

#: Larger pages are kept shrunk, for no engine looks at more.
_MAX_KEPT_PIXELS = 24_000_000

_BAND_ROWS = 256

#: A progressive JPEG comes in some ten scans, each of which is a pass over all of its pixels.
_MOST_SCANS = 200
# How a scan begins: its mark, the length of its head, one to four components.
_SCAN = re.compile(rb"\xff\xda\x00[\x08\x0a\x0c\x0e][\x01-\x04]")

#: A JPEG has one for each picture in it. Pillow joins them, and copies all of them at each.
_MOST_EXIF_SEGMENTS = 200
_EXIF_SEGMENT = re.compile(rb"\xff\xe1..Exif\x00\x00", re.DOTALL)

#: Of a TIFF whose bytes have their bits from right to left; libtiff turns them round strip by
#: strip, so overlapping strips cost many times the length of the file.
_REVERSED = 2
_MOST_OVERLAP = 4

#: Grey of 16 or 32 bits, and of floating point.
_DEEP_MODES = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})

#: EXIF's orientations: whether to mirror the picture left to right, and then the quarter turns
#: clockwise that set it upright.
_ORIENTATIONS = {
    2: (True, 0),
    3: (False, 2),
    4: (True, 2),
    5: (True, 3),
    6: (False, 1),
    7: (True, 1),
    8: (False, 3),
}

#: What Pillow's decoders raise on broken files.
_DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    LookupError,
    ArithmeticError,
    TypeError,
    AttributeError,
    RuntimeError,
    struct.error,
    zlib.error,
)


def mime(data: bytes) -> str | None:
    """Return the media type of a file by its decoder, None when no decoder knows it."""
    try:
        with _opened(data) as image:
            return _MIMES.get(image.format or "")
    except Unreadable:
        return None


def page_count(data: bytes) -> int:
    """Count the pages and test the size of each by its header.

    Raises:
        TooManyPages, TooManyPixels, Unreadable: The file is refused.
    """
    with _opened(data) as image:
        if _MIMES.get(image.format or "") == _JPEG and len(_SCAN.findall(data)) > _MOST_SCANS:
            raise Unreadable
        return sum(1 for _ in _frames(image, len(data)))


def pages(data: bytes) -> Iterator[Page]:
    """Yield the pages, each decoded when it is asked for."""
    count = page_count(data)
    for index in range(count):
        with _opened(data) as image:
            image.seek(index)
            yield _page(image, data, number=index + 1)


@contextmanager
def _opened(data: bytes) -> Iterator[Image.Image]:
    """Open a picture; whatever its decoder cannot bear is Unreadable."""
    if len(_EXIF_SEGMENT.findall(data)) > _MOST_EXIF_SEGMENTS:
        raise Damaged
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(io.BytesIO(data), formats=_FORMATS) as image,
        ):
            yield image
    except _DECODER_ERRORS as error:
        raise Damaged from error


def _frames(image: Image.Image, length: int) -> Iterator[int]:
    """Yield the number of each page whose header is sound, of a file so many bytes long."""
    number = 0
    while True:
        try:
            image.seek(number)
        except EOFError:
            return
        limits.check_pixels(*image.size)
        _check_strips(image, length)
        number += 1
        limits.check_pages(number)
        yield number
        if image.format != _PAGED:
            return


def _check_strips(image: Image.Image, length: int) -> None:
    """Raise Damaged when the strips of a page are together much longer than the file."""
    if not isinstance(image, TiffImagePlugin.TiffImageFile):
        return
    tags = image.tag_v2
    if tags.get(TiffImagePlugin.FILLORDER) != _REVERSED:
        return
    counts = (TiffImagePlugin.STRIPBYTECOUNTS, ExifTags.Base.TileByteCounts)
    if any(sum(tags.get(tag, ())) > _MOST_OVERLAP * length for tag in counts):
        raise Damaged


def _page(image: Image.Image, data: bytes, *, number: int) -> Page:
    width, height = image.size
    limits.check_shape(width, height)
    orientation = image.getexif().get(ExifTags.Base.Orientation, 1)
    is_mirrored, turns = _ORIENTATIONS.get(orientation, (False, 0))
    if turns % 2:
        width, height = height, width
    decoded = _pixels(image, data)
    upright = np.rot90(decoded[:, ::-1] if is_mirrored else decoded, -turns)
    kept = np.ascontiguousarray(upright)
    return Page(number=number, width=width, height=height, draw=_drawer(kept, width))


def _drawer(kept: Picture, width: int) -> Callable[[float], Picture]:
    """Return what resizes a kept picture of a page that is `width` wide."""
    is_shrunk = kept.shape[1] < width
    largest = 1.0 if is_shrunk else math.sqrt(_MAX_KEPT_PIXELS / (kept.shape[0] * kept.shape[1]))

    def draw(scale: float) -> Picture:
        factor = min(scale * width / kept.shape[1], largest)
        if factor == 1:
            return kept
        method = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
        resized = cv2.resize(kept, None, fx=factor, fy=factor, interpolation=method)
        return np.asarray(resized, dtype=np.uint8)

    return draw


def _pixels(image: Image.Image, data: bytes) -> Picture:
    """Decode a page, shrunk to at most the size that is kept."""
    step = _step(image)
    if step > 1 and image.format == WebPImagePlugin.WebPImageFile.format:
        frame = webp.first_frame(data, *image.size)
        return _shrunk(image.size, step, partial(frame.rows, image.width))
    # JPEG decodes straight to a half, a quarter or an eighth; other formats ignore the wish.
    image.draft("RGB", (image.width // step, image.height // step))
    image.load()
    step = _step(image)
    if step == 1:
        return _rgb(image)
    return _shrunk(image.size, step, lambda top, bottom: image.crop((0, top, image.width, bottom)))


def _step(image: Image.Image) -> int:
    """Return how many times smaller a picture is kept."""
    return math.ceil(math.sqrt(image.width * image.height / _MAX_KEPT_PIXELS))


def _shrunk(
    size: tuple[int, int], step: int, rows_of: Callable[[int, int], Image.Image]
) -> Picture:
    """Return a picture `step` times smaller, made in bands: whole, it would fill the memory."""
    width, height = size
    rows = _BAND_ROWS * step
    bands = []
    for top in range(0, height, rows):
        band = _rgb(rows_of(top, min(top + rows, height)))
        size = (max(1, width // step), max(1, band.shape[0] // step))
        bands.append(cv2.resize(band, size, interpolation=cv2.INTER_AREA))
    return np.asarray(np.vstack(bands), dtype=np.uint8)


def _rgb(image: Image.Image) -> Picture:
    """Return a picture of any mode as RGB on white."""
    if image.mode in _DEEP_MODES:
        return np.repeat(_levels(np.asarray(image))[:, :, np.newaxis], 3, axis=2)
    if image.has_transparency_data:
        opaque = Image.new("RGBA", image.size, "white")
        opaque.alpha_composite(image.convert("RGBA"))
        image = opaque
    return np.array(image.convert("RGB"), dtype=np.uint8)


def _levels(deep: npt.NDArray[np.float32]) -> Picture:
    """Return grey of more than 8 bits as 8 bits."""
    values = np.nan_to_num(deep.astype(np.float32))
    low, high = 0.0, float(np.iinfo(np.uint16).max)
    if deep.dtype.kind == "f" or values.max(initial=0) > high:
        low, high = float(values.min(initial=0)), float(values.max(initial=1))
    return np.asarray((values - low).clip(0) * (255 / max(high - low, 1e-9)), dtype=np.uint8)
