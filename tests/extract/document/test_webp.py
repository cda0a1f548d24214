"""Large WebP pictures are decoded like small ones, with less memory than Pillow needs."""

import io
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from recibo.extract import errors
from recibo.extract.document import images, webp

SIZE = (60, 40)
# Just larger than what is kept as it is.
HUGE = (6000, 4001)

PEAK = """
import re, sys
from pathlib import Path
from recibo.extract.document import images

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

before = peak()
next(images.pages(sys.stdin.buffer.read()))
print("KB:", peak() - before)
"""


def half_inked(size: tuple[int, int], mode: str) -> Image.Image:
    """Return a picture that is red at the left and white or transparent at the right."""
    picture = Image.new(mode, size, (255, 255, 255, 0)[: len(mode)])
    picture.paste((200, 30, 10, 255)[: len(mode)], (0, 0, size[0] // 2, size[1]))
    return picture


def encoded(image: Image.Image, **options: object) -> bytes:
    """Return the picture as a WebP without loss."""
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", lossless=True, method=0, quality=0, **options)
    return buffer.getvalue()


def animation(mode: str) -> bytes:
    """Return an animation of pictures."""
    picture = half_inked(SIZE, mode)
    return encoded(picture, save_all=True, append_images=[picture.rotate(180)])


def moved(data: bytes, left: int, top: int) -> bytes:
    """Put the first frame of an animation elsewhere."""
    place = data.index(b"ANMF") + 8
    numbers = (left // 2).to_bytes(3, "little") + (top // 2).to_bytes(3, "little")
    return data[:place] + numbers + data[place + 6 :]


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("is_moving", [False, True])
def test_huge_pictures_are_shrunk_on_white(mode: str, is_moving: bool) -> None:
    picture = half_inked(HUGE, mode)
    options = {"save_all": True, "append_images": [Image.new(mode, HUGE)]} if is_moving else {}

    page = next(images.pages(encoded(picture, **options)))
    kept = page.draw(1)

    assert HUGE == (page.width, page.height)
    assert (2000, 3000, 3) == kept.shape
    assert np.all(kept[:, :1500] == (200, 30, 10))
    assert np.all(kept[:, 1500:] == 255)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_the_first_picture_of_an_animation_is_that_of_pillow(mode: str) -> None:
    data = animation(mode)

    frame = webp.first_frame(data, *SIZE)

    expected = Image.open(io.BytesIO(data)).convert("RGBA")
    assert expected.tobytes() == frame.rows(SIZE[0], 0, SIZE[1]).convert("RGBA").tobytes()


def test_a_frame_has_the_position_in_its_file() -> None:
    data = animation("RGB")

    frame = webp.first_frame(moved(data, 10, 20), 100, 100)

    rows = frame.rows(100, 10, 50)
    expected = Image.new("RGBA", (100, 40), (0, 0, 0, 0))
    expected.paste(half_inked(SIZE, "RGB").crop((0, 0, 60, 30)), (10, 10))
    assert expected.tobytes() == rows.tobytes()
    assert Image.new("RGBA", (100, 9)).tobytes() == frame.rows(100, 0, 9).tobytes()
    assert Image.new("RGBA", (100, 9)).tobytes() == frame.rows(100, 90, 99).tobytes()


def test_a_frame_beyond_its_canvas_is_damaged() -> None:
    with pytest.raises(errors.Damaged):
        webp.first_frame(moved(animation("RGB"), 2, 0), *SIZE)


def test_a_frame_larger_than_it_says_is_damaged() -> None:
    data = animation("RGB")
    place = data.index(b"ANMF") + 8 + 6
    smaller = data[:place] + (9).to_bytes(3, "little") + data[place + 3 :]

    with pytest.raises(errors.Damaged):
        webp.first_frame(smaller, *SIZE)


def test_half_a_huge_picture_is_damaged() -> None:
    whole = encoded(half_inked(HUGE, "RGB"))

    with pytest.raises(errors.Unreadable):
        next(images.pages(whole[: len(whole) // 2]))


def test_a_huge_picture_takes_at_most_nine_bytes_per_pixel() -> None:
    data = encoded(half_inked(HUGE, "RGBA"), exact=True)

    run = subprocess.run([sys.executable, "-c", PEAK], input=data, capture_output=True, check=True)

    kilobytes = re.search(rb"KB: (\d+)", run.stdout)
    assert kilobytes
    assert int(kilobytes[1]) * 1024 < 9 * HUGE[0] * HUGE[1] + (64 << 20)
