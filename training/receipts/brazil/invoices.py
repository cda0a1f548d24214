"""The NF-e, the electronic invoice of products, and its printed form, the DANFE."""

import datetime as dt
import random
from decimal import Decimal

from training.receipts.brazil import danfe, ids, labels, sales, sellers
from training.receipts.brazil.danfe import Buyer, Charges, Invoice
from training.receipts.brazil.ids import Numbering
from training.receipts.brazil.sales import Sale
from training.receipts.brazil.sellers import Place, Seller
from training.receipts.faces import Case
from training.receipts.truth import Document, Precision, Truth

_TRADES = ("building", "building", "office", "office", "market", "farm", "pharmacy")
#: Numbers of items that fit on the first page, and that do not.
_COUNTS = (1, 2, 3, 5, 8, 12, 20, 34, 60)
_EMISSIONS = (1, 1, 1, 1, 1, 1, 4, 5, 6)


def invoice(rng: random.Random, language: str, case: Case) -> Document:
    """Return the DANFE of an invented company, farmer or self-employed person."""
    made = _made(rng)
    style = danfe.Style(
        face=rng.choice(case.proportional),
        words=rng.choice(tuple(labels.DANFE)),
        table=rng.choice(tuple(labels.TABLES)),
        is_landscape=rng.random() < 0.12,
        has_tax_box=rng.random() < 0.45,
        is_framed=rng.random() < 0.85,
        has_stub=rng.random() < 0.85,
        is_label=rng.random() < 0.06,
    )
    return Document(
        kind="nfe",
        layout=style.name,
        language=language,
        print=danfe.draw(rng, made, style),
        truth=_truth(made, style),
        precision=_precision(made, style),
        timezone=made.offset,
        alternatives=_alternatives(made),
    )


def _made(rng: random.Random) -> Invoice:
    where = sellers.place(rng)
    seller, trade = _seller(rng, where)
    is_lettered = any(sign.isalpha() for sign in seller.tax_id)
    at = sales.moment(rng, 2026 if is_lettered else 2015)
    items = sales.sold(rng, trade, rng.choice(_COUNTS))
    if rng.random() < 0.2:
        items = sales.with_discounts(rng, items)
    sale = Sale(items, tax_share=Decimal(rng.randrange(400, 4500)) / 10_000)
    # On an invoice all discounts are printed with the items, and their sum below.
    numbering = Numbering(
        rng.choice((rng.randrange(1, 999), rng.randrange(1000, 9_999_999))),
        920 if len(seller.tax_id) == len("00000000000") else rng.choice((1, 1, 2, 55)),
        rng.choice(_EMISSIONS),
        rng.randrange(10**8),
    )
    key = ids.access_key(
        state=where.state_code, at=at, issuer=seller.tax_id, model=55, numbering=numbering
    )
    return Invoice(
        seller=seller,
        buyer=_buyer(rng),
        sale=sale,
        charges=_charges(rng, sale, seller),
        at=at,
        offset=sales.offset(where, at),
        left_at=_departure(rng, at),
        numbering=numbering,
        key=key,
        is_test=rng.random() < 0.04,
        is_cancelled=rng.random() < 0.03,
        referenced=_referenced(rng, where, at),
    )


def _seller(rng: random.Random, where: Place) -> tuple[Seller, str]:
    chance = rng.random()
    trade = rng.choice(_TRADES)
    if chance < 0.06:
        return sellers.farmer(rng, where), "farm"
    if chance < 0.12:
        return sellers.microbusiness(rng, trade, where), trade
    return sellers.company(rng, trade, where, has_letters=chance > 0.92), trade


def _buyer(rng: random.Random) -> Buyer:
    where = sellers.place(rng)
    is_person = rng.random() < 0.25
    name = rng.choice(sellers.words("people" if is_person else "buyers"))
    return Buyer(
        name,
        ids.cpf(rng) if is_person else ids.cnpj(rng),
        where,
        f"{rng.choice(sellers.words('streets'))}, {rng.randrange(1, 3000)}",
    )


def _charges(rng: random.Random, sale: Sale, seller: Seller) -> Charges:
    """Return freight, insurance and taxes; small sellers pay no ICMS on the invoice."""
    net = sale.net
    is_small = seller.state_id is None or rng.random() < 0.3
    freight = _share(rng, net, 0.25)
    base = Decimal(0) if is_small else net + freight
    return Charges(
        base=base,
        icms=sales.cents(base * Decimal(rng.choice((7, 12, 17, 18))) / 100),
        substitution=_share(rng, net, 0.15),
        freight=freight,
        insurance=_share(rng, net, 0.05) / 10,
        other=_share(rng, net, 0.1),
        ipi=_share(rng, net, 0.2),
    ).rounded()


def _share(rng: random.Random, amount: Decimal, chance: float) -> Decimal:
    """Return a few percent of an amount, mostly zero."""
    percent = rng.randrange(1, 11)
    return sales.cents(amount * percent / 100) if rng.random() < chance else Decimal(0)


def _departure(rng: random.Random, at: dt.datetime) -> dt.datetime | None:
    """Return the date of shipment: the same day, later, or None."""
    chance = rng.random()
    if chance < 0.3:
        return None
    return at if chance < 0.8 else at + dt.timedelta(days=rng.randrange(1, 5))


def _referenced(rng: random.Random, where: Place, at: dt.datetime) -> str | None:
    """Return the key of another company's document as a reference, mostly None."""
    if rng.random() < 0.92:
        return None
    earlier = at - dt.timedelta(days=20)
    numbering = Numbering(rng.randrange(1, 99_999), noise=rng.randrange(10**8))
    return ids.access_key(
        state=where.state_code, at=earlier, issuer=ids.cnpj(rng), model=55, numbering=numbering
    )


def _precision(invoice: Invoice, style: danfe.Style) -> Precision:
    has_clock = invoice.left_at is not None and not style.is_label
    is_same_day = has_clock and invoice.left_at == invoice.at
    return "second" if is_same_day else "date"


def _truth(invoice: Invoice, style: danfe.Style) -> Truth:
    sale, charges = invoice.sale, invoice.charges
    at = invoice.at if _precision(invoice, style) == "second" else _midnight(invoice.at)
    taxes = sale.taxes if style.has_tax_box else charges.icms
    return Truth(
        type="nfe",
        merchant_name=invoice.seller.name,
        merchant_tax_id=invoice.seller.tax_id,
        issued_at=f"{at:%Y-%m-%dT%H:%M:%S}{invoice.offset}",
        total=f"{invoice.total:.2f}",
        subtotal=None if style.is_label else f"{sale.gross:.2f}",
        tax=None if style.is_label else f"{taxes:.2f}",
        currency="BRL",
        document_number=str(invoice.numbering.number),
        document_key=invoice.key,
        line_items=() if style.is_label else sale.truths(),
    )


def _midnight(at: dt.datetime) -> dt.datetime:
    return at.replace(hour=0, minute=0, second=0)


def _alternatives(invoice: Invoice) -> dict[str, tuple[str, ...]]:
    return {"line_item_totals_net_of_discount": invoice.sale.net_totals()}
