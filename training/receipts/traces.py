"""What is on a page but its print: notes by hand, the print of the back shining through."""

import cv2
import numpy as np

from training.receipts.damage import Chance, Picture

# How often a receipt has each of them.
_NOTED, _THROUGH = 0.12, 0.1
#: The gray of pens.
_PENS = (40, 70, 110)


def traced(page: Picture, chance: Chance) -> Picture:
    """Return the page, perhaps with notes and what shines through."""
    if chance.random() < _THROUGH:
        page = _shining_through(page, chance)
    if chance.random() < _NOTED:
        page = _noted(page, chance)
    return page


def _shining_through(page: Picture, chance: Chance) -> Picture:
    """Return the page with advertising on its back, faint, mirrored and larger."""
    height, width = page.shape
    part = page[: height // 3, : width // 2]
    back = cv2.resize(cv2.flip(part, 1), (width, height), interpolation=cv2.INTER_LINEAR)
    soft = cv2.GaussianBlur(back, (0, 0), chance.uniform(1, 3))
    ink = (255 - soft.astype(np.float32)) * chance.uniform(0.06, 0.18)
    return np.asarray(np.clip(page - ink, 0, 255), np.uint8)


def _noted(page: Picture, chance: Chance) -> Picture:
    """Return the page with words or a circle drawn by hand, mostly where there is room."""
    width = page.shape[1]
    drawn = page.copy()
    pen, thick = int(_PENS[chance.integers(len(_PENS))]), max(1, round(width / 250))
    for _ in range(int(chance.integers(1, 5))):
        left, top = _room(page, chance)
        if chance.random() < 0.15:
            axes = (
                int(chance.uniform(0.06, 0.14) * width),
                int(chance.uniform(0.02, 0.05) * width),
            )
            cv2.ellipse(drawn, (left + axes[0], top), axes, 0, 0, 360, pen, thick, cv2.LINE_AA)
            continue
        line = _scrawl(chance, left, top, width)
        cv2.polylines(
            drawn, [line], isClosed=False, color=pen, thickness=thick, lineType=cv2.LINE_AA
        )
    return drawn


def _room(page: Picture, chance: Chance) -> tuple[int, int]:
    """Return the emptiest of some places."""
    height, width = page.shape
    tall, wide = max(1, width // 14), max(1, width // 4)
    places = [
        (int(chance.uniform(0.02, 0.7) * width), int(chance.uniform(0.03, 0.95) * height))
        for _ in range(6)
    ]
    return max(
        places,
        key=lambda at: float(page[max(0, at[1] - tall) : at[1] + tall, at[0] :][:, :wide].mean()),
    )


def _scrawl(chance: Chance, left: int, top: int, width: int) -> "cv2.typing.MatLike":
    """Return the line of a word written by hand."""
    count = int(chance.integers(12, 40))
    step = chance.uniform(0.006, 0.012) * width
    tall = chance.uniform(0.015, 0.035) * width
    across = left + np.cumsum(chance.normal(step, step * 0.7, count))
    down = top + chance.uniform(-1, 1, count) * tall * chance.choice((0.5, 1.0), count)
    return np.stack([across, down], axis=1).round().astype(np.int32)
