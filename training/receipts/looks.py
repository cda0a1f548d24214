"""Renders a document to a file: a PDF, a clean image, a scan, a thermal print, a photo."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from training.receipts import damage, logos, pdf, raster, traces
from training.receipts.damage import Chance, Picture
from training.receipts.prints import A4, Page, Print, Text

# A thermal head has eight dots per millimeter.
_DOTS = 203
# The width of letters on nine of ten real photos of receipts, the least that a phone sees of them,
# and the longest side of a page, pixels.
_LETTERS, _CLOSE, _LONGEST = (7.5, 36.0), 14.0, 2600


class Look(StrEnum):
    """The kinds of files a document is rendered to."""

    PDF = "pdf"
    PDF_SCAN = "pdf_scan"
    CLEAN = "clean"
    SCAN = "scan"
    THERMAL = "thermal"
    PHOTO = "photo"


@dataclass(frozen=True, slots=True)
class File:
    """A file and its extension."""

    data: bytes
    suffix: str


def file(document: Print, look: Look, seed: int) -> File | None:
    """Return the document with this look; None for an image of several pages."""
    chance = np.random.default_rng([seed, list(Look).index(look)])
    if look is Look.PDF:
        return File(pdf.write(document), ".pdf")
    if look is Look.PDF_SCAN:
        scans = [damage.jpeg(_scanned(page, chance), chance) for page in document.pages]
        return File(pdf.write_scans(scans, document), ".pdf")
    if len(document.pages) > 1:
        return None
    return _PICTURES[look](document.pages[0], chance)


def _drawn(page: Page, chance: Chance, least: int, most: int) -> Picture:
    return np.asarray(raster.draw(page, dpi=int(chance.integers(least, most + 1))))


def _scanned(page: Page, chance: Chance) -> Picture:
    drawn = _drawn(page, chance, 140, 200)
    return damage.scanned(_rubbed(drawn, page, chance), chance)


def _clean(page: Page, chance: Chance) -> File:
    return File(damage.png(_drawn(page, chance, 200, 200)), ".png")


def _scan(page: Page, chance: Chance) -> File:
    return File(damage.jpeg(_scanned(page, chance), chance, worst=60), ".jpg")


def _thermal(page: Page, chance: Chance) -> File:
    return File(damage.png(damage.thermal(_drawn(page, chance, _DOTS, _DOTS), chance)), ".png")


def _photo(page: Page, chance: Chance) -> File:
    if page.width >= A4[0] / 2:
        seen = damage.photographed(_drawn(page, chance, 120, 200), chance)
        return File(damage.jpeg(seen, chance), ".jpg")
    wide = float(np.exp(chance.uniform(*np.log(_LETTERS))))
    letter = _letter(page) / 72
    dpi = min(max(wide, _CLOSE) / letter, 72 * _LONGEST / max(page.width, page.height))
    styled = logos.stylized(page, chance) if page.has_name_first else page
    printed = damage.resized(_printed(styled, chance), dpi / _DOTS)
    seen = damage.photographed(traces.traced(printed, chance), chance)
    # What is small was taken large: its noise and its blur are shrunk with it.
    seen = damage.resized(seen, min(1.0, wide / (dpi * letter)))
    return File(damage.jpeg(seen, chance, worst=30), ".jpg")


def _printed(page: Page, chance: Chance) -> Picture:
    """Return a strip in the dots of a printer's head, worn or not."""
    drawn = np.asarray(raster.draw(page, dpi=_DOTS))
    burn = damage.thermal if chance.random() < 0.5 else damage.dotted
    return _rubbed(burn(drawn, chance), page, chance)


def _rubbed(picture: Picture, page: Page, chance: Chance) -> Picture:
    """Return the picture of a page with what its folds rubbed off."""
    scale = picture.shape[0] / page.height
    for top, bottom in page.rubbed:
        picture = damage.rubbed(picture, (top * scale, bottom * scale), chance)
    return picture


def _letter(page: Page) -> float:
    """Return the usual width of a letter, points."""
    texts = [mark for mark in page.marks if isinstance(mark, Text) and mark.text.strip()]
    return float(np.median([text.width / len(text.text) for text in texts]))


_PICTURES: dict[Look, Callable[[Page, Chance], File]] = {
    Look.CLEAN: _clean,
    Look.SCAN: _scan,
    Look.THERMAL: _thermal,
    Look.PHOTO: _photo,
}
