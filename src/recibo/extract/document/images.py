"""Decodes the pages of image files."""

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

# Pillow has its own limit; `limits` is checked instead, on the header of every page, before any of
# its pixels is decoded.
Image.MAX_IMAGE_PIXELS = None

#: The decoders that may decode a file, of the many in Pillow. Pillow loads only a few on its own,
#: so these are imported here.
_DECODERS = (JpegImagePlugin, MpoImagePlugin, PngImagePlugin, WebPImagePlugin, TiffImagePlugin)
_FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "HEIF")

#: Pillow's name of a format -> media type.
_MIMES = {
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "TIFF": "image/tiff",
    "HEIF": "image/heic",
}

_JPEG = "image/jpeg"

#: The only format in which further pictures are pages, not previews or animation.
_PAGED = "TIFF"

#: Larger pages are kept shrunk, since OCR needs no more pixels.
_MAX_KEPT_PIXELS = 24_000_000

_BAND_ROWS = 256

#: A progressive JPEG has some ten scans; decoding each is a pass over all pixels.
_MOST_SCANS = 200
# The start of a scan: its marker, the length of its header, one to four components.
_SCAN = re.compile(rb"\xff\xda\x00[\x08\x0a\x0c\x0e][\x01-\x04]")

#: A JPEG has one per picture. Pillow joins them, and copies all of them for each.
_MOST_EXIF_SEGMENTS = 200
_EXIF_SEGMENT = re.compile(rb"\xff\xe1..Exif\x00\x00", re.DOTALL)

#: The fill order of a TIFF with reversed bits. libtiff reverses them strip by strip, so overlapping
#: strips cost many times the length of the file.
_REVERSED = 2
_MOST_OVERLAP = 4

#: Gray of 16 or 32 bits, and of floating point.
_DEEP_MODES = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})

#: EXIF orientations: whether to mirror the picture left to right, and then the quarter turns
#: clockwise that make it upright.
_ORIENTATIONS = {
    2: (True, 0),
    3: (False, 2),
    4: (True, 2),
    5: (True, 3),
    6: (False, 1),
    7: (True, 1),
    8: (False, 3),
}

#: The exceptions of Pillow's decoders on broken files.
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
_SIDE, _KEPT = 32, 8


def mime(data: bytes) -> str | None:
    """Return the media type of a file by its decoder; None if no decoder supports it."""
    try:
        with _open_image(data) as image:
            return _MIMES.get(image.format or "")
    except Unreadable:
        return None


def page_count(data: bytes) -> int:
    """Count the pages and check the size of each by its header.

    Raises:
        TooManyPages, TooManyPixels, Unreadable: The file is refused.
    """
    with _open_image(data) as image:
        if _MIMES.get(image.format or "") == _JPEG and len(_SCAN.findall(data)) > _MOST_SCANS:
            raise Unreadable
        return sum(1 for _ in _frames(image, len(data)))


def pages(data: bytes) -> Iterator[Page]:
    """Yield the pages, each decoded on demand."""
    for number in range(1, page_count(data) + 1):
        yield _load(data, number)


def page(data: bytes, number: int) -> Page | None:
    """Return one page; None if there are fewer."""
    return _load(data, number) if 1 <= number <= page_count(data) else None


def _load(data: bytes, number: int) -> Page:
    with _open_image(data) as image:
        image.seek(number - 1)
        return _page(image, data, number=number)


@contextmanager
def _open_image(data: bytes) -> Iterator[Image.Image]:
    """Open a picture; every exception of its decoder becomes Damaged."""
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
    """Yield the number of each page after checking its header; `length` is that of the file."""
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
    """Raise Damaged if the strips of a page are together much longer than the file."""
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
    """Return a function that resizes the kept picture of a page of this width."""
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
    """Decode a page, shrunk to at most the largest size that is kept."""
    step = _step(image)
    if step > 1 and image.format == WebPImagePlugin.WebPImageFile.format:
        frame = webp.first_frame(data, *image.size)
        return _shrunk(image.size, step, partial(frame.rows, image.width))
    # JPEG can decode to a half, a quarter or an eighth; other formats ignore this.
    image.draft("RGB", (image.width // step, image.height // step))
    image.load()
    step = _step(image)
    if step == 1:
        return _rgb(image)
    return _shrunk(image.size, step, lambda top, bottom: image.crop((0, top, image.width, bottom)))


def _step(image: Image.Image) -> int:
    """Return the factor by which a picture is shrunk."""
    return math.ceil(math.sqrt(image.width * image.height / _MAX_KEPT_PIXELS))


def _shrunk(
    size: tuple[int, int], step: int, rows_of: Callable[[int, int], Image.Image]
) -> Picture:
    """Return a picture `step` times smaller, computed in bands to save memory."""
    width, height = size
    rows = _BAND_ROWS * step
    bands = []
    for top in range(0, height, rows):
        band = _rgb(rows_of(top, min(top + rows, height)))
        size = (max(1, width // step), max(1, band.shape[0] // step))
        bands.append(cv2.resize(band, size, interpolation=cv2.INTER_AREA))
    return np.asarray(np.vstack(bands), dtype=np.uint8)


def _rgb(image: Image.Image) -> Picture:
    """Convert a picture of any mode to RGB on white."""
    if image.mode in _DEEP_MODES:
        return np.repeat(_levels(np.asarray(image))[:, :, np.newaxis], 3, axis=2)
    if image.has_transparency_data:
        opaque = Image.new("RGBA", image.size, "white")
        opaque.alpha_composite(image.convert("RGBA"))
        image = opaque
    return np.array(image.convert("RGB"), dtype=np.uint8)


def _levels(deep: npt.NDArray[np.float32]) -> Picture:
    """Convert gray of more than 8 bits to 8 bits."""
    values = np.nan_to_num(deep.astype(np.float32))
    low, high = 0.0, float(np.iinfo(np.uint16).max)
    if deep.dtype.kind == "f" or values.max(initial=0) > high:
        low, high = float(values.min(initial=0)), float(values.max(initial=1))
    return np.asarray((values - low).clip(0) * (255 / max(high - low, 1e-9)), dtype=np.uint8)


def of(picture: Picture) -> str:
    """Return the hash of a picture: 64 bits as 16 hex digits."""
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (_SIDE, _SIDE), interpolation=cv2.INTER_AREA)
    lowest = cv2.dct(small.astype(np.float32))[1 : _KEPT + 1, 1 : _KEPT + 1].ravel()
    bits = "".join("1" if above else "0" for above in lowest > np.median(lowest))
    return f"{int(bits, 2):016x}"
