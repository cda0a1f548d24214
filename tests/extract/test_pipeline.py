"""The whole pipeline: results, refusals and the trace."""

import io
from collections.abc import Callable
from decimal import Decimal
from functools import cache

import numpy as np
import pytest
from PIL import Image, ImageDraw

from recibo.extract import errors, pipeline
from recibo.extract.model import Accuracy, DocumentType, Receipt
from recibo.extract.ocr.engine import Reading
from recibo.extract.pipeline import TimeBudget, Trace
from tests import drawing
from training.receipts.strips import Row

# What one process has read, it reads no more: see `tests/extract/conftest`.
pytestmark = pytest.mark.xdist_group("recognition")

ROWS = [
    Row("CORNER SHOP LIMITED", is_centered=True),
    Row("25 High Street, Dublin", is_centered=True),
    Row("Date: 14/03/2024 10:41"),
    Row("Espresso doppio", "6.20"),
    Row("Butter croissant", "4.80"),
    Row("TOTAL EUR", "11.00"),
    Row("Thank you for your visit", is_centered=True),
]
SHEET = drawing.picture(ROWS)

WITHOUT_TOTAL = drawing.picture(ROWS[:-2])


def counting(counted: str, also: Trace | None = None) -> tuple[Callable[[], int], Trace]:
    """Return how often a stage was reported to a trace, and the trace."""
    reported = list[str]()

    def trace(stage: str, seconds: float, /) -> None:
        reported.append(stage)
        if also:
            also(stage, seconds)

    return lambda: reported.count(counted), trace


@cache
def read_upright() -> Receipt:
    """Read the sheet."""
    return pipeline.extract(drawing.encode(SHEET, "PNG"))


def total(receipt: Receipt) -> Decimal | None:
    """Return the total of a receipt."""
    return receipt.total.value if receipt.total else None


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_rotated_page_is_read_like_an_upright_one(angle: int) -> None:
    upright = read_upright()

    turned = pipeline.extract(drawing.encode(SHEET.rotate(angle, expand=True), "PNG"))

    assert upright.texts == turned.texts
    assert total(upright) == total(turned) == Decimal("11.00")


def test_boxes_are_in_pixels_of_the_upload() -> None:
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


def test_each_page_and_the_rest_are_steps() -> None:
    steps = 0

    def step() -> None:
        nonlocal steps
        steps += 1

    pipeline.extract(drawing.encode_tiff([SHEET, SHEET]), step=step)

    # The search for a third page is a step, too.
    assert 4 == steps


def test_without_a_time_budget_every_page_is_read_once() -> None:
    data = drawing.encode_tiff([WITHOUT_TOTAL, WITHOUT_TOTAL])
    passes, trace = counting("words")

    receipt = pipeline.extract(data, accuracy=Accuracy.HIGH, budget=TimeBudget(0, 0), trace=trace)

    assert 2 == passes()
    assert 2 == len(receipt.texts)
    assert receipt == pipeline.extract(data)


@pytest.mark.parametrize(
    ("takes_s", "budget", "passes"),
    [
        ([5, 3, 1], TimeBudget(20, 100), [3, 3]),
        # A second pass may take 1.6 times as long as the first.
        ([8, 3, 1], TimeBudget(20, 100), [1, 1]),
        # And the third as the second.
        ([4, 7, 1], TimeBudget(20, 100), [2, 2]),
        # Each page has half of the document's time, the second also what the first did not need.
        ([5, 5, 5], TimeBudget(50, 44), [3, 3]),
        ([5, 5, 5], TimeBudget(50, 34), [2, 3]),
        # If the first page takes longer, the second has less time.
        ([20, 1, 1], TimeBudget(50, 39), [1, 1]),
    ],
)
def test_another_pass_is_made_if_it_ends_in_time(
    takes_s: list[float], budget: TimeBudget, passes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock_s, made = 0.0, [0, 0]

    class Slow:
        """Takes this long for each pass."""

        def read(self, *_: object, **__: object) -> Reading:
            nonlocal clock_s
            # The search for a third page is a step, too.
            page = (len(started) - 1) % 3
            clock_s += takes_s[made[page]]
            made[page] += 1
            return Reading((), 0)

    started: list[None] = []
    monkeypatch.setattr(pipeline, "_engine", lambda _: Slow())
    monkeypatch.setattr("time.process_time", lambda: clock_s)

    with pytest.raises(errors.Unreadable):
        pipeline.extract(
            drawing.encode_tiff([SHEET, SHEET]),
            accuracy=Accuracy.HIGH,
            budget=budget,
            step=lambda: started.append(None),
        )

    assert passes == made


def test_a_receipt_without_doubt_is_read_once_at_high_accuracy() -> None:
    data = drawing.encode(SHEET)
    passes, trace = counting("words")

    receipt = pipeline.extract(data, accuracy=Accuracy.HIGH, trace=trace)

    assert 1 == passes()
    assert receipt == pipeline.extract(data)


@pytest.mark.parametrize(
    "is_kept",
    [
        pytest.param(lambda row: row.left != "TOTAL EUR", id="no total"),
        pytest.param(lambda row: not row.left.startswith("Date"), id="no date"),
        pytest.param(lambda row: row.left != "Espresso doppio", id="items do not add up"),
    ],
)
def test_a_receipt_in_doubt_is_read_three_times_at_high_accuracy(
    is_kept: Callable[[Row], bool],
) -> None:
    passes, trace = counting("words")
    sheet = drawing.picture([row for row in ROWS if is_kept(row)])

    pipeline.extract(drawing.encode(sheet), accuracy=Accuracy.HIGH, trace=trace)

    assert 3 == passes()


def test_several_passes_agree_on_a_clear_receipt() -> None:
    """Its one doubt is the missing date."""
    sheet = drawing.picture([row for row in ROWS if not row.left.startswith("Date")])

    receipt = pipeline.extract(drawing.encode(sheet), accuracy=Accuracy.HIGH)

    assert total(receipt) == Decimal("11.00")


def test_a_text_layer_is_read_once() -> None:
    lines, trace = counting("lines")
    words, both = counting("words", trace)

    pipeline.extract(drawing.pdf(ROWS), accuracy=Accuracy.HIGH, trace=both)

    assert 1 == lines()
    assert 0 == words()


def test_the_trace_is_called_for_each_stage() -> None:
    reported: dict[str, float] = {}

    pipeline.extract(drawing.encode(SHEET), trace=reported.__setitem__)

    stages = {"load", "clean", "words", "lines", "codes", "quality", "fields"}
    assert stages == set(reported)
    assert all(seconds >= 0 for seconds in reported.values())


def test_the_hint_breaks_ties_only() -> None:
    receipt = pipeline.extract(drawing.encode(SHEET), hint=DocumentType.NFE)

    assert receipt.type.value is not DocumentType.NFE


def unreadable() -> dict[str, Image.Image]:
    """Return pictures without text."""
    blank = Image.new("RGB", (600, 800), "white")
    noise = Image.fromarray(np.random.default_rng(5).integers(0, 255, (400, 400, 3)).astype("u1"))
    lines = Image.new("RGB", (600, 800), "white")
    pen = ImageDraw.Draw(lines)
    for y in range(0, 800, 40):
        pen.line([(0, y), (600, y + 90)], fill="grey", width=3)
    return {"blank": blank, "noise": noise, "lines": lines, "tiny": Image.new("RGB", (1, 1))}


def test_blank_picture_is_reported_as_such() -> None:
    with pytest.raises(errors.Blank):
        pipeline.extract(drawing.encode(unreadable()["blank"], "PNG"))


@pytest.mark.parametrize("picture", unreadable().values(), ids=unreadable().keys())
def test_pictures_without_a_receipt_are_unreadable(picture: Image.Image) -> None:
    with pytest.raises(errors.Unreadable):
        pipeline.extract(drawing.encode(picture, "PNG"))


@pytest.mark.parametrize(
    ("field", "rows"),
    [
        ("subtotal", [Row("SUBTOTAL", "11.00")]),
        ("merchant_tax_id", [Row("CNPJ 11.222.333/0001-81")]),
        ("line_items", [Row("Espresso doppio", "6.20"), Row("Butter croissant", "4.80")]),
    ],
)
def test_a_document_with_one_readable_field_is_a_receipt(field: str, rows: list[Row]) -> None:
    receipt = pipeline.extract(drawing.pdf(rows))

    assert getattr(receipt, field)
    assert receipt.total or receipt.confidence <= 0.1


def test_the_rest_of_a_receipt_without_its_total_is_read() -> None:
    cut_off = drawing.picture([*ROWS[3:5], Row("SUBTOTAL", "11.00")])

    receipt = pipeline.extract(drawing.encode(cut_off))

    assert receipt.subtotal is not None
    assert receipt.subtotal.value == Decimal("11.00")
    assert ["Espresso doppio", "Butter croissant"] == [
        item.value.name for item in receipt.line_items
    ]


@pytest.mark.parametrize("shape", [(20_000, 3), (3, 20_000), (4000, 60)])
def test_pictures_of_extreme_shapes_are_unreadable(shape: tuple[int, int]) -> None:
    buffer = io.BytesIO()
    Image.new("L", shape, 255).save(buffer, format="PNG")

    with pytest.raises(errors.Unreadable):
        pipeline.extract(buffer.getvalue())
