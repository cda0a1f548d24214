"""Draw the README's receipt: `python -m docs.pictures.draw` from the root of the project."""

from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from tests import make_documents

TABLE = (176, 164, 150)
TILT_DEGREES = 1.6
MARGIN = 46
SHADOW_OFFSET = (10, 14)
# What a README shows; the reader is given the same file.
WIDTH = 640


def draw() -> Image.Image:
    """Lay a till receipt on a table, a little askew, as a phone sees it."""
    image = _creased(make_documents.till_receipt().picture())
    sheet = image.convert("RGBA").rotate(TILT_DEGREES, Image.Resampling.BICUBIC, expand=True)
    size = (sheet.width + 2 * MARGIN, sheet.height + 2 * MARGIN)
    table = Image.new("RGB", size, TABLE)
    shadow = Image.new("L", size, 0)
    shadow.paste(110, _moved((MARGIN, MARGIN), SHADOW_OFFSET), sheet.getchannel("A"))
    table.paste((60, 50, 40), (0, 0), shadow.filter(ImageFilter.GaussianBlur(12)))
    table.paste(sheet, (MARGIN, MARGIN), sheet)
    return table.resize((WIDTH, round(WIDTH * size[1] / size[0])), Image.Resampling.LANCZOS)


def _creased(image: Image.Image) -> Image.Image:
    """Return the image slightly yellowed, with the soft shadows of two folds."""
    light = Image.new("L", image.size, 250)
    pen = ImageDraw.Draw(light)
    for share in (0.36, 0.71):
        y = round(image.height * share)
        pen.rectangle((0, y, image.width, y + 10), fill=222)
    light = light.filter(ImageFilter.GaussianBlur(16))
    tint = Image.merge("RGB", (light, light, light.point(lambda value: value - 8)))
    return ImageChops.multiply(image, tint)


def _moved(place: tuple[int, int], by: tuple[int, int]) -> tuple[int, int]:
    return place[0] + by[0], place[1] + by[1]


if __name__ == "__main__":
    picture = draw().quantize(128, dither=Image.Dither.NONE)
    picture.save(Path(__file__).with_name("receipt.png"), optimize=True)
