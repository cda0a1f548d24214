"""Taxes and payments on the review page."""

from decimal import Decimal
from pathlib import Path

from recibo.extract.model import (
    Box,
    Details,
    DocumentType,
    Extracted,
    LineItem,
    Payment,
    PaymentMethod,
    TaxLine,
)
from tests.portal import receipt_pages
from tests.portal.review_pages import reviewing


async def test_taxes_and_payments_that_do_not_add_up_are_to_be_checked(
    sqlite_url: str, tmp_path: Path
) -> None:
    details = Details(
        taxes=(Extracted(TaxLine("GST", amount=Decimal("4.00")), 0.95, "GST 4,00"),),
        payments=(Extracted(Payment(PaymentMethod.CASH, Decimal("41.20")), 0.95, "CASH 41,20"),),
    )
    total, tax = (Extracted(Decimal(one), 0.95, one) for one in ("41.20", "4.00"))
    async with reviewing(
        sqlite_url, tmp_path, total=total, tax=tax, confidence=0.95, details=details
    ) as review:
        before = await review.receipt()
        await review.post(**{"tax-0-amount": "3.00", "payment-0-amount": "5.00"})
        page = await review.page()
        inbox = await receipt_pages.get_page(review.service)
        review.service.stranger.headers["Accept-Language"] = "pt-BR"
        translated = await receipt_pages.get_page(review.service)

    assert "ready" == before["review"]["status"]
    assert "2 things to check" in page.text
    assert "Taxes by rate add up to 3.00, the tax is 4.00: 1.00 missing." in page.text
    assert "Payments add up to 5.00, the total is 41.20: 36.20 missing." in page.text
    assert "To review: Taxes do not add up and 1 more" in inbox.text
    assert "Para revisar: Os impostos não batem" in translated.text


async def test_a_tax_that_is_missing_is_offered(sqlite_url: str, tmp_path: Path) -> None:
    details = Details(taxes=(Extracted(TaxLine("GST", amount=Decimal("4.00")), 0.95, "GST 4,00"),))
    tax = Extracted(Decimal("5.25"), 0.95, "5,25")
    async with reviewing(sqlite_url, tmp_path, tax=tax, details=details) as review:
        page = await review.page()
        raw = (await review.service.stranger.get(review.path())).text
        review.service.stranger.headers["Accept-Language"] = "pt-BR"
        translated = await review.page()

    assert "Add a tax of 1.25" in page.text
    assert 'value="tax-1-amount=1.25"' in raw
    for text in ("3 pontos a conferir", "Impostos por alíquota somam 4,00", "imposto de 1,25"):
        assert text in translated.text, text


async def test_refund_that_is_not_paid_back_as_a_whole_lacks_the_rest(
    sqlite_url: str, tmp_path: Path
) -> None:
    items = [LineItem("Pão", total=Decimal(-3)), LineItem("Leite", total=Decimal(-4))]
    read = tuple(Extracted(one, 0.95, one.name) for one in items)
    total = Extracted(Decimal(-10), 0.95, "-10,00")
    payment = Extracted(Payment(PaymentMethod.CASH, Decimal(8)), 0.95, "CASH 8,00")
    details = Details(payments=(payment,))
    async with reviewing(
        sqlite_url, tmp_path, line_items=read, total=total, details=details
    ) as review:
        page = await review.page()

    assert "Items add up to -7.00, the total is -10.00: 3.00 missing." in page.text
    assert "Add an item of -3.00" in page.text
    assert "Payments add up to -8.00, the total is -10.00: 2.00 missing." in page.text
    assert "too much" not in page.text.lower()


async def test_corrected_lines_say_how_they_were_read(sqlite_url: str, tmp_path: Path) -> None:
    lines = [TaxLine(f"GST {number}", amount=Decimal(number)) for number in range(1, 7)]
    details = Details(taxes=tuple(Extracted(one, 0.95, "GST") for one in lines))
    async with reviewing(sqlite_url, tmp_path, details=details) as review:
        await review.post(**{"item-1-name": "Leite integral", "tax-1-rate": "5"})
        one = await review.page()
        await review.post(**{f"tax-{number}-name": "ISS" for number in range(1, 6)})
        many = await review.page()

    assert "Line 2 was read as “Leite”" in one.text
    assert "Line 2 was read as “GST 2, 2.00”" in one.text
    assert "Read as" not in one.text
    assert "Line 4 was read as “GST 4”" in many.text
    assert "2 more lines were changed" in many.text


async def test_taxes_that_are_no_parts_of_the_tax_are_not_compared(
    sqlite_url: str, tmp_path: Path
) -> None:
    details = Details(taxes=(Extracted(TaxLine("ICMS", amount=Decimal("7.42")), 0.9, "ICMS"),))
    kind = Extracted(DocumentType.NFE, 0.95, "NF-e")
    tax = Extracted(Decimal("12.10"), 0.95, "12,10")
    async with reviewing(sqlite_url, tmp_path, type=kind, tax=tax, details=details) as review:
        page = await review.page()

    assert "Taxes by rate" in page.text
    assert "Taxes by rate add up" not in page.text


async def test_doubtful_taxes_and_payments_are_shown_as_they_were_read(
    sqlite_url: str, tmp_path: Path
) -> None:
    box = Box(120, 500, 320, 530)
    taxes = [TaxLine("ICMS", Decimal(18), None, Decimal("7.42")), TaxLine("ISS", Decimal(5))]
    details = Details(
        taxes=tuple(
            Extracted(one, share, "", 1, box) for one, share in zip(taxes, (0.9, 0.4), strict=True)
        ),
        payments=(Extracted(Payment(PaymentMethod.PIX, Decimal("42.10")), 0.5, "PIX"),),
    )
    async with reviewing(sqlite_url, tmp_path, details=details) as review:
        page = await review.page()
        await review.post(**{"tax-1-amount": "2", "payment-0-method": "pix"})
        corrected = await review.page()

    checks, _header, _rest = page.text.partition("Header")
    assert "Tax 2: ISS 5 %" in checks
    assert "Payment 1: Pix 42.10" in checks
    assert "ICMS" not in checks
    assert {"#box-tax-1", "#payment-0-method"} <= set(page.links)
    assert "Payment 1: Pix 42.10" in corrected.text
    assert "Tax 2: ISS" not in corrected.text
