"""The contents of invoices between companies."""

import random
from collections.abc import Iterator
from dataclasses import replace

from training.receipts import baskets, invoice_pages, moments, sellers
from training.receipts.baskets import Bought
from training.receipts.countries import Country, countries
from training.receipts.faces import Case
from training.receipts.invoice_pages import Invoice, Style
from training.receipts.truth import Bookkeeping, Document, Truth, TruthItem, TruthTax

_MORE_PAGES = 0.15


def invoice(rng: random.Random, language: str, case: Case) -> Document:
    """Return the invoice of a company."""
    content = _content(rng, countries()[language])
    style = invoice_pages.style(rng, content.country, case)
    return _document(rng, content, style, language)


def _document(rng: random.Random, content: Invoice, style: Style, language: str) -> Document:
    return Document(
        kind="invoice",
        layout=f"{' '.join(style.columns)} in {style.face.name}",
        language=language,
        print=invoice_pages.print_out(rng, content, style),
        truth=_truth(content, style),
        precision="date",
        timezone=content.when.offset,
        alternatives=_alternatives(content),
        bookkeeping=Bookkeeping(taxes=tuple(_taxes(content, style))),
    )


def tax_invoice(rng: random.Random, language: str, case: Case) -> Document:
    """Return the invoice of a company that prints the tax of each item."""
    country = countries()[language]
    items = baskets.fill(rng, country, "invoice", most=8)
    groups = baskets.groups_of_items(country, items)
    content = replace(
        _content(rng, country), items=items, taxes=groups, is_gross=False, is_taxed=True
    )
    style = invoice_pages.style(rng, country, case, is_taxed=True)
    return _document(rng, content, style, language)


def _content(rng: random.Random, country: Country) -> Invoice:
    is_gross = country.is_tax_included and rng.random() < 0.25
    times = 6 if rng.random() < _MORE_PAGES else 1
    filled = (baskets.fill(rng, country, "invoice", most=8) for _ in range(times))
    items = tuple(bought for basket in filled for bought in basket)
    buyer = sellers.invent(rng, country, "invoice")
    return Invoice(
        country=country,
        seller=sellers.invent(rng, country, "invoice"),
        buyer=(buyer.name, buyer.street, buyer.city),
        when=moments.moment(rng, country, has_time=False),
        number=_number(rng),
        items=items,
        taxes=baskets.groups(country, items, is_included=is_gross),
        is_gross=is_gross,
    )


def _number(rng: random.Random) -> str:
    return rng.choice(
        (
            f"{rng.randint(2016, 2025)}-{rng.randint(1, 9999):04d}",
            f"INV-{rng.randint(1, 99999):05d}",
            f"RE{rng.randint(100000, 999999)}",
            f"{rng.randint(100000, 99999999)}",
            f"{rng.randint(1, 999):03d}/{rng.randint(2016, 2025)}",
        )
    )


def _truth(content: Invoice, style: Style) -> Truth:
    return Truth(
        type="invoice",
        merchant_name=content.seller.name,
        merchant_tax_id=content.seller.plain_tax_id,
        issued_at=content.when.wire,
        total=str(content.total),
        subtotal=str(content.net),
        tax=str(content.tax) if content.has_tax else None,
        currency=content.country.currency,
        document_number=content.number,
        document_key=None,
        line_items=tuple(_item(content.country, bought, style) for bought in content.items),
    )


def _item(country: Country, bought: Bought, style: Style) -> TruthItem:
    is_taxed = "gross" in style.columns
    has_price = "unit_price" in style.columns
    return TruthItem(
        bought.name,
        str(bought.qty) if "quantity" in style.columns else None,
        str(bought.price) if has_price else None,
        str(bought.total + (baskets.tax_on(country, bought) if is_taxed else 0)),
    )


def _taxes(content: Invoice, style: Style) -> Iterator[TruthTax]:
    """Yield the taxes: in the sums, or of the items if these are printed with their rate."""
    halves = content.country.halves
    has_rates = not content.is_taxed or any("rate" in name for name in style.columns)
    for group in content.taxes:
        base = str(group.net) if content.is_taxed else None
        if not has_rates or not (group.rate or content.is_taxed):
            continue
        first = content.country.rounded(group.tax / 2) if halves else group.tax
        rate = f"{(group.rate / (len(halves) or 1)).normalize():f}"
        yield TruthTax(rate, base, str(first))
        if halves:
            yield TruthTax(rate, base, str(group.tax - first))


def _alternatives(content: Invoice) -> dict[str, tuple[str | None, ...]]:
    other: dict[str, tuple[str | None, ...]] = dict(content.seller.alternatives)
    if len(content.taxes) > 1:
        other["tax"] = tuple(str(group.tax) for group in content.taxes if group.tax)
        other["subtotal"] = tuple(str(group.net) for group in content.taxes)
    return other
