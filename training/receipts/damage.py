"""Simulates thermal printers, scanners and photos of crumpled receipts.

Each takes a gray picture and a random generator; the same seed gives the same picture.
"""

import cv2
import numpy as np
import numpy.typing as npt

#: Height x width, or height x width x 3 in RGB; 8 bits.
Picture = npt.NDArray[np.uint8]
Field = npt.NDArray[np.float32]
Chance = np.random.Generator

# Noise is drawn for a patch and repeated, which is not visible and saves most of the time.
_PATCH = 512
_TABLES = ((176, 164, 150), (92, 70, 52), (60, 62, 66), (214, 210, 204), (120, 128, 110))

# The pixels between pale columns: wider than letters.
_WORN = 40

# How often a photo has bowed rows, folds, fingers.
_BOWED, _CREASED, _HELD = 0.35, 0.4, 0.2
# How often it is not held straight.
_ASKEW = 0.25
# How often a photo has each of these. Nobody keeps a photo that has all of them.
_SPOILING = {"dark": 0.09, "glare": 0.22, "faded": 0.2, "shaken": 0.2}
# The share of the ink that a fold rubs off, and the most at any point: the rest can be guessed.
_GONE, _MOST_GONE = (0.4, 0.75), 0.9
_SKINS = ((224, 178, 148), (198, 142, 108), (141, 92, 64), (92, 60, 44))


def thermal(page: Picture, chance: Chance) -> Picture:
    """Return a page as a thermal printer prints it: dots, pale columns, a warm background."""
    height, width = page.shape
    dots = cv2.GaussianBlur(page, (0, 0), chance.uniform(0.4, 0.9))
    ink = np.clip((chance.uniform(195, 230) - dots.astype(np.float32)) / 60, 0, 1)
    # A worn print head prints some columns paler; the feed speed changes.
    columns = _smooth(chance, (1, max(2, width // _WORN)), (height, width), 0.25)
    rows = _smooth(chance, (max(2, height // 40), 1), (height, width), 0.2)
    ink *= np.clip(chance.uniform(0.75, 1.0) - np.abs(columns) - np.abs(rows), 0.35, 1)
    background = 236 + _grain(chance, (height, width), 3)
    dark = chance.uniform(40, 90)
    return _picture(background * (1 - ink) + dark * ink)


def dotted(page: Picture, chance: Chance) -> Picture:
    """Return a page in dots of one tone, as a good print head burns them, pale logos too."""
    return np.where(page < chance.uniform(195, 230), chance.uniform(20, 80), 250).astype(np.uint8)


def rubbed(page: Picture, ends: tuple[float, float], chance: Chance) -> Picture:
    """Return a page with the ink between two heights rubbed off in part, as a fold does."""
    height, width = page.shape
    middle, tall = (ends[0] + ends[1]) / 2, max(1.0, ends[1] - ends[0])
    away = (np.arange(height, dtype=np.float32)[:, None] - middle) / (tall / 2)
    near = np.exp(-(away**4))
    # Patches go, and rows of dots; a fold rubs more at one side.
    patches = _smooth(chance, (max(2, height // 12), max(2, width // 24)), (height, width), 0.25)
    along = _smooth(chance, (1, 3), (height, width), 0.15)
    lines = cv2.GaussianBlur(chance.normal(0, 0.4, (height, 1)).astype(np.float32), (1, 3), 0.8)
    gone = chance.uniform(*_GONE) + patches + along + lines
    white = float(np.percentile(page, 90))
    kept = 1 - near * np.clip(gone, 0, _MOST_GONE)
    return _picture(white - (white - page.astype(np.float32)) * kept)


def resized(picture: Picture, factor: float) -> Picture:
    """Return the picture larger or smaller."""
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(picture, None, fx=factor, fy=factor, interpolation=way), np.uint8)


def scanned(page: Picture, chance: Chance) -> Picture:
    """Return a flatbed scan: slightly rotated, slightly soft, in even gray."""
    height, width = page.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), chance.normal(0, 0.7), 1)
    askew = cv2.warpAffine(page, turn, (width, height), flags=cv2.INTER_LINEAR, borderValue=250)
    soft = cv2.GaussianBlur(askew, (0, 0), chance.uniform(0.4, 1.0))
    faded = soft * chance.uniform(0.75, 0.95) + chance.uniform(5, 45)
    return _picture(faded + _grain(chance, (height, width), 4))


def photographed(page: Picture, chance: Chance) -> Picture:
    """Return a photo of a folded page in perspective on a table, badly lit, in color.

    How often it is dark, glares, is faded or has fingers on it was chosen so that it is about as
    hard to read as real photos: see docs/accuracy.md.
    """
    spoiled = _spoiled(chance)
    page = _faded(page, chance) if spoiled == "faded" else page
    scene, is_page = _laid_down(page, chance)
    size = (scene.shape[0], scene.shape[1])
    light = _light(chance, size)
    is_dark = spoiled == "dark"
    light *= chance.uniform(0.55, 0.8) if is_dark else chance.uniform(0.8, 1.05)
    lit = scene * is_page * light
    table = (1 - is_page) * light * _wood(chance, size)
    grain = _grain(chance, scene.shape, 9 if is_dark else 3)
    if spoiled == "glare":
        grain = grain + _glare(chance, size)
    colors = zip(_tint(chance), _TABLES[chance.integers(len(_TABLES))], strict=True)
    # Channel by channel: all of them in one array would take three times as long.
    channels = [
        _picture(cv2.addWeighted(lit, white, table, wood, 0) + grain) for white, wood in colors
    ]
    seen = _held(np.asarray(cv2.merge(channels), np.uint8), light, chance)
    return _shaken(seen, chance) if spoiled == "shaken" else _focused(seen, chance)


def jpeg(picture: Picture, chance: Chance, *, worst: int = 45) -> bytes:
    """Return the picture as a JPEG file of some quality."""
    quality = int(chance.integers(worst, 93))
    colors = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_RGB2BGR)
    _, file = cv2.imencode(".jpg", colors, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return file.tobytes()


def png(picture: Picture) -> bytes:
    """Return the picture as a PNG file."""
    _, file = cv2.imencode(".png", picture)
    return file.tobytes()


def _spoiled(chance: Chance) -> str:
    """Return what spoils a photo: one thing, or nothing."""
    kinds, shares = list(_SPOILING), list(_SPOILING.values())
    return str(chance.choice([*kinds, ""], p=[*shares, 1 - sum(shares)]))


def _laid_down(page: Picture, chance: Chance) -> tuple[Field, Field]:
    """Return the crumpled page, shaded 0 to 1, and a mask of where it is, 0 to 1."""
    height, width = page.shape
    margin = round(min(height, width) * chance.uniform(0.02, 0.12))
    size = (height + 2 * margin, width + 2 * margin)
    x, y = _seen_from(chance, page.shape, size, margin)
    heights = _folded(chance, size)
    depth = chance.uniform(0, 0.012) * min(size)
    x += depth * heights
    y += depth * _folded(chance, size)
    if chance.random() < _BOWED:
        # The rows of a roll that was not flattened are bowed.
        y += chance.uniform(-0.03, 0.03) * width * (2 * x / width - 1) ** 2
    cover = cv2.remap(
        np.ones_like(page), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT
    ).astype(np.float32)
    seen = cv2.remap(page, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    slope = cv2.Sobel(heights, cv2.CV_32F, 1, 1, ksize=5)
    shade = 1 - np.clip(slope * depth * chance.uniform(0.2, 1.2), -0.25, 0.25)
    return seen.astype(np.float32) / 255 * shade * _creased(chance, size), cover


def _seen_from(
    chance: Chance, page: tuple[int, ...], size: tuple[int, int], margin: int
) -> tuple[Field, Field]:
    """Return the visible point of the page for each point of the scene."""
    height, width = page[:2]
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    tilt = chance.uniform(-1, 1, (4, 2)) * margin * 0.5
    turn = np.deg2rad(chance.normal(0, 3 if chance.random() < _ASKEW else 0.7))
    center = np.array([width / 2, height / 2])
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    there = (corners - center) @ rotation.T + center + margin + tilt
    back = cv2.getPerspectiveTransform(there.astype(np.float32), corners)
    columns, rows = np.meshgrid(
        np.arange(size[1], dtype=np.float32), np.arange(size[0], dtype=np.float32)
    )
    back = back.astype(np.float32)
    scale = back[2, 0] * columns + back[2, 1] * rows + back[2, 2]
    x = (back[0, 0] * columns + back[0, 1] * rows + back[0, 2]) / scale
    y = (back[1, 0] * columns + back[1, 1] * rows + back[1, 2]) / scale
    return x, y


def _folded(chance: Chance, size: tuple[int, int]) -> Field:
    """Return the height of the page above the table, about -1 to 1: waves and small creases."""
    waves = _smooth(chance, (5, 4), size, 0.6)
    return waves + _smooth(chance, (14, 9), size, 0.25)


def _faded(page: Picture, chance: Chance) -> Picture:
    """Return the page with pale ink at the top, as of an old receipt or a worn print head."""
    height = page.shape[0]
    down = np.arange(height, dtype=np.float32)[:, None] / height
    end = chance.uniform(0.1, 0.4)
    ink = np.clip(chance.uniform(0.25, 0.6) + down / end * 0.6, 0, 1)
    return _picture(255 - (255 - page.astype(np.float32)) * ink)


def _creased(chance: Chance, size: tuple[int, int]) -> Field:
    """Return the brightness of sharp folds across the page: one side lit, the other in shadow."""
    light = np.ones(size, np.float32)
    if chance.random() >= _CREASED:
        return light
    rows, columns = np.indices(size, dtype=np.float32)
    for _ in range(int(chance.integers(1, 4))):
        at = chance.uniform(0.1, 0.9) * size[0] + chance.normal(0, 0.05) * (columns - size[1] / 2)
        wide = chance.uniform(0.002, 0.01) * size[0]
        away = (rows - at) / wide
        light -= chance.uniform(0.05, 0.35) * away * np.exp(-(away**2) / 2)
    return light


def _glare(chance: Chance, size: tuple[int, int]) -> Field:
    """Return the light that a glossy page reflects."""
    rows, columns = np.indices(size, dtype=np.float32)
    y, x = chance.uniform(0, 1, 2) * size
    tall, wide = chance.uniform(0.08, 0.3, 2) * min(size)
    spot = np.exp(-(((rows - y) / tall) ** 2) - ((columns - x) / wide) ** 2)
    return np.asarray(chance.uniform(30, 170) * spot, np.float32)


def _wood(chance: Chance, size: tuple[int, int]) -> Field:
    """Return the pattern of a table: grain along one side, or a woven cloth."""
    grain = _smooth(chance, (4, max(4, size[1] // 12)), size, 0.12)
    across = _smooth(chance, (max(4, size[0] // 12), 4), size, 0.12)
    share = chance.choice((0.0, 0.0, 0.5, 1.0))
    return np.asarray(np.clip(1 + (1 - share) * grain + share * across, 0.4, 1.6), np.float32)


def _held(picture: Picture, light: Field, chance: Chance) -> Picture:
    """Return the picture with fingers at its edge that hold the page."""
    if chance.random() >= _HELD:
        return picture
    height, width = picture.shape[:2]
    skin = _SKINS[chance.integers(len(_SKINS))]
    is_left = chance.random() < 0.5
    for _ in range(int(chance.integers(1, 3))):
        x = 0 if is_left else width
        y = int(chance.uniform(0.3, 1) * height)
        axes = (int(chance.uniform(0.04, 0.1) * width), int(chance.uniform(0.03, 0.06) * width))
        bright = float(light[min(y, height - 1), min(x, width - 1)])
        color = tuple(float(min(255, part * bright)) for part in skin)
        cv2.ellipse(picture, (x, y), axes, float(chance.uniform(-30, 30)), 0, 360, color, -1)
    return picture


def _light(chance: Chance, size: tuple[int, int]) -> Field:
    """Return the brightness at each point: a lamp at one side, perhaps the shadow of a hand."""
    light = 1 - np.abs(_smooth(chance, (2, 2), size, 0.18))
    if chance.random() < 0.45:
        small = np.zeros((48, 48), np.uint8)
        center = tuple(int(at) for at in chance.integers(0, 48, 2))
        axes = tuple(int(at) for at in chance.integers(8, 30, 2))
        cv2.ellipse(small, center, axes, float(chance.uniform(0, 180)), 0, 360, 255, -1)
        edge = cv2.GaussianBlur(small, (0, 0), chance.uniform(1.5, 6))
        shadow = cv2.resize(edge, (size[1], size[0]), interpolation=cv2.INTER_CUBIC)
        light *= 1 - shadow.astype(np.float32) / 255 * chance.uniform(0.15, 0.5)
    return light


def _tint(chance: Chance) -> tuple[float, float, float]:
    white = chance.uniform(215, 252)
    warmth = chance.uniform(-8, 16)
    return white, white - warmth / 3, white - warmth


def _focused(picture: Picture, chance: Chance) -> Picture:
    """Return the picture, a little out of focus or not."""
    if chance.random() < 0.4:
        return picture
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), chance.uniform(0.5, 1.8)), np.uint8)


def _shaken(picture: Picture, chance: Chance) -> Picture:
    length = int(chance.integers(2, 6))
    kernel = np.zeros((length, length), np.float32)
    cv2.line(kernel, (0, int(chance.integers(length))), (length - 1, length // 2), 1)
    return np.asarray(cv2.filter2D(picture, -1, kernel / kernel.sum()), np.uint8)


def _smooth(
    chance: Chance, knots: tuple[int, int], size: tuple[int, int], strength: float
) -> Field:
    """Return low-frequency noise, with this many knots down and across."""
    coarse = chance.normal(0, strength, knots).astype(np.float32)
    fine = cv2.resize(coarse, (size[1], size[0]), interpolation=cv2.INTER_CUBIC)
    return np.asarray(fine, np.float32)


def _grain(chance: Chance, size: tuple[int, ...], strength: float) -> Field:
    patch = chance.normal(0, strength, (_PATCH, _PATCH)).astype(np.float32)
    times = -(-size[0] // _PATCH), -(-size[1] // _PATCH)
    return np.tile(patch, times)[: size[0], : size[1]]


def _picture(values: npt.NDArray[np.floating]) -> Picture:
    return np.asarray(cv2.convertScaleAbs(np.maximum(values, 0)), np.uint8)
