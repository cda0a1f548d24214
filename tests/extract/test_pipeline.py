"""The stages in order: what comes out, what is refused, what is told."""

import io
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from PIL import Image, ImageDraw

from recibo.extract import errors, pipeline
from recibo.extract.model import Accuracy, DocumentType, Receipt
from recibo.extract.ocr.engine import Reading
from recibo.extract.pipeline import Spare
from tests import drawing
from training.receipts.strips import Row

ROWS = [
    Row("CORNER SHOP LIMITED", is_centred=True),
    Row("25 High Street, Dublin", is_centred=True),
    Row("Date: 14/03/2024 10:41"),
    Row("Espresso doppio", "6.20"),
    Row("Butter croissant", "4.80"),
    Row("TOTAL EUR", "11.00"),
    Row("Thank you for your visit", is_centred=True),
]
SHEET = drawing.picture(ROWS)


def total(receipt: Receipt) -> Decimal | None:
    """Return the total of a receipt."""
    return receipt.total.value if receipt.total else None


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_on_its_side_reads_like_an_upright_one(angle: int) -> None:
    upright = pipeline.extract(drawing.encode(SHEET, "PNG"))

    turned = pipeline.extract(drawing.encode(SHEET.rotate(angle, expand=True), "PNG"))

    assert upright.texts == turned.texts
    assert total(upright) == total(turned) == Decimal("11.00")


def test_boxes_are_in_pixels_of_the_upload_however_it_was_scaled() -> None:
    """A page of this size is read shrunk."""
    large = SHEET.resize((SHEET.width * 3, SHEET.height * 3))

    found = pipeline.extract(drawing.encode(large)).total

    assert found is not None
    assert found.box is not None
    ink = np.asarray(large)[int(found.box.y0) : int(found.box.y1), int(found.box.x0) :]
    assert ink[:, : int(found.box.width)].min() < 60
    assert found.box.x1 > large.width / 2


def test_the_pages_of_a_document_are_read_in_order() -> None:
    pages = [drawing.picture([Row(f"TextPage number {number} of three")]) for number in (1, 2)]

    receipt = pipeline.extract(drawing.encode_tiff([*pages, SHEET]))

    assert 3 == len(receipt.texts)
    assert ["1", "2"] == [text.split()[2] for text in receipt.texts[:2]]
    assert receipt.total is not None
    assert receipt.total.page == 3


def test_each_page_is_a_step_and_so_is_what_follows() -> None:
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    pipeline.extract(drawing.encode_tiff([SHEET, SHEET]), step=step)

    # The look for a third page is one, too.
    assert 4 == steps


def test_without_time_to_spare_every_page_is_read_once() -> None:
    data = drawing.encode_tiff([SHEET, SHEET])
    looks: list[str] = []

    def trace(stage: str, _: float) -> None:
        looks.append(stage)

    receipt = pipeline.extract(data, accuracy=Accuracy.HIGH, spare=Spare(0, 0), trace=trace)

    assert 2 == looks.count("words")
    assert 2 == len(receipt.texts)
    assert receipt == pipeline.extract(data)


@pytest.mark.parametrize(
    ("takes_s", "spare", "looks"),
    [
        ([5, 3, 1], Spare(20, 100), [3, 3]),
        # A second look may take 1.6 times as long as the first.
        ([8, 3, 1], Spare(20, 100), [1, 1]),
        # And the third as the second.
        ([4, 7, 1], Spare(20, 100), [2, 2]),
        # Half of the document's time for each page, and what the first did not need.
        ([5, 5, 5], Spare(50, 44), [3, 3]),
        ([5, 5, 5], Spare(50, 34), [2, 3]),
        # What the first took in excess, the second lacks.
        ([20, 1, 1], Spare(50, 39), [1, 1]),
    ],
)
def test_a_further_look_is_made_where_it_ends_in_time(
    takes_s: list[float], spare: Spare, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock_s, made = 0.0, [0, 0]

    class Slow:
        """Takes so long for each look at a page."""

        def read(self, *_: object, **__: object) -> Reading:
            nonlocal clock_s
            page = len(begun) - 1
            clock_s += takes_s[made[page]]
            made[page] += 1
            return Reading((), 0)

    begun: list[None] = []
    monkeypatch.setattr(pipeline, "_engine", lambda _: Slow())
    monkeypatch.setattr("time.process_time", lambda: clock_s)

    with pytest.raises(errors.Unreadable):
        pipeline.extract(
            drawing.encode_tiff([SHEET, SHEET]),
            accuracy=Accuracy.HIGH,
            spare=spare,
            step=lambda: begun.append(None),
        )

    assert looks == made


def test_several_looks_agree_on_a_clear_receipt() -> None:
    receipt = pipeline.extract(drawing.encode(SHEET), accuracy=Accuracy.HIGH)

    assert total(receipt) == Decimal("11.00")


def test_a_text_layer_is_looked_at_once() -> None:
    told: list[tuple[str, float]] = []

    pipeline.extract(
        drawing.pdf(ROWS), accuracy=Accuracy.HIGH, trace=lambda *stage: told.append(stage)
    )

    stages = Counter(stage for stage, _ in told)
    assert 1 == stages["lines"]
    assert "words" not in stages


def test_the_trace_is_told_each_stage() -> None:
    told: dict[str, float] = {}

    pipeline.extract(drawing.encode(SHEET), trace=told.__setitem__)

    assert {"load", "clean", "words", "lines", "codes", "fields"} == set(told)
    assert all(seconds >= 0 for seconds in told.values())


def test_the_hint_breaks_ties_only() -> None:
    receipt = pipeline.extract(drawing.encode(SHEET), hint=DocumentType.NFE)

    assert receipt.type.value is not DocumentType.NFE


def unreadable() -> dict[str, Image.Image]:
    """Return pictures on which there is nothing to be read."""
    blank = Image.new("RGB", (600, 800), "white")
    noise = Image.fromarray(np.random.default_rng(5).integers(0, 255, (400, 400, 3)).astype("u1"))
    lines = Image.new("RGB", (600, 800), "white")
    pen = ImageDraw.Draw(lines)
    for y in range(0, 800, 40):
        pen.line([(0, y), (600, y + 90)], fill="grey", width=3)
    return {"blank": blank, "noise": noise, "lines": lines, "tiny": Image.new("RGB", (1, 1))}


@pytest.mark.parametrize("text_page", unreadable().values(), ids=unreadable().keys())
def test_pictures_without_a_receipt_are_unreadable(text_page: Image.Image) -> None:
    with pytest.raises(errors.Unreadable):
        pipeline.extract(drawing.encode(text_page, "PNG"))


@pytest.mark.parametrize(
    ("field", "rows"),
    [
        ("subtotal", [Row("SUBTOTAL", "11.00")]),
        ("merchant_tax_id", [Row("CNPJ 11.222.333/0001-81")]),
        ("line_items", [Row("Espresso doppio", "6.20"), Row("Butter croissant", "4.80")]),
    ],
)
def test_a_document_of_which_one_field_can_be_read_is_a_receipt(
    field: str, rows: list[Row]
) -> None:
    receipt = pipeline.extract(drawing.pdf(rows))

    assert getattr(receipt, field)
    assert receipt.total or receipt.confidence <= 0.1


def test_a_receipt_that_is_cut_off_above_its_total_is_read_as_far_as_it_goes() -> None:
    cut_off = drawing.picture([*ROWS[3:5], Row("SUBTOTAL", "11.00")])

    receipt = pipeline.extract(drawing.encode(cut_off))

    assert receipt.subtotal is not None
    assert receipt.subtotal.value == Decimal("11.00")
    assert ["Espresso doppio", "Butter croissant"] == [
        item.value.name for item in receipt.line_items
    ]


@pytest.mark.parametrize("shape", [(20_000, 3), (3, 20_000), (4000, 60)])
def test_pictures_of_odd_shapes_are_survived(shape: tuple[int, int]) -> None:
    buffer = io.BytesIO()
    Image.new("L", shape, 255).save(buffer, format="PNG")

    with pytest.raises(errors.Unreadable):
        pipeline.extract(buffer.getvalue())
