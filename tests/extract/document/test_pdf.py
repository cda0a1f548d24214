"""PDF pages: their visible text, and their picture."""

import io
from collections.abc import Callable

import numpy as np
import pypdfium2 as pdfium
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

from recibo.extract import errors
from recibo.extract.document import pdf
from recibo.extract.model import Page

WIDTH, HEIGHT = 300, 400
BODY = [
    "CORNER SHOP LIMITED 25 High Street",
    "Espresso doppio 2 x 3.10 6.20",
    "TOTAL 6.20 including VAT 1.03",
]


def print_body(page: canvas.Canvas, *, top: float = 350) -> None:
    """Print the body, one row below the other."""
    for number, row in enumerate(BODY):
        page.drawString(20, top - 20 * number, row)


def document(
    *draw: Callable[[canvas.Canvas], object],
    size: tuple[float, float] = (WIDTH, HEIGHT),
    rotation: int = 0,
    compressed: bool = True,
) -> bytes:
    """Return a PDF of one page."""
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=size, invariant=True, pageCompression=int(compressed))
    page.setPageRotation(rotation)
    for act in draw:
        act(page)
    page.showPage()
    page.save()
    return buffer.getvalue()


def only_page(data: bytes) -> Page:
    """Return the page of a PDF of one page."""
    (page,) = pdf.pages(data)
    return page


def texts(page: Page) -> list[str]:
    """Return the words of a page, sorted: their order in the layer is free."""
    return sorted(word.text for word in page.layer)


def darkness(page: Page, text: str) -> float:
    """Return how dark the picture is at the place of a word in the text layer."""
    box = next(word.box for word in page.layer if word.text == text)
    picture = page.draw(1)
    part = picture[int(box.y0) : int(box.y1) + 1, int(box.x0) : int(box.x1) + 1]
    return 255 - float(part.mean())


def photo(width: int, height: int) -> ImageReader:
    """Return a gray picture of this many pixels."""
    return ImageReader(Image.new("L", (width, height), 200))


def test_words_have_the_boxes_where_they_are_drawn() -> None:
    page = only_page(document(print_body))

    assert (834, 1112) == (page.width, page.height)
    assert sorted(" ".join(BODY).split()) == texts(page)
    assert darkness(page, "TOTAL") > 40
    assert all(word.confidence == 1 for word in page.layer)


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_rotated_page_is_read_as_displayed(rotation: int) -> None:
    """The text is rotated so that the rotation of the page makes it upright."""

    def turned(page: canvas.Canvas) -> None:
        # The canvas takes its size for that of the page as shown.
        middle = (WIDTH / 2, HEIGHT / 2) if rotation == 180 else (HEIGHT / 2, WIDTH / 2)
        page.translate(*middle)
        page.rotate(rotation)
        page.translate(-150, -300)
        print_body(page)

    page = only_page(document(turned, rotation=rotation))

    assert sorted(" ".join(BODY).split()) == texts(page)
    assert darkness(page, "TOTAL") > 40
    assert not any(word.is_vertical for word in page.layer)


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_with_rotated_text_becomes_upright(angle: int) -> None:
    def turned(page: canvas.Canvas) -> None:
        page.translate(WIDTH / 2, HEIGHT / 2)
        page.rotate(angle)
        page.translate(-150, -300)
        print_body(page)

    page = only_page(document(turned))

    assert sorted(" ".join(BODY).split()) == texts(page)
    assert darkness(page, "TOTAL") > 40


def test_text_that_a_negative_font_size_rotates_back_is_upright() -> None:
    def print_turned_twice(page: canvas.Canvas) -> None:
        page.translate(WIDTH, HEIGHT)
        page.rotate(180)
        page.setFont("Helvetica", -12)
        for number, row in enumerate(BODY):
            page.drawString(WIDTH - 20, HEIGHT - 350 + 20 * number, row)

    page = only_page(document(print_turned_twice))

    upright = only_page(document(print_body))
    assert texts(upright) == texts(page)
    assert darkness(page, "TOTAL") == pytest.approx(darkness(upright, "TOTAL"), abs=1)


def test_vertical_text_at_the_side_stays_in_whole_runs() -> None:
    def stub(page: canvas.Canvas) -> None:
        page.rotate(90)
        page.drawString(40, -15, "RECEIVED FROM the shop")

    page = only_page(document(print_body, stub))

    upended = [word for word in page.layer if word.is_vertical]
    assert ["RECEIVED FROM the shop"] == [word.text for word in upended]
    assert upended[0].box.height > 5 * upended[0].box.width


def test_words_have_their_page_number() -> None:
    buffer = io.BytesIO()
    book = canvas.Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=True)
    for _ in range(2):
        print_body(book)
        book.showPage()
    book.save()

    pages = [{word.page for word in page.layer} for page in pdf.pages(buffer.getvalue())]

    assert [{1}, {2}] == pages


def test_fake_bold_is_read_once() -> None:
    def bold(page: canvas.Canvas) -> None:
        for shift in (0, 0.3):
            page.drawString(20 + shift, 100, "GRAND TOTAL")

    page = only_page(document(print_body, bold))

    assert 1 == texts(page).count("GRAND")


def test_equal_words_next_to_each_other_are_both_read() -> None:
    page = only_page(document(print_body, lambda page: page.drawString(20, 100, "6.20 6.20")))

    assert 4 == texts(page).count("6.20")


def test_invisible_text_is_not_on_the_page() -> None:
    def hidden(page: canvas.Canvas) -> None:
        page.beginText()
        text = page.beginText(20, 100)
        text.setTextRenderMode(3)
        text.textLine("TOTAL 9999.00 hidden")
        page.drawText(text)

    page = only_page(document(print_body, hidden))

    assert "hidden" not in texts(page)


def test_text_beyond_the_edge_is_not_on_the_page() -> None:
    page = only_page(document(print_body, lambda page: page.drawString(500, 100, "outside")))

    assert "outside" not in texts(page)


def test_slanted_letters_of_a_font_without_italics_are_read() -> None:
    def print_slanted(page: canvas.Canvas) -> None:
        text = page.beginText()
        # As browsers print `font-style: oblique`.
        text.setTextTransform(1, 0, 0.25, 1, 20, 200)
        text.textOut("Desk organizer")
        page.drawText(text)

    words = texts(only_page(document(print_body, print_slanted)))

    assert {"Desk", "organizer"} <= set(words)


def test_watermarks_are_left_out() -> None:
    def watermark(page: canvas.Canvas) -> None:
        page.translate(60, 60)
        page.rotate(45)
        page.drawString(0, 0, "SPECIMEN")

    assert "SPECIMEN" not in texts(only_page(document(print_body, watermark)))


def test_ligatures_are_letters() -> None:
    """A font may draw `fi` as one character, so that a search for `office` fails."""
    data = document(print_body, lambda page: page.drawString(20, 100, "of\ufb01ce"))

    assert not any("\ufb01" in text for text in texts(only_page(data)))


def test_letters_that_one_glyph_draws_are_in_one_word() -> None:
    def print_ligature(page: canvas.Canvas) -> None:
        pdfmetrics.registerFont(TTFont("Vera", "Vera.ttf"))
        page.setFont("Vera", 10)
        page.drawString(20, 200, "o\xbfce")

    printed = document(print_body, print_ligature, compressed=False)
    # The glyph is the letters "ffi"; a name in the same stream gets as much shorter.
    for old, new in ((b"<00BF>", b"<006600660069>"), (b"VeraSans-Roman)", b"VeraSa)")):
        assert old in printed
        printed = printed.replace(old, new, 1)

    assert "office" in texts(only_page(printed))


def test_narrow_gaps_separate_words_that_have_no_space_between_them() -> None:
    def print_words(page: canvas.Canvas) -> None:
        x = 20.0
        for text in ("Rue", "Haute", "14", "75011", "Paris"):
            page.drawString(x, 200, text)
            x += page.stringWidth(text) + 1.6

    page = only_page(document(print_body, print_words))

    assert {"Rue", "Haute", "14", "75011", "Paris"} <= set(texts(page))


def test_spaced_letters_are_one_word() -> None:
    def print_spaced(page: canvas.Canvas) -> None:
        page.drawString(20, 200, "INVOICE", charSpace=1.6)

    assert "INVOICE" in texts(only_page(document(print_body, print_spaced)))


def test_a_scan_with_a_hidden_layer_is_a_picture() -> None:
    def scan(page: canvas.Canvas) -> None:
        page.drawImage(photo(600, 800), 0, 0, WIDTH, HEIGHT)
        text = page.beginText(20, 350)
        text.setTextRenderMode(3)
        text.textLines(BODY)
        page.drawText(text)

    page = only_page(document(scan))

    assert not page.layer
    assert (600, 800) == (page.width, page.height)


def test_a_stamp_on_a_scan_is_not_its_text() -> None:
    stamp = "Scanned with a telephone on the first of May, page one of one"

    def scan(page: canvas.Canvas) -> None:
        page.drawImage(photo(600, 800), 0, 0, WIDTH, HEIGHT)
        page.drawString(5, 5, stamp)

    assert not only_page(document(scan)).layer


def test_a_page_with_a_few_letters_is_a_picture() -> None:
    assert not only_page(document(lambda page: page.drawString(20, 20, "Page 1"))).layer


def test_gibberish_is_not_text() -> None:
    """Without a character map, the letters of a font are shifted."""

    def gibberish(page: canvas.Canvas) -> None:
        for number in range(4):
            page.drawString(20, 300 - 20 * number, "WRWDO GXH QRZ FKDQJH PHUFKDQW VKRS WKDQN")

    assert not only_page(document(gibberish)).layer


def test_another_script_needs_no_latin_vowels() -> None:
    def greek(page: canvas.Canvas) -> None:
        page.setFont("Symbol", 12)
        for number in range(4):
            page.drawString(20, 300 - 20 * number, "Καφενειον Γιωργος 2")
        page.setFont("Helvetica", 12)
        page.drawString(20, 200, "2 x 220.00 TXT")

    assert "TXT" in texts(only_page(document(greek)))


def test_fonts_of_the_system_are_not_used() -> None:
    # pdfium takes a font whose name contains that of the PDF's; Chromium's package needs DejaVu.
    data = document(print_body, compressed=False)
    installed, unknown = (
        only_page(data.replace(b"/BaseFont /Helvetica", b"/BaseFont /" + name))
        for name in (b"DejaVu", b"Unknown")
    )

    assert [(word.text, word.box.y0, word.box.y1) for word in unknown.layer] == [
        (word.text, word.box.y0, word.box.y1) for word in installed.layer
    ]


def test_a_huge_page_is_drawn_within_limits() -> None:
    page = only_page(document(print_body, size=(14_000, 14_000)))
    picture = page.draw(1)

    assert picture.shape[0] * picture.shape[1] <= 18_100_000
    assert page.draw(10).shape == picture.shape


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_decompression_bomb_is_refused_before_it_is_decoded() -> None:
    file = io.BytesIO()
    Image.new("L", (12_000, 12_000)).save(file, "JPEG")
    bomb = ImageReader(file)
    data = document(lambda page: page.drawImage(bomb, 0, 0, WIDTH, HEIGHT))

    with pytest.raises(errors.TooManyPixels):
        pdf.page_count(data)
    with pytest.raises(errors.TooManyPixels):
        list(pdf.pages(data))


def test_values_of_form_fields_are_on_the_page() -> None:
    def form(page: canvas.Canvas) -> None:
        page.acroForm.textfield(name="total", value="123.45", x=100, y=200, width=90, height=20)

    page = only_page(document(print_body, form))

    assert "123.45" in texts(page)
    assert darkness(page, "123.45") > 20


def test_pages_can_be_drawn_after_all_are_loaded() -> None:
    data = document(print_body)

    (page,) = list(pdf.pages(data))

    assert (page.height, page.width) == page.draw(1).shape[:2]


def test_a_page_is_drawn_at_the_scale_asked_for() -> None:
    page = only_page(document(print_body))

    assert page.draw(0.5).shape[1] == pytest.approx(page.width / 2, abs=1)
    assert page.draw(1.5).shape[1] == pytest.approx(page.width * 1.5, abs=1)


def test_a_page_drawn_in_gray_is_the_same_picture() -> None:
    page = only_page(document(print_body))
    assert page.draw_gray is not None

    gray, colors = page.draw_gray(1), page.draw(1)

    # Letters may stand a part of a pixel aside; an empty page would be 3 off.
    assert gray.shape == colors.shape[:2]
    assert np.abs(gray - colors.mean(axis=2)).mean() < 1


def test_color_channels_are_in_the_right_order() -> None:
    def red(page: canvas.Canvas) -> None:
        page.setFillColorRGB(1, 0, 0)
        page.rect(0, 0, WIDTH, HEIGHT, fill=1)

    assert [255, 0, 0] == only_page(document(red)).draw(0.1)[10, 10].tolist()


def test_loading_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[object] = []
    monkeypatch.setattr(pdfium.PdfPage, "render", lambda *_args, **_options: drawn.append(1))

    assert only_page(document(print_body)).layer
    assert not drawn
