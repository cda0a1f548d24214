"""Renders a document to a file: a PDF, a clean image, a scan, a thermal print, a photo."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from training.receipts import damage, logos, pdf, raster
from training.receipts.damage import Chance, Picture
from training.receipts.prints import A4, Page, Print


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
    return damage.scanned(_drawn(page, chance, 140, 200), chance)


def _clean(page: Page, chance: Chance) -> File:
    return File(damage.png(_drawn(page, chance, 200, 200)), ".png")


def _scan(page: Page, chance: Chance) -> File:
    return File(damage.jpeg(_scanned(page, chance), chance, worst=60), ".jpg")


def _thermal(page: Page, chance: Chance) -> File:
    # A thermal head has eight dots per millimeter.
    return File(damage.png(damage.thermal(_drawn(page, chance, 203, 203), chance)), ".png")


def _photo(page: Page, chance: Chance) -> File:
    # The number of pixels of a phone is the same for a page and a strip.
    if page.width >= A4[0] / 2:
        drawn = _drawn(page, chance, 120, 200)
    else:
        drawn = _drawn(logos.stylized(page, chance), chance, 140, 300)
        drawn = damage.thermal(drawn, chance) if chance.random() < 0.4 else drawn
    return File(damage.jpeg(damage.photographed(drawn, chance), chance), ".jpg")


_PICTURES: dict[Look, Callable[[Page, Chance], File]] = {
    Look.CLEAN: _clean,
    Look.SCAN: _scan,
    Look.THERMAL: _thermal,
    Look.PHOTO: _photo,
}
