"""Values on the review page: amounts that add up, errors while typing, and parts of lists."""

from decimal import Decimal
from pathlib import Path

from recibo.extract.model import Details, Extracted, LineItem, Payment, PaymentMethod, TaxLine
from tests.portal import pages
from tests.portal.review_pages import reviewing


async def test_typed_amounts_are_added_up_without_saving(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        before = await review.receipt()
        page = await review.page()
        form = {name: one.get("value") or "" for name, one in page.inputs.items()}
        typed = {
            "item-2-total": "0.90", "subtotal": "40", "tax": "2.1", "tax-0-amount": "2",
            "payment-0-method": "cash", "payment-0-amount": "50",
        }  # fmt: skip
        client, path = review.service.stranger, f"{review.path()}/sums"
        sums = (await client.post(path, data={**form, **typed})).json()["sums"]
        vague = await client.post(path, data={**form, "total": "1.234"})
        unfinished = await client.post(path, data={**form, "total": "-", "item-2-name": "Bag"})
        after = await review.receipt()

    assert {
        "line_items": {"text": "Items add up to the total", "state": "ok"},
        "total": {"text": "Subtotal and tax add up", "state": "ok"},
        "taxes": {
            "text": "Taxes by rate add up to 2.00, the tax is 2.10: 0.10 missing.", "state": "off",
        },
        "payments": {
            "text": "Payments add up to 50.00, the total is 42.10: 7.90 too much.", "state": "off",
        },
    } == sums  # fmt: skip
    assert [{}, {}] == [vague.json()["sums"], unfinished.json()["sums"]]
    assert before == after


async def test_amounts_that_differ_by_rounding_are_near(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        page = await review.page()
        form = {name: one.get("value") or "" for name, one in page.inputs.items()}
        states = []
        for total in ("42.10", "42.09", "42.05", "42.04"):
            typed = {"item-2-total": "0.90", "subtotal": "", "tax": "", "total": total}
            answer = await review.service.stranger.post(
                f"{review.path()}/sums", data={**form, **typed}
            )
            states.append(answer.json()["sums"]["line_items"]["state"])

    assert ["ok", "near", "near", "off"] == states


async def test_typed_values_are_checked_without_saving(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        await review.post(subtotal="40", tax="2.1", **{"tax-0-amount": "2.1"})
        page = await review.page()
        form = {name: one.get("value") or "" for name, one in page.inputs.items()}
        typed = {
            "total": "abc", "currency": "XXQ", "merchant_tax_id": "!!", "issued_time": "25:99",
            "discount": "1.234", "payment-0-last4": "51", "item-1-total": "12.345", "due_date": "",
        }  # fmt: skip
        client, path = review.service.stranger, f"{review.path()}/sums"
        checked = (await client.post(path, data={**form, **typed})).json()
        saved = pages.parse(await review.post(**typed))
        portuguese = await client.post(
            path, data={**form, "total": "abc"}, headers={"Accept-Language": "pt-BR"}
        )
        right = (await client.post(path, data={**form, "total": "42.10"})).json()
        after = await review.receipt()

    errors = checked["errors"]
    assert {*typed} - {"due_date", "issued_time"} | {"issued_at"} == {*errors}
    # The page says the same after saving.
    assert errors == {name: saved.by_id[f"{name}-error"].strip() for name in errors}
    assert "Total must be a number, such as 1234.50." == errors["total"]
    assert "Last digits of the card must be four digits." == errors["payment-0-last4"]
    assert "can be read in two ways" in errors["discount"]
    # Nothing is said about amounts that are compared with one that is wrong.
    assert ["taxes"] == [*checked["sums"]]
    assert (
        "Valor total precisa ser um número, como 1234,50." == portuguese.json()["errors"]["total"]
    )
    assert {} == right["errors"]
    assert ("42.10", "BRL") == (after["total"], after["currency"])


async def test_sums_are_shown_without_scripts(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        await review.post(total="41.20", **{"payment-0-amount": "40"})
        saved = await review.page()
        refused = pages.parse(await review.post(total="41.30", currency="REAL"))

    assert "Items add up to the total" in saved.text
    assert "Payments add up to 40.00, the total is 41.20: 1.20 missing." in saved.text
    assert "Items add up to 41.20, the total is 41.30: 0.10 missing." in refused.text


async def test_tax_may_be_included(sqlite_url: str, tmp_path: Path) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        await review.post(total="41.20", subtotal="41.20", tax="5.30")
        included = await review.page()
        await review.post(total="46.50")
        added = await review.page()

    assert "Subtotal and total agree, tax included" in included.text
    assert "Subtotal and tax add up" in added.text


async def test_sums_of_fiscal_documents_contain_their_tax_and_perhaps_charges_without_a_field(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with reviewing(sqlite_url, tmp_path) as review:
        await review.post(type="nfe", total="41.20", subtotal="41.20", tax="5.30")
        agreeing = await review.page()
        await review.post(total="47.10")
        with_freight = await review.page()

    assert "Subtotal and total agree, tax included" in agreeing.text
    assert "Subtotal and total agree" not in with_freight.text
    assert "Subtotal and tax add up to" not in with_freight.text


async def test_details_of_items_are_seen_corrected_and_kept(
    sqlite_url: str, tmp_path: Path
) -> None:
    item = LineItem(
        "Queijo", Decimal("0.535"), Decimal("18.90"), Decimal("10.11"),
        code="7891000", unit="KG", tax_rate=Decimal(19), discount=Decimal("0.50"),
    )  # fmt: skip
    items = (Extracted(item, 0.9, "Queijo"),)
    async with reviewing(sqlite_url, tmp_path, line_items=items) as review:
        page = await review.page()
        await review.post(**{"item-0-name": "Queijo minas"})
        kept = await review.receipt()
        await review.post(
            **{
                "item-0-code": "42", "item-0-tax_rate": "7.125", "item-0-discount": "",
                "item-1-name": "Bag", "item-1-unit": "UN",
            },
        )  # fmt: skip
        changed = await review.receipt()
        wrong = {
            "item-0-code": "x" * 65, "item-0-tax_rate": "1001", "item-0-discount": "-1",
            "item-1-discount": "much",
        }  # fmt: skip
        refused = pages.parse(await review.post(**wrong))
        # A page from before an update has no inputs for them.
        await review.service.stranger.post(
            review.path(), data={"version": str(changed["version"]), "item-0-name": "Queijo"}
        )
        after = await review.receipt()

    names = ("code", "unit", "tax_rate", "discount")
    given = ["7891000", "KG", "19", "0.50"]
    assert given == [page.inputs[f"item-0-{name}"]["value"] for name in names]
    assert ["Queijo minas", *given] == [kept["line_items"][0][name] for name in ("name", *names)]
    assert [("42", "KG", "7.125", None), (None, "UN", None, None)] == [
        tuple(one[name] for name in names) for one in changed["line_items"]
    ]
    assert {name: refused.error(name).strip() for name in wrong} == {
        "item-0-code": "Code is too long.",
        "item-0-tax_rate": "Tax rate in percent must be at most 1000 percent.",
        "item-0-discount": "Item discount must not be negative.",
        "item-1-discount": "Item discount must be a number, such as 1234.50.",
    }
    assert [("Queijo", "42", "KG", "7.125")] == [
        tuple(one[name] for name in ("name", *names[:3])) for one in after["line_items"]
    ]


async def test_form_of_as_many_lines_as_are_allowed_is_saved(
    sqlite_url: str, tmp_path: Path
) -> None:
    columns = ("name", "qty", "unit_price", "total", "code", "unit", "tax_rate", "discount")
    async with reviewing(sqlite_url, tmp_path) as review:
        rows = {f"item-{number}-{one}": "1" for number in range(1000) for one in columns}
        answer = await review.post(**rows)
        receipt = await review.receipt()

    assert 303 == answer.status_code
    assert 1000 == len(receipt["line_items"])


async def test_taxes_payments_and_parties_are_corrected(sqlite_url: str, tmp_path: Path) -> None:
    details = Details(
        discount=Extracted(Decimal("5.00"), 0.4, "Desconto 5,00"),
        taxes=(Extracted(TaxLine("ICMS", Decimal(18), None, Decimal("7.42")), 0.4, "ICMS"),),
        payments=(Extracted(Payment(PaymentMethod.PIX, Decimal("42.10")), 0.9, "PIX 42,10"),),
    )
    async with reviewing(sqlite_url, tmp_path, details=details) as review:
        before = await review.page()
        await review.post(
            due_date="2026-04-13", customer_tax_id="44.555.666/0001-99", tip="1.5",
            **{
                "tax-0-rate": "12", "tax-1-name": "ISS", "tax-1-amount": "2",
                "payment-0-method": "credit_card", "payment-0-last4": "4242",
            },
        )  # fmt: skip
        receipt = await review.receipt()
        shown = await review.page()
        await review.post(remove="payment-0")
        refused = await review.post(due_date="soon", **{"payment-0-last4": "42"})
        after = await review.receipt()

    assert "Some lines are not certain." in before.text
    assert ("5.00", "1.50", "2026-04-13", "44555666000199") == (
        receipt["discount"], receipt["tip"], receipt["due_date"], receipt["customer_tax_id"],
    )  # fmt: skip
    assert [("ICMS", "12", "7.42"), ("ISS", None, "2.00")] == [
        (one["name"], one["rate"], one["amount"]) for one in receipt["taxes"]
    ]
    assert [("credit_card", "42.10", "4242")] == [
        (one["method"], one["amount"], one["last4"]) for one in receipt["payments"]
    ]
    for line in ("ICMS, 18 %, 7.42 → ICMS, 12 %, 7.42", "added: ISS, 2.00"):
        assert f"Taxes by rate {line}" in shown.text, line
    assert "Payments Pix, 42.10 → Credit card, 42.10, •••• 4242" in shown.text
    assert 400 == refused.status_code
    assert "Due date must be a date" in pages.parse(refused).text
    assert "Last digits of the card must be four digits" in pages.parse(refused).text
    assert [] == after["payments"]
