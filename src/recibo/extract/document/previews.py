"""Draws pages as small pictures to look at."""

import io

import numpy as np
from PIL import Image

from recibo.extract.document import pages

#: The longest side of a page, pixels.
MAX_SIDE = 1600
# WebP allows at most 16,383 pixels.
_MAX_HEIGHT = 12_000
_QUALITY = 80


def draw(data: bytes, number: int, *, turns: int, width: int | None) -> bytes | None:
    """Return a page as WebP, set upright by quarter turns clockwise; None if there is no such page.

    Args:
        data: The file.
        number: Of the page, from 1.
        turns: As recognition found them.
        width: Pixels; None for a longest side of 1600. A page is never enlarged.

    Raises:
        ReadingError: the file is refused.
    """
    page = pages.page(data, number)
    if page is None:
        return None
    width_px, height_px = (page.height, page.width) if turns % 2 else (page.width, page.height)
    wanted = MAX_SIDE / max(width_px, height_px) if width is None else width / width_px
    scale = min(1.0, wanted, _MAX_HEIGHT / height_px)
    picture = Image.fromarray(np.ascontiguousarray(np.rot90(page.draw(scale), -turns)))
    # Drawers keep to a scale only nearly.
    size = (max(1, round(width_px * scale)), max(1, round(height_px * scale)))
    written = io.BytesIO()
    picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0).save(
        written, "WEBP", quality=_QUALITY, method=2
    )
    return written.getvalue()
