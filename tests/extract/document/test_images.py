"""Pictures of every mode are decoded upright, on white, in RGB."""

import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from recibo.extract import errors
from recibo.extract.document import images
from recibo.extract.model import Page, Picture
from tests import drawing

SIZE = (60, 40)


def dark_left() -> Image.Image:
    """Return a picture that is dark at the left and white at the right."""
    picture = Image.new("L", SIZE, 255)
    picture.paste(0, (0, 0, SIZE[0] // 2, SIZE[1]))
    return picture


def page_of(image: Image.Image, kind: str = "PNG", **options: object) -> Page:
    """Return the page of a file with this picture."""
    buffer = io.BytesIO()
    image.save(buffer, format=kind, **options)
    return next(images.pages(buffer.getvalue()))


def sides(picture: Picture) -> tuple[int, int]:
    """Return how bright the left and the right of a picture are."""
    middle = picture.shape[0] // 2
    return int(picture[middle, 5].mean()), int(picture[middle, -5].mean())


def deep(dtype: type[np.generic], brightest: float) -> Image.Image:
    """Return the picture in more than 8 bits."""
    return Image.fromarray((np.asarray(dark_left()) / 255 * brightest).astype(dtype))


MODES = {
    "1 bit": (dark_left().convert("1"), "PNG"),
    "gray": (dark_left(), "JPEG"),
    "16 bit": (deep(np.uint16, 65535), "PNG"),
    "16 bit tiff": (deep(np.uint16, 65535), "TIFF"),
    "32 bit": (deep(np.int32, 2**30), "TIFF"),
    "floating": (deep(np.float32, 1.0), "TIFF"),
    "palette": (dark_left().convert("P"), "PNG"),
    "color": (dark_left().convert("RGB"), "JPEG"),
    "print colours": (dark_left().convert("RGB").convert("CMYK"), "JPEG"),
    "print colours tiff": (dark_left().convert("RGB").convert("CMYK"), "TIFF"),
    "luminance": (dark_left().convert("RGB").convert("YCbCr"), "TIFF"),
    "lab": (dark_left().convert("RGB").convert("LAB"), "TIFF"),
}


@pytest.mark.parametrize(("image", "kind"), MODES.values(), ids=MODES.keys())
def test_every_mode_is_read(image: Image.Image, kind: str) -> None:
    page = page_of(image, kind)
    picture = page.draw(1)

    assert (SIZE[1], SIZE[0], 3) == picture.shape
    assert picture.dtype == np.uint8
    dark, bright = sides(picture)
    assert dark < 20
    assert bright > 235


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_pixels_become_white(mode: str) -> None:
    inked = Image.new("RGBA", SIZE, (0, 0, 0, 0))
    inked.paste((0, 0, 0, 255), (0, 0, SIZE[0] // 2, SIZE[1]))

    assert (0, 255) == sides(page_of(inked.convert(mode)).draw(1))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_exif_orientation_is_applied(orientation: int) -> None:
    marked = Image.new("RGB", SIZE, "white")
    marked.paste((200, 30, 30), (0, 0, 20, 10))
    exif = Image.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    marked.save(buffer, format="PNG", exif=exif)
    upright = np.asarray(ImageOps.exif_transpose(Image.open(buffer)))

    page = next(images.pages(buffer.getvalue()))

    assert np.array_equal(upright, page.draw(1))
    assert upright.shape[:2] == (page.height, page.width)


def test_pages_of_a_tiff_keep_their_own_sizes() -> None:
    data = drawing.encode_tiff([Image.new("L", (30, 20)), Image.new("L", (10, 50))])

    found = list(images.pages(data))

    assert [(1, 30, 20), (2, 10, 50)] == [(page.number, page.width, page.height) for page in found]


def test_only_the_first_picture_of_an_animation_is_a_page() -> None:
    buffer = io.BytesIO()
    frames = [Image.new("L", SIZE, shade) for shade in (0, 128, 255)]
    frames[0].save(buffer, format="PNG", save_all=True, append_images=frames[1:])

    assert images.page_count(buffer.getvalue()) == 1


@pytest.mark.parametrize(("kind", "mode"), [("JPEG", "RGB"), ("PNG", "1"), ("PNG", "P")])
def test_huge_pages_are_shrunk_but_have_their_true_size(kind: str, mode: str) -> None:
    huge = Image.new("L", (8000, 6001), 255)
    huge.paste(0, (0, 0, 4000, 6001))

    page = page_of(huge.convert(mode), kind)
    picture = page.draw(1)

    assert (8000, 6001) == (page.width, page.height)
    assert picture.shape[0] * picture.shape[1] <= 24_000_000
    assert picture.shape[1] / picture.shape[0] == pytest.approx(8000 / 6001, rel=0.01)
    assert (0, 255) == sides(picture)


@pytest.mark.parametrize("scale", [0.25, 0.5, 1, 1.5, 3])
def test_a_page_is_drawn_at_the_scale_asked_for(scale: float) -> None:
    picture = page_of(dark_left()).draw(scale)

    assert (SIZE[1] * scale, SIZE[0] * scale) == picture.shape[:2]


def test_drawing_never_exceeds_the_limit() -> None:
    picture = page_of(Image.new("L", (4000, 4000))).draw(100)

    assert picture.shape[0] * picture.shape[1] <= 24_100_000


def test_the_first_pages_of_a_broken_tiff_are_read() -> None:
    noise = Image.effect_noise((300, 300), 90)
    data = drawing.encode_tiff([noise, noise])
    cut = data[: data.rindex(data[-200:])]
    loaded = images.pages(cut)

    with pytest.raises(errors.Unreadable):
        list(loaded)


@pytest.mark.parametrize("size", [(1, 1), (1, 1_000_000), (100_000_000, 1), (20, 4_000_000)])
def test_a_shape_without_room_for_text_is_unreadable_before_it_is_decoded(
    size: tuple[int, int],
) -> None:
    with pytest.raises(errors.Unreadable):
        page_of(Image.new("1", size, 1))


def test_a_jpeg_with_very_many_scans_is_refused() -> None:
    """Each of them is a pass over all pixels."""
    buffer = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(buffer, format="JPEG", progressive=True)
    sound = buffer.getvalue()
    last = sound.rindex(b"\xff\xda")
    oversized = sound[:last] + sound[last:-2] * 300 + sound[-2:]

    assert images.page_count(sound) == 1
    with pytest.raises(errors.Unreadable):
        images.page_count(oversized)
