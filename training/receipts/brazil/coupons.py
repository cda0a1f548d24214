"""The extract of a CF-e SAT (São Paulo) or MFE (Ceará), on thermal paper."""

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal

from training.receipts.brazil import heads, ids, qr, sales, sellers, tapes
from training.receipts.brazil.sales import Sale, Sold, brazilian
from training.receipts.brazil.sellers import Seller
from training.receipts.brazil.tapes import Tape
from training.receipts.faces import Case
from training.receipts.truth import Document, Truth

_TRADES = ("bakery", "market", "pharmacy", "fuel", "restaurant")
_TITLES = {
    "SP": (
        ("CUPOM FISCAL ELETRÔNICO - SAT",),
        ("CUPOM FISCAL ELETRONICO", "- SAT -"),
        ("CUPOM FISCAL ELETRÔNICO SAT",),
    ),
    "CE": (("CUPOM FISCAL ELETRÔNICO - MFE",), ("CUPOM FISCAL ELETRÔNICO", "CF-e MFE")),
}
_TAX_ROWS = (
    ("Valor aproximado dos tributos deste cupom", "(conforme Lei Fed. 12.741/2012) R$"),
    ("Valor aproximado dos tributos", "deste cupom R$ (Lei Fed. 12.741/2012)"),
)


@dataclass(frozen=True, slots=True)
class _Coupon:
    """A CF-e before it is printed."""

    seller: Seller
    sale: Sale
    at: dt.datetime
    offset: str
    number: int
    serial: int
    key: str
    #: The CPF or CNPJ of the customer; empty if unknown.
    consumer: str
    has_taxes: bool


def coupon(rng: random.Random, language: str, case: Case) -> Document:
    """Return the extract of a CF-e of an invented shop."""
    made = _made(rng)
    tape = tapes.fiscal_tape(rng, case)
    heads.print_head(rng, tape, made.seller)
    tape.rule()
    tape.center(f"Extrato No. {made.number:06d}", is_bold=True)
    for row in rng.choice(_TITLES[made.seller.place.state]):
        tape.center(row, is_bold=True)
    _print_consumer(rng, tape, made)
    _print_items(rng, tape, made)
    _print_sums(rng, tape, made)
    halves = _print_foot(rng, tape, made)
    sale = made.sale
    return Document(
        kind="sat",
        layout=f"{tape.columns} columns, key in {halves}",
        language=language,
        print=tape.cut(),
        truth=_truth(made),
        precision="second",
        timezone=made.offset,
        alternatives={"line_item_totals_net_of_discount": sale.net_totals()},
    )


def _made(rng: random.Random) -> _Coupon:
    where = sellers.place(rng, among=("SP", "SP", "SP", "CE"))
    trade = rng.choice(_TRADES)
    seller = sellers.company(rng, trade, where)
    at = sales.moment(rng, 2017, 2025)
    number, serial = rng.randrange(1, 999_999), rng.randrange(100_000, 999_999_999)
    items = sales.sold(rng, trade, 1 if trade == "fuel" else rng.choice((1, 2, 3, 5, 8)))
    if rng.random() < 0.3:
        items = sales.with_discounts(rng, items)
    net = sum((item.net for item in items), Decimal(0))
    taken = sales.cents(net / 20) if rng.random() < 0.2 else Decimal(0)
    key = ids.coupon_key(
        state=where.state_code, at=at, issuer=seller.tax_id, serial=serial, number=number
    )
    return _Coupon(
        seller=seller,
        sale=Sale(items, taken, tax_share=Decimal(rng.randrange(800, 4200)) / 10_000),
        at=at,
        offset=sales.offset(where, at),
        number=number,
        serial=serial,
        key=key,
        consumer=rng.choice(("", "", ids.cpf(rng), ids.cnpj(rng))),
        has_taxes=rng.random() < 0.85,
    )


def _print_consumer(rng: random.Random, tape: Tape, coupon: _Coupon) -> None:
    tape.rule()
    shown = ids.printed(coupon.consumer) if coupon.consumer else "NÃO INFORMADO"
    if coupon.consumer or rng.random() < 0.6:
        tape.left(f"CPF/CNPJ do Consumidor: {shown}")
    tape.rule()


def _print_items(rng: random.Random, tape: Tape, coupon: _Coupon) -> None:
    tape.left("# | COD | DESC | QTD | UN | VL UN R$ | (VL TR R$)* | VL ITEM R$")
    tape.rule()
    is_taxed = rng.random() < 0.5
    for count, item in enumerate(coupon.sale.items, 1):
        tape.left(f"{count:03d} {item.code} {item.name}")
        tape.pair(f"    {_figures(item, coupon.sale, is_taxed=is_taxed)}", brazilian(item.gross))
        if item.discount:
            tape.pair("    desconto sobre item", f"-{brazilian(item.discount)}")
        if item.surcharge:
            tape.pair("    acréscimo sobre item", f"+{brazilian(item.surcharge)}")
    tape.blank()


def _figures(item: Sold, sale: Sale, *, is_taxed: bool) -> str:
    places = 3 if item.qty % 1 else 0
    price = brazilian(item.unit_price, 3 if item.unit in ("L", "LT") else 2)
    if item.unit_price != sales.cents(item.unit_price):
        price = brazilian(item.unit_price, max(3, -int(item.unit_price.as_tuple().exponent)))
    share = f" ({brazilian(sales.cents(item.net * sale.tax_share))})" if is_taxed else ""
    return f"{brazilian(item.qty, places)} {item.unit} X {price}{share}"


def _print_sums(rng: random.Random, tape: Tape, coupon: _Coupon) -> None:
    sale = coupon.sale
    changed = sale.item_surcharges - sale.item_discounts
    if changed or sale.discount:
        tape.pair("Total bruto de itens", brazilian(sale.gross))
        if changed:
            tape.pair("Total de descontos/acréscimos sobre item", brazilian(changed))
        if sale.discount:
            tape.pair("Desconto sobre subtotal", f"-{brazilian(sale.discount)}")
    tape.pair("TOTAL R$", brazilian(sale.total), is_bold=True, scale=rng.choice((1, 1.2)))
    way = rng.choice(("Dinheiro", "Cartão de Crédito", "Cartao de Debito", "Outros"))
    given = sale.total
    if way == "Dinheiro":
        given = Decimal((int(given) // 10 + 1) * 10)
    tape.pair(way, brazilian(given))
    tape.pair("Troco R$", brazilian(given - sale.total))


def _print_foot(rng: random.Random, tape: Tape, coupon: _Coupon) -> str:
    """Print taxes, device, time, key and codes; return whether the key is in one code or in two."""
    tape.rule()
    if coupon.has_taxes:
        taxes = brazilian(coupon.sale.taxes)
        upper, lower = rng.choice(_TAX_ROWS)
        tape.left(upper)
        tape.pair(lower, taxes)
    tape.left("OBSERVAÇÕES DO CONTRIBUINTE")
    tape.left(rng.choice(("Operador 3 Caixa 01", "Volte sempre!", "Trib. ICMS a ser recolhido")))
    tape.rule()
    tape.center(f"SAT No. {coupon.serial:09,d}".replace(",", "."), is_bold=True)
    tape.center(f"{coupon.at:%d/%m/%Y} - {coupon.at:%H:%M:%S}")
    tape.center(ids.grouped(coupon.key, rng.choice((" ", " ", "-", ""))))
    halves = rng.choice(("one", "two"))
    if halves == "one":
        tape.bars(coupon.key)
    else:
        tape.bars(coupon.key[:22])
        tape.bars(coupon.key[22:])
    tape.qr(qr.coupon(rng, coupon.key, coupon.at, coupon.sale.total, coupon.consumer), share=0.75)
    tape.center("Consulte o QR Code pelo aplicativo De olho na nota")
    return halves


def _truth(coupon: _Coupon) -> Truth:
    sale = coupon.sale
    return Truth(
        type="cupom_fiscal",
        merchant_name=coupon.seller.name,
        merchant_tax_id=coupon.seller.tax_id,
        issued_at=f"{coupon.at:%Y-%m-%dT%H:%M:%S}{coupon.offset}",
        total=f"{sale.total:.2f}",
        subtotal=f"{sale.gross:.2f}",
        tax=f"{sale.taxes:.2f}" if coupon.has_taxes else None,
        currency="BRL",
        document_number=str(coupon.number),
        document_key=coupon.key,
        line_items=sale.truths(),
    )
