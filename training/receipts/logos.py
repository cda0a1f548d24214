"""Draws the seller's name as a logo, as many shops do: inverted, open, crowded, dancing letters."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from training.receipts import faces
from training.receipts.damage import Chance
from training.receipts.faces import Face
from training.receipts.prints import Fill, Mark, Page, Text

# How often a receipt has one.
_SHARE = 0.6
# The largest size of a logo, in sizes of its text.
_LARGEST = 3.0


def stylized(page: Page, chance: Chance) -> Page:
    """Return a page, perhaps with its first row as a logo."""
    first = next(
        (mark for mark in page.marks if isinstance(mark, Text) and mark.text.strip()), None
    )
    if first is None or chance.random() >= _SHARE:
        return page
    style = _STYLES[chance.integers(len(_STYLES))]
    made = style(_enlarged(first, page.width, chance), chance)
    place = page.marks.index(first)
    return replace(page, marks=(*page.marks[:place], *made, *page.marks[place + 1 :]))


def _enlarged(text: Text, width: float, chance: Chance) -> Text:
    """Return a name in the middle, as large as there is room for, upward from its baseline."""
    name = text.text.strip()
    face = _FACES[chance.integers(len(_FACES))]
    plain = replace(text, text=name, face=face, x=width / 2, anchor="middle", stretch=1.0)
    room = 0.85 * width / max(plain.width, 1)
    return replace(plain, size=text.size * min(room, chance.uniform(1.2, _LARGEST)))


def _narrow(text: Text, chance: Chance) -> Sequence[Mark]:
    return (replace(text, stretch=float(chance.uniform(0.45, 0.65))),)


def _inverted(text: Text, _: Chance) -> Sequence[Mark]:
    edge = text.size * 0.25
    block = Fill(
        text.left - edge, text.y - text.size, text.width + 2 * edge, text.size * 1.35, tone=0.0
    )
    return block, replace(text, tone=1.0)


def _pale(text: Text, chance: Chance) -> Sequence[Mark]:
    return (replace(text, tone=float(chance.uniform(0.5, 0.75))),)


def _open(text: Text, chance: Chance) -> Sequence[Mark]:
    """Return letters of which only the edges are drawn."""
    edge = text.size * float(chance.uniform(0.02, 0.05))
    around = [(dx, dy) for dx in (-edge, 0, edge) for dy in (-edge, 0, edge)]
    return (
        *(replace(text, x=text.x + dx, y=text.y + dy) for dx, dy in around),
        replace(text, tone=1.0),
    )


def _crowded(text: Text, chance: Chance) -> Sequence[Mark]:
    return _letters(text, chance, apart=float(chance.uniform(0.7, 0.85)), dance=0.0)


def _spaced(text: Text, chance: Chance) -> Sequence[Mark]:
    return _letters(replace(text, size=text.size * 0.6), chance, apart=1.6, dance=0.0)


def _dancing(text: Text, chance: Chance) -> Sequence[Mark]:
    return _letters(text, chance, apart=0.95, dance=float(chance.uniform(0.1, 0.25)))


def _letters(text: Text, chance: Chance, *, apart: float, dance: float) -> Sequence[Mark]:
    """Return each letter as a text, so far apart, and up and down by a share of its size."""
    widths = [text.face.width(letter, text.size) * apart for letter in text.text]
    left = text.x - sum(widths) / 2
    marks = []
    for letter, width in zip(text.text, widths, strict=True):
        up, larger = chance.uniform(-dance, dance, 2)
        size = text.size * float(1 + larger)
        marks.append(
            replace(
                text,
                text=letter,
                x=left,
                y=text.y + text.size * float(up),
                size=size,
                anchor="left",
            )
        )
        left += width
    return tuple(mark for mark in marks if mark.text.strip())


_STYLES: tuple[Callable[[Text, Chance], Sequence[Mark]], ...] = (
    *(_narrow, _inverted, _pale),
    *(_open, _crowded, _spaced, _dancing),
)
_FACES: tuple[Face, ...] = (*faces.LOGOS, faces.TIMES, faces.DEJAVU_SERIF)
