"""Which reason to look at a receipt comes first, and what a percentage is of."""

from dataclasses import replace
from pathlib import Path

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.portal import review_checks
from recibo.schemas.receipts import Review, ReviewReason
from recibo.schemas.states import ReviewCode, ReviewStatus
from tests.portal import receipt_pages

LOW, MISSING = ReviewCode.LOW_CONFIDENCE, ReviewCode.MISSING


def ranked(*reasons: tuple[ReviewCode, str | None]) -> list[tuple[ReviewCode, str | None]]:
    """Return reasons as they are shown."""
    review = Review(
        status=ReviewStatus.NEEDS_REVIEW,
        reasons=tuple(ReviewReason(code=code, field=field) for code, field in reasons),
        by=None,
        at=None,
    )
    return [(one.code, one.field) for one in review_checks.ranked(review)]


def test_missing_fields_come_before_doubtful_ones_and_the_total_before_others() -> None:
    shown = [
        (MISSING, "total"),
        (MISSING, "issued_at"),
        (ReviewCode.POSSIBLE_DUPLICATE, None),
        (ReviewCode.AMOUNTS_DISAGREE, "total"),
        (ReviewCode.AMOUNTS_DISAGREE, "line_items"),
        (ReviewCode.EMBEDDED_DIFFERS, "tax"),
        (LOW, "merchant_name"),
        (LOW, "payments"),
    ]

    assert shown == ranked(*reversed(shown))
    assert set(ReviewCode) == {code for code, _ in shown}


def test_confidence_of_the_whole_is_last_and_left_out_where_one_of_its_fields_is_named() -> None:
    assert [(LOW, "payments"), (LOW, None)] == ranked((LOW, None), (LOW, "payments"))
    assert [(MISSING, "issued_at")] == ranked((LOW, None), (MISSING, "issued_at"))
    assert [(LOW, "total")] == ranked((LOW, None), (LOW, "total"))
    assert [(LOW, None)] == ranked((LOW, None))


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", ("To review: 86% sure of merchant, date, total", "To review: No date")),
        (
            "pt-BR",
            (
                "Para revisar: 86% de certeza em estabelecimento, data e total",
                "Para revisar: Sem data",
            ),
        ),
    ],
)
async def test_inbox_says_what_to_check_first(
    sqlite_url: str, tmp_path: Path, language: str, shown: tuple[str, str]
) -> None:
    # Its items do not hide what the test is about.
    plain = replace(receipt_pages.make_reading(confidence=0.86), line_items=())
    readings = {
        b"\xff\xd8\xffdoubtful": plain,
        b"\xff\xd8\xffundated": replace(plain, issued_at=None),
    }
    async with receipt_pages.run_service(sqlite_url, tmp_path, FakeReader(readings)) as (i, owner):
        for data in readings:
            await receipt_pages.read_receipt(i, owner, await receipt_pages.upload(i, data))
        i.stranger.headers["Accept-Language"] = language
        page = await receipt_pages.get_page(i)

    assert all(text in page.text for text in shown)
