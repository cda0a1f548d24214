"""Coupons of fiscal printers (ECF) until about 2018, and reports, which are not sales."""

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal

from training.receipts.brazil import ids, sales, sellers, tapes
from training.receipts.brazil.sales import Sale, Sold, brazilian
from training.receipts.brazil.sellers import Seller
from training.receipts.brazil.tapes import Tape
from training.receipts.faces import Case
from training.receipts.truth import Document, Truth

_TRADES = ("bakery", "market", "pharmacy", "fuel", "restaurant", "office")
_MODELS = ("BEMATECH MP-4000 TH FI", "DARUMA FS700 M", "EPSON TM-T81 FBIII", "SWEDA IF ST200")
_REPORTS = ("LEITURA X", "REDUÇÃO Z", "COMPROVANTE NÃO FISCAL", "COMPROVANTE CRÉDITO OU DÉBITO")


@dataclass(frozen=True, slots=True)
class _Slip:
    """A coupon or report before it is printed."""

    seller: Seller
    sale: Sale
    at: dt.datetime
    offset: str
    #: The counters of operations (COO) and of coupons (CCF).
    coo: int
    ccf: int
    has_taxes: bool = True


def printed_coupon(rng: random.Random, language: str, case: Case) -> Document:
    """Return the coupon of a fiscal printer."""
    slip = _made(rng)
    tape = tapes.fiscal_tape(rng, case)
    _print_head(rng, tape, slip)
    tape.center("CUPOM FISCAL", is_bold=True)
    layout = rng.choice(("two rows", "one row"))
    _print_items(tape, slip, layout)
    has_subtotal = _print_sums(rng, tape, slip)
    _print_foot(rng, tape, slip)
    return Document(
        kind="ecf",
        layout=f"{tape.columns} columns, {layout}",
        language=language,
        print=tape.cut(),
        truth=_truth(slip, has_subtotal=has_subtotal),
        precision="second",
        timezone=slip.offset,
        alternatives={
            "document_number": (str(slip.ccf),),
            "subtotal": (f"{slip.sale.gross:.2f}",),
        },
    )


def report(rng: random.Random, language: str, case: Case) -> Document:
    """Return a report of the same printer, which looks like a coupon but is not a sale."""
    slip = _made(rng)
    tape = tapes.fiscal_tape(rng, case)
    _print_head(rng, tape, slip)
    title = rng.choice(_REPORTS)
    tape.center(title, is_bold=True)
    if title.startswith("COMPROVANTE"):
        tape.center("NÃO É DOCUMENTO FISCAL")
        tape.pair("Valor da compra R$", brazilian(slip.sale.total))
    else:
        _print_counters(rng, tape)
    _print_foot(rng, tape, slip)
    return Document(
        kind="ecf report",
        layout=f"{tape.columns} columns, {title}",
        language=language,
        print=tape.cut(),
        truth=Truth(
            type="receipt",
            merchant_name=slip.seller.name,
            merchant_tax_id=slip.seller.tax_id,
            issued_at=f"{slip.at:%Y-%m-%dT%H:%M:%S}{slip.offset}",
            total=None,
            subtotal=None,
            tax=None,
            currency="BRL",
            document_number=None,
            document_key=None,
            line_items=(),
        ),
        precision="second",
        timezone=slip.offset,
        # The amounts of a report are not scored, only that it is not a coupon.
        unassessed=("total", "subtotal", "tax", "document_number", "line_items"),
    )


def _made(rng: random.Random) -> _Slip:
    where = sellers.place(rng)
    trade = rng.choice(_TRADES)
    at = sales.moment(rng, 2009, 2017)
    items = sales.sold(rng, trade, rng.choice((1, 2, 3, 4, 6, 9)))
    net = sum((item.net for item in items), Decimal(0))
    taken = sales.cents(net / 20) if rng.random() < 0.3 else Decimal(0)
    return _Slip(
        seller=sellers.company(rng, trade, where),
        sale=Sale(items, taken, tax_share=Decimal(rng.randrange(800, 4200)) / 10_000),
        at=at,
        offset=sales.offset(where, at),
        coo=rng.randrange(1000, 999_999),
        ccf=rng.randrange(100, 99_999),
        has_taxes=at.year >= 2013 and rng.random() < 0.7,
    )


def _print_head(rng: random.Random, tape: Tape, slip: _Slip) -> None:
    seller = slip.seller
    tape.center(seller.name, is_bold=True)
    tape.center(f"{seller.street} {seller.quarter}".upper())
    tape.center(f"{seller.place.city} - {seller.place.state}".upper())
    tape.left(f"CNPJ: {seller.printed_id}")
    tape.left(f"IE: {seller.state_id}")
    if rng.random() < 0.5:
        tape.left(f"IM: {seller.city_id}")
    tape.rule()
    summer = "V" if slip.offset == "-02:00" else ""
    tape.pair(f"{slip.at:%d/%m/%Y %H:%M:%S}{summer}", f"CCF:{slip.ccf:06d} COO:{slip.coo:06d}")
    if rng.random() < 0.3:
        tape.left(f"CNPJ/CPF consumidor: {ids.printed(ids.cpf(rng))}")


def _print_items(tape: Tape, slip: _Slip, layout: str) -> None:
    tape.left("ITEM CÓDIGO DESCRIÇÃO")
    tape.pair("QTD.UN.VL UNIT( R$)  ST", "VL ITEM( R$)")
    tape.rule()
    for count, item in enumerate(slip.sale.items, 1):
        figures = f"{_qty(item)}{item.unit} X {brazilian(item.unit_price, _places(item))}"
        amount = f"{brazilian(item.gross)}"
        one = f"{count:03d} {item.code} {item.name} {figures} T01"
        if layout == "one row" and len(one) + len(amount) < tape.columns:
            tape.pair(one, amount)
            continue
        tape.left(f"{count:03d} {item.code} {item.name}")
        tape.pair(f"  {figures} T01", f"{amount}G")


def _qty(item: Sold) -> str:
    return brazilian(item.qty, 3 if item.qty % 1 else 0)


def _places(item: Sold) -> int:
    return max(2, -int(item.unit_price.normalize().as_tuple().exponent))


def _print_sums(rng: random.Random, tape: Tape, slip: _Slip) -> bool:
    """Print the sums and payments; return whether a subtotal was among them."""
    sale = slip.sale
    tape.rule()
    has_subtotal = bool(sale.discount)
    if has_subtotal:
        tape.pair("SUBTOTAL R$", brazilian(sale.gross))
        tape.pair(rng.choice(("DESCONTO", "desconto R$")), f"-{brazilian(sale.discount)}")
    tape.pair("TOTAL  R$", brazilian(sale.total), is_bold=True)
    given = Decimal((int(sale.total) // 10 + 1) * 10)
    way = rng.choice(("Dinheiro", "Cartao", "DINHEIRO", "CARTAO CREDITO"))
    is_cash = way.lower() == "dinheiro"
    tape.pair(way, brazilian(given if is_cash else sale.total))
    if is_cash:
        tape.pair("TROCO  R$", brazilian(given - sale.total))
    return has_subtotal


def _print_counters(rng: random.Random, tape: Tape) -> None:
    for name in ("Contador de Reinício de Operação", "Contador de Reduções Z", "Contador de CCF"):
        tape.pair(f"{name}:", f"{rng.randrange(1, 9999):06d}")
    for name in ("TOTALIZADOR GERAL", "VENDA BRUTA DIÁRIA", "CANCELAMENTO ICMS", "VENDA LÍQUIDA"):
        tape.pair(name, brazilian(Decimal(rng.randrange(10**4, 10**8)) / 100))


def _print_foot(rng: random.Random, tape: Tape, slip: _Slip) -> None:
    tape.rule()
    tape.left(f"MD-5: {rng.getrandbits(128):032x}")
    if slip.has_taxes:
        share = brazilian(slip.sale.tax_share * 100)
        tape.left(f"Val Aprox Tributos R$ {brazilian(slip.sale.taxes)} ({share}%) Fonte: IBPT")
    tape.left(rng.choice(_MODELS))
    tape.left(
        f"ECF-IF VERSÃO:01.00.02 ECF:{rng.randrange(1, 30):03d} LJ:0001 OPR: CX{rng.randrange(9)}"
    )
    tape.left(f"{slip.at:%d/%m/%Y %H:%M:%S}")
    tape.pair(f"FAB:BE{rng.randrange(10**13):013d}", "BR")


def _truth(slip: _Slip, *, has_subtotal: bool) -> Truth:
    sale = slip.sale
    return Truth(
        type="cupom_fiscal",
        merchant_name=slip.seller.name,
        merchant_tax_id=slip.seller.tax_id,
        issued_at=f"{slip.at:%Y-%m-%dT%H:%M:%S}{slip.offset}",
        total=f"{sale.total:.2f}",
        subtotal=f"{sale.gross:.2f}" if has_subtotal else None,
        tax=f"{sale.taxes:.2f}" if slip.has_taxes else None,
        currency="BRL",
        document_number=str(slip.coo),
        document_key=None,
        line_items=sale.truths(),
    )
