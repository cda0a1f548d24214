"""Amounts that are typed in the notation of any language mean one figure, or are refused."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.portal import amount_inputs, formats, translations
from recibo.portal.amount_inputs import AmbiguousAmountError
from recibo.schemas.languages import Language
from tests.portal import pages
from tests.portal.review_pages import reviewing

PORTUGUESE = {"Accept-Language": "pt-BR"}
TWO_WAYS = "can be read in two ways: write it without separators of thousands"


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize(
    ("typed", "figure"),
    [
        ("1234", "1234"), ("1234,5", "1234.5"), ("1234.50", "1234.50"), ("1.234,56", "1234.56"),
        ("1,234.56", "1234.56"), ("1.234.567", "1234567"), ("1,234,567.8", "1234567.8"),
        ("1.234.567,89", "1234567.89"), ("0,535", "0.535"), ("0.535", "0.535"),
        ("-1.234,50", "-1234.50"), ("1.2345", "1.2345"), ("1234.567", "1234.567"),
        # These are no figures, and refused later.
        ("12.34.5", "12.34.5"), ("1.23,4", "1.23,4"), ("12,345,67", "12,345,67"),
        ("0.123.456", "0.123.456"), ("1..2", "1..2"), ("R$ 1,00", "R$ 1,00"), ("", ""),
        ("١٢٣", "١٢٣"),
    ],
)  # fmt: skip
def test_both_notations_are_understood(language: Language, typed: str, figure: str) -> None:
    with translations.using(language):
        assert figure == amount_inputs.parsed(typed, may_have_three_decimals=False)
        assert figure == amount_inputs.parsed(typed, may_have_three_decimals=True)


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("typed", ["1.234", "1,234", "-999.999", "10,000"])
def test_money_in_two_readings_is_refused(language: Language, typed: str) -> None:
    with translations.using(language), pytest.raises(AmbiguousAmountError):
        amount_inputs.parsed(typed, may_have_three_decimals=False)


@pytest.mark.parametrize(
    ("language", "accepted", "refused"),
    [(Language.ENGLISH, "1.459", "1,459"), (Language.PORTUGUESE, "1,459", "1.459")],
)
def test_three_decimals_have_the_separator_of_the_reader(
    language: Language, accepted: str, refused: str
) -> None:
    with translations.using(language):
        assert "1.459" == amount_inputs.parsed(accepted, may_have_three_decimals=True)
        with pytest.raises(AmbiguousAmountError):
            amount_inputs.parsed(refused, may_have_three_decimals=True)


@given(
    st.decimals(min_value=-(10**12), max_value=10**12, places=2, allow_nan=False),
    st.sampled_from(Language),
    st.sampled_from(Language),
)
def test_written_amount_is_never_another_figure(
    figure: Decimal, written: Language, read: Language
) -> None:
    """Whatever the languages of the writer and of the page are."""
    with translations.using(written):
        texts = (formats.number(f"{figure:f}"), amount_inputs.shown(f"{figure:f}"))
    with translations.using(read):
        for text in texts:
            assert figure == Decimal(amount_inputs.parsed(text, may_have_three_decimals=False))


async def test_portuguese_form_shows_and_takes_its_notation(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        review.service.stranger.headers.update(PORTUGUESE)
        page = await review.page()
        same = await review.post()
        unchanged = await review.receipt()
        refused = pages.parse(await review.post(total="1.234"))
        kept = await review.receipt()
        await review.post(total="1.234,56", **{"item-0-unit_price": "5,799"})
        after = await review.receipt()

    shown = {name: page.inputs[name]["value"] for name in ("total", "item-0-unit_price")}
    assert {"total": "42,10", "item-0-unit_price": "15,60"} == shown
    assert 303 == same.status_code
    assert [] == unchanged["corrected_fields"]
    assert "pode ser lido de duas formas" in refused.error("total")
    assert "1.234" == refused.inputs["total"]["value"]
    assert "42.10" == kept["total"]
    assert ("1234.56", "5.799") == (after["total"], after["line_items"][0]["unit_price"])


async def test_english_form_refuses_what_could_be_two_amounts(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        refused = pages.parse(await review.post(total="1.234", **{"item-1-total": "2,345"}))
        await review.post(total="1.234,56", **{"item-0-qty": "1.250"})
        after = await review.receipt()

    assert f"Total {TWO_WAYS}" in refused.error("total")
    assert TWO_WAYS in refused.error("item-1-total")
    assert ("1234.56", "1.250") == (after["total"], after["line_items"][0]["qty"])


async def test_sum_with_more_decimals_than_the_currency_is_refused(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        refused = pages.parse(await review.post(total="42.1234", **{"item-0-total": "0.125"}))
        await review.post(total="42.1000")
        unchanged = await review.receipt()
        await review.post(total="42", currency="JPY")
        await review.post(currency="KWD", total="42.125")
        after = await review.receipt()

    assert "Total must not have more decimals" in refused.error("total")
    assert "more decimals" in refused.error("item-0-total")
    assert ([], "42.10") == (unchanged["corrected_fields"], unchanged["total"])
    assert "42.125" == after["total"]


async def test_untouched_amount_with_three_decimals_is_kept(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        await review.post(**{"item-0-unit_price": "1234.567"})
        review.service.stranger.headers.update(PORTUGUESE)
        page = await review.page()
        await review.post(merchant_name="Padaria Nova")
        after = await review.receipt()

    assert "1234,567" == page.inputs["item-0-unit_price"]["value"]
    kept = after["line_items"][0]["unit_price"]
    assert ("1234.567", "Padaria Nova") == (kept, after["merchant_name"])


async def test_alternative_is_used_in_portuguese(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        review.service.stranger.headers.update(PORTUGUESE)
        await review.post(currency="KWD", use="total=1.459")
        receipt = await review.receipt()

    assert "1.459" == receipt["total"]
