import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from training.receipts import damage, kinds, looks
from training.receipts.brazil import ids
from training.receipts.faces import Case
from training.receipts.looks import Look
from training.receipts.prints import Code, Fill, Mark, Page, Rule, Text
from training.receipts.truth import Document

KINDS = ["nfce", "ecf"]
COUNT = 80


def pairs(kind: str) -> Iterator[tuple[Document, Document]]:
    """Yield documents as printed and as kept."""
    for number in range(COUNT):
        whole, kept = (
            kinds.make(f"worn:{number}", name, "pt-BR", Case()) for name in (kind, f"worn {kind}")
        )
        yield whole, kept


def words(document: Document) -> str:
    return " ".join(" ".join(document.print.texts()).split())


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_that_is_not_on_the_page_is_null(kind: str) -> None:
    lost = set()
    for whole, kept in pairs(kind):
        text, tax_id = words(kept), whole.truth.merchant_tax_id or ""
        is_shown = ids.printed(tax_id) in text or re.search(rf"\b{tax_id}\b", text) is not None
        assert is_shown == (kept.truth.merchant_tax_id is not None)

        key = whole.truth.document_key
        if key is not None and kept.truth.document_key is None:
            assert key not in re.sub(r"\W", "", text)
            assert not any(key in code.text for code in kept.print.codes())
        fields = whole.truth.wire()
        lost |= {name for name in fields if fields[name] != kept.truth.wire()[name]}

    assert {"merchant_name", "merchant_tax_id", "tax"} <= lost
    assert not lost & {"type", "total", "subtotal", "currency", "line_items"}


def test_the_tax_id_may_be_read_from_a_key_that_is_left() -> None:
    made = [
        (whole, kept)
        for whole, kept in pairs("nfce")
        if kept.truth.merchant_tax_id is None and kept.truth.document_key is not None
    ]

    assert made
    for whole, kept in made:
        assert kept.alternatives["merchant_tax_id"] == (whole.truth.merchant_tax_id,)


@pytest.mark.parametrize("kind", KINDS)
def test_the_total_and_the_items_stay_on_the_page(kind: str) -> None:
    for whole, kept in pairs(kind):
        text = words(kept)

        assert kept.truth.line_items == whole.truth.line_items
        amounts = [kept.truth.total, *(item.total for item in kept.truth.line_items)]
        for amount in amounts:
            spelled = f"{Decimal(amount or 0):,.2f}".translate(str.maketrans(",.", ".,"))
            assert spelled in text


@pytest.mark.parametrize("kind", KINDS)
def test_every_mark_is_on_the_page(kind: str) -> None:
    for _, kept in pairs(kind):
        (page,) = kept.print.pages
        for mark in page.marks:
            if isinstance(mark, Text):
                assert 0 <= mark.y <= page.height
                assert mark.left + mark.width <= page.width + 0.01
            elif isinstance(mark, Code):
                assert 0 <= mark.y <= mark.y + mark.height <= page.height


def test_a_name_that_was_blotted_out_is_not_assessed() -> None:
    made = [kept for kind in KINDS for _, kept in pairs(kind)]
    blotted = [kept for kept in made if "merchant_name" in kept.unassessed]

    assert blotted
    assert {kept.truth.merchant_name for kept in blotted} == {None}


def test_the_first_row_becomes_a_logo_only_if_it_is_the_name() -> None:
    made = [kept for _, kept in pairs("nfce")]
    named = [kept for kept in made if kept.print.pages[0].has_name_first]

    assert 0 < len(named) < len(made)
    assert None not in {kept.truth.merchant_name for kept in named}


def test_a_part_of_a_page_has_the_marks_that_are_wholly_on_it() -> None:
    marks: tuple[Mark, ...] = (
        *(Text(text, 10, y, size=8) for text, y in (("above", 20), ("inside", 60), ("below", 99))),
        *(Rule(0, 15, 50, 15), Rule(0, 62, 50, 62)),
        *(Fill(0, 50, 50, 10), Code("QRCode", "cut", 0, 60, 30, 30)),
    )

    part = Page(100, 120, marks).part(40, 80)

    assert part.height == 40
    assert part.marks == (
        Text("inside", 10, 20, size=8),
        Rule(0, 22, 50, 22),
        Fill(0, 10, 50, 10),
    )


def test_a_fold_rubs_off_ink_between_its_ends_only() -> None:
    page = np.full((300, 200), 250, np.uint8)
    page[::4] = 30

    rubbed = damage.rubbed(page, (140, 180), np.random.default_rng(1))

    assert np.array_equal(rubbed[:100], page[:100])
    assert np.array_equal(rubbed[220:], page[220:])
    inside = slice(150, 170)
    assert rubbed[inside].mean() > page[inside].mean() + 5
    assert (rubbed[inside].astype(int) >= page[inside].astype(int)).all()
    # Something is left to be read.
    assert np.percentile(rubbed[inside], 5) < 200


@pytest.mark.parametrize("look", [Look.SCAN, Look.PHOTO])
def test_folds_are_in_photos_and_scans(look: Look) -> None:
    document = next(kept for _, kept in pairs("nfce") if kept.print.pages[0].rubbed)

    assert looks.file(document.print, look, 5) != looks.file(_unfolded(document).print, look, 5)


def test_folds_are_not_in_the_files_of_a_program() -> None:
    document = next(kept for _, kept in pairs("nfce") if kept.print.pages[0].rubbed)

    for look in (Look.PDF, Look.CLEAN):
        assert looks.file(document.print, look, 5) == looks.file(_unfolded(document).print, look, 5)


def _unfolded(document: Document) -> Document:
    pages = tuple(replace(page, rubbed=()) for page in document.print.pages)
    return replace(document, print=replace(document.print, pages=pages))
