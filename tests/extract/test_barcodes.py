"""Codes are found, with further passes only on documents that need them."""

from dataclasses import replace

import numpy as np
import pytest
import zxingcpp
from PIL import Image, ImageDraw, ImageFilter

from recibo.extract import barcodes
from recibo.extract.model import Page, Picture
from tests import drawing

#: A key with a right check digit: no such document was ever issued.
KEY = "35260655652061000125650010009765381078347261"
NFCE = [f"Consulte pela Chave de Acesso em www.nfce.fazenda.sp.gov.br {number}" for number in "12"]
PAYLOAD = f"https://www.nfce.fazenda.sp.gov.br/qrcode?p={KEY}|2|1|1|ABCDEF"


class Drawn:
    """A page that counts how often it is drawn."""

    def __init__(self, picture: Image.Image) -> None:
        self.picture = picture.convert("RGB")
        self.scales: list[float] = []

    def draw(self, scale: float) -> Picture:
        """Draw the page."""
        self.scales.append(scale)
        size = (round(self.picture.width * scale), round(self.picture.height * scale))
        return np.asarray(self.picture.resize(size))

    @property
    def page(self) -> Page:
        """The page."""
        return Page(2, self.picture.width, self.picture.height, self.draw)


def page_with(code: Image.Image, *, at: tuple[int, int] = (300, 500)) -> Image.Image:
    """Return a page with a code on it."""
    picture = Image.new("RGB", (900, 1200), "white")
    picture.paste(code, at)
    return picture


def bars(text: str, *, module: int = 2) -> Image.Image:
    """Return a Code 128 without a quiet zone."""
    barcode = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.Code128)
    drawn = Image.fromarray(barcode.to_image(scale=module, add_quiet_zones=False))
    return drawn.resize((drawn.width, 80)).convert("RGB")


def test_a_code_is_found_with_its_place() -> None:
    code = drawing.qr_code(PAYLOAD, module=4)

    (found,) = barcodes.find(Drawn(page_with(code)).page, [], is_exact=False)

    assert ("QRCode", PAYLOAD, 2) == (found.symbology, found.text, found.page)
    assert found.box.x_center == pytest.approx(300 + code.width / 2, abs=5)
    assert found.box.y_center == pytest.approx(500 + code.height / 2, abs=5)


@pytest.mark.parametrize("degrees", [0, 5, 90, 180, 200])
def test_a_code_is_found_in_any_rotation(degrees: int) -> None:
    picture = page_with(drawing.qr_code(PAYLOAD, module=5)).rotate(degrees, fillcolor="white")

    assert [PAYLOAD] == [
        code.text for code in barcodes.find(Drawn(picture).page, [], is_exact=False)
    ]


def test_a_page_of_text_with_its_key_is_not_drawn() -> None:
    drawn = Drawn(page_with(drawing.qr_code(PAYLOAD)))

    assert barcodes.find(drawn.page, [*NFCE, KEY], is_exact=True) == ()
    assert drawn.scales == []


def test_a_page_of_text_that_needs_no_key_is_not_drawn() -> None:
    drawn = Drawn(page_with(drawing.qr_code(PAYLOAD)))

    assert barcodes.find(drawn.page, ["CORNER SHOP", "TOTAL 12.50"], is_exact=True) == ()
    assert drawn.scales == []


def test_a_page_of_text_is_drawn_in_gray_if_possible() -> None:
    colored, gray = (
        Drawn(Image.new("RGB", (900, 1200))),
        Drawn(page_with(drawing.qr_code(PAYLOAD))),
    )
    page = replace(colored.page, draw_gray=lambda scale: gray.draw(scale)[:, :, 0].copy())

    assert [PAYLOAD] == [code.text for code in barcodes.find(page, NFCE, is_exact=True)]
    assert colored.scales == []


def test_a_page_of_text_that_lacks_its_key_is_drawn_once() -> None:
    drawn = Drawn(page_with(drawing.qr_code(PAYLOAD)))

    assert [PAYLOAD] == [code.text for code in barcodes.find(drawn.page, NFCE, is_exact=True)]
    assert 1 == len(drawn.scales)


def test_a_picture_of_a_plain_receipt_is_searched_once() -> None:
    drawn = Drawn(Image.new("RGB", (900, 1200), "white"))

    assert barcodes.find(drawn.page, ["CORNER SHOP", "TOTAL 12.50"], is_exact=False) == ()
    assert 1 == len(drawn.scales)


def test_barcodes_in_a_frame_are_found_on_an_invoice() -> None:
    """The sides of the frame touch the bars, so the code has no quiet zone."""
    code = bars(KEY)
    picture = page_with(code, at=(200, 400))
    pen = ImageDraw.Draw(picture)
    for x in (200 - 4, 200 + code.width + 3):
        pen.line([(x, 300), (x, 600)], fill="black", width=2)
    page = Drawn(picture).page

    assert barcodes.find(page, [], is_exact=False) == ()
    assert [KEY] == [code.text for code in barcodes.find(page, NFCE, is_exact=False)]


def test_blurred_barcodes_are_found_on_an_invoice() -> None:
    picture = page_with(bars(KEY), at=(150, 400)).filter(ImageFilter.GaussianBlur(1.4))

    found = barcodes.find(Drawn(picture).page, NFCE, is_exact=False)

    assert [KEY] == [code.text for code in found]


def test_codes_of_a_worn_thermal_head_are_found_on_an_invoice() -> None:
    """Pale gray vertical stripes run through the modules."""
    picture = np.asarray(page_with(drawing.qr_code(PAYLOAD, module=4)).convert("L")).astype(float)
    stripes = 60 + 140 * np.sin(np.arange(picture.shape[1]) / 5) ** 2
    worn = np.minimum(235, np.where(picture < 128, stripes[None, :], 235)).astype(np.uint8)
    page = Drawn(Image.fromarray(worn)).page

    assert barcodes.find(page, [], is_exact=False) == ()
    assert [PAYLOAD] == [code.text for code in barcodes.find(page, NFCE, is_exact=False)]


def test_product_barcodes_are_ignored() -> None:
    barcode = zxingcpp.create_barcode("4006381333931", zxingcpp.BarcodeFormat.EAN13)
    picture = page_with(Image.fromarray(barcode.to_image(scale=3)).convert("RGB"))

    assert barcodes.find(Drawn(picture).page, [], is_exact=False) == ()
