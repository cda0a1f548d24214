"""Damages documents realistically, so that some are misread."""

import io
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

from recibo.extract.model import Line, TextPage, Word

_LONGEST = 1300
_QUALITIES = (20, 30, 45, 70)
# Characters that OCR confuses.
_CONFUSABLE = dict(
    pair.split("=")
    for pair in (
        *("0=O8D", "O=0DQ", "1=lI7", "l=1I", "I=1l", "5=S6", "S=5", "8=B36", "B=8", "6=G5", "G=6C"),
        *("2=Z7", "Z=2", "3=89", "7=1", "4=A", "9=3", ".=,", "A=4", "D=O", "M=N", "e=c", "n=h"),
    )
)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
# The confidences of misread words, from 1,803 such words on damaged receipts.
_MISREAD = (0.37, 0.43, 0.5, 0.58, 0.67, 0.75, 0.8, 0.84, 0.88, 0.91, 0.93, 0.95, 0.965, 0.98, 0.99)
_CONFUSED_SHARE, _LOST_SHARE = 0.75, 0.075
#: Misreads words on purpose, or loses some.
WORD_DAMAGES = ("letters", "more letters", "lost words", "cut off")
_RATES = {"letters": 0.01, "more letters": 0.03}
_LOST_WORDS = 0.06


def picture(data: bytes, seed: str) -> bytes:
    """Return a picture as from a bad camera, in bad light or from a bad printer."""
    chance = random.Random(seed)
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
    hurt = _DAMAGES[chance.choice(list(_DAMAGES))]
    noise = np.random.default_rng(chance.randrange(1 << 30))
    out = io.BytesIO()
    hurt(image, chance, noise).save(out, "JPEG", quality=chance.choice(_QUALITIES))
    return out.getvalue()


def words(text_pages: Sequence[TextPage], how: str, seed: str) -> list[TextPage]:
    """Return recognized pages with words misread or lost, in one of the `WORD_DAMAGES`."""
    chance = random.Random(seed)
    return [replace(page, lines=tuple(_lines(page.lines, how, chance))) for page in text_pages]


def _lines(lines: Sequence[Line], how: str, chance: random.Random) -> list[Line]:
    if how == "cut off":
        first = chance.uniform(0, 0.15) if chance.random() < 0.5 else 0
        last = chance.uniform(0.55, 0.9)
        return list(lines[int(first * len(lines)) : max(3, int(last * len(lines)))])
    hurt = (replace(line, words=tuple(_words(line.words, how, chance))) for line in lines)
    return [line for line in hurt if line.words]


def _words(words: Sequence[Word], how: str, chance: random.Random) -> list[Word]:
    if how == "lost words":
        return [word for word in words if chance.random() >= _LOST_WORDS]
    return [_misread(word, _RATES[how], chance) for word in words]


def _misread(word: Word, rate: float, chance: random.Random) -> Word:
    text = "".join(
        _instead(letter, chance) if letter != " " and chance.random() < rate else letter
        for letter in word.text
    )
    if text == word.text:
        return word
    return replace(word, text=text or "-", confidence=min(word.confidence, chance.choice(_MISREAD)))


def _instead(letter: str, chance: random.Random) -> str:
    share = chance.random()
    if share < _LOST_SHARE:
        return ""
    if letter in _CONFUSABLE and share < _CONFUSED_SHARE + _LOST_SHARE:
        return chance.choice(_CONFUSABLE[letter])
    return chance.choice(_LETTERS)


def _fitted(image: Image.Image, longest: float, *, may_grow: bool = True) -> Image.Image:
    scale = longest / max(image.size)
    if scale > 1 and not may_grow:
        return image
    size = (max(40, int(image.width * scale)), max(40, int(image.height * scale)))
    filters = Image.Resampling
    return image.resize(size, filters.BILINEAR if may_grow else filters.BICUBIC)


def _small(image: Image.Image, chance: random.Random, _: np.random.Generator) -> Image.Image:
    return _fitted(image, chance.uniform(330, 620))


def _blurred(image: Image.Image, chance: random.Random, _: np.random.Generator) -> Image.Image:
    image = _fitted(image, 1500, may_grow=False)
    return image.filter(ImageFilter.GaussianBlur(chance.uniform(2, 4)))


def _by_phone(image: Image.Image, chance: random.Random, _: np.random.Generator) -> Image.Image:
    image = _fitted(image, chance.uniform(800, 1200))
    image = image.rotate(chance.uniform(-9, 9), expand=True, fillcolor=(90, 80, 70))
    image = image.filter(ImageFilter.BoxBlur(chance.choice([1, 1, 2])))
    return ImageEnhance.Brightness(image).enhance(chance.uniform(0.25, 0.6))


def _noisy(image: Image.Image, chance: random.Random, noise: np.random.Generator) -> Image.Image:
    pixels = np.asarray(_fitted(image, _LONGEST, may_grow=False)).astype(float)
    pixels += noise.normal(0, chance.uniform(30, 75), pixels.shape)
    return Image.fromarray(pixels.clip(0, 255).astype("uint8"))


def _faded(image: Image.Image, chance: random.Random, noise: np.random.Generator) -> Image.Image:
    pixels = np.asarray(_fitted(image, _LONGEST, may_grow=False)).astype(float)
    pixels = 255 - (255 - pixels) * chance.uniform(0.08, 0.25)
    pixels += noise.normal(0, chance.uniform(3, 9), pixels.shape)
    return Image.fromarray(pixels.clip(0, 255).astype("uint8"))


def _dirty(image: Image.Image, chance: random.Random, _: np.random.Generator) -> Image.Image:
    """Add streaks to a picture, as from a worn print head and folds."""
    pixels = np.asarray(_fitted(image, _LONGEST, may_grow=False)).copy()
    height, width = pixels.shape[:2]
    for _row in range(chance.randint(4, 14)):
        top, thickness = chance.randrange(height), chance.randint(2, max(3, height // 90))
        pixels[top : top + thickness] = 255 if chance.random() < 0.6 else 40
    for _column in range(chance.randint(0, 3)):
        left, thickness = chance.randrange(width), chance.randint(2, max(3, width // 50))
        pixels[:, left : left + thickness] = 200
    return Image.fromarray(pixels)


_Damage = Callable[[Image.Image, random.Random, np.random.Generator], Image.Image]
_DAMAGES: dict[str, _Damage] = {
    "small": _small,
    "blur": _blurred,
    "phone": _by_phone,
    "noise": _noisy,
    "faded": _faded,
    "dirty": _dirty,
}
