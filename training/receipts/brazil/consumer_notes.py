"""The NFC-e: the electronic receipt of a shop, on thermal paper."""

import datetime as dt
import random
from dataclasses import dataclass, replace
from decimal import Decimal

from training.receipts.brazil import heads, ids, item_rows, qr, sales, sellers, tapes, wordings
from training.receipts.brazil.ids import Numbering
from training.receipts.brazil.item_rows import Setting
from training.receipts.brazil.sales import Sale, brazilian
from training.receipts.brazil.sellers import Seller
from training.receipts.brazil.tapes import Tape
from training.receipts.faces import Case
from training.receipts.truth import Document, Truth

_TRADES = ("bakery", "market", "pharmacy", "fuel", "restaurant", "office", "building")
_OFFLINE = 9
#: The longest time between issue and authorization.
_LATEST = 90


@dataclass(frozen=True, slots=True)
class _Note:
    """An NFC-e before it is printed."""

    seller: Seller
    sale: Sale
    at: dt.datetime
    offset: str
    numbering: Numbering
    key: str
    #: The CPF or CNPJ of the customer; None if unknown.
    consumer: str | None
    #: The format of the estimated taxes.
    tax_wording: str
    is_test: bool = False
    #: Whether the items are omitted, which consumers may request.
    is_short: bool = False

    @property
    def is_offline(self) -> bool:
        """Whether it was issued without an answer of the tax office."""
        return self.numbering.emission == _OFFLINE


def consumer_note(rng: random.Random, language: str, case: Case) -> Document:
    """Return an NFC-e of an invented shop."""
    note = _made(rng)
    tape = tapes.tape(rng, case)
    layout = rng.choice(tuple(item_rows.layouts(tape)))
    heads.print_head(rng, tape, note.seller)
    _print_title(rng, tape, note)
    if not note.is_short:
        setting = Setting(tape, rng, rng.choice((0, 0, 3, 4)), rng.choice(wordings.ITEM_DISCOUNTS))
        item_rows.layouts(tape)[layout](setting, note.sale.items)
        tape.rule()
    _print_sums(rng, tape, note)
    parts = [_print_key, _print_consumer, _print_identity]
    if rng.random() < 0.3:
        parts = [_print_identity, _print_consumer, _print_key]
    for part in parts:
        if rng.random() < 0.5:
            tape.rule()
        part(rng, tape, note)
    version = _print_code(rng, tape, note)
    _print_taxes(tape, note)
    if rng.random() < 0.5:
        tape.left(rng.choice(wordings.FAREWELLS))
    return Document(
        kind="nfce",
        layout=f"{tape.columns} columns, {layout}, QR {version or 'none'}",
        language=language,
        print=tape.cut(),
        truth=_truth(note),
        precision="second",
        timezone=note.offset,
        alternatives={"line_item_totals_net_of_discount": note.sale.net_totals()},
    )


def _made(rng: random.Random) -> _Note:
    where = sellers.place(rng)
    trade = rng.choice(_TRADES)
    is_lettered = rng.random() < 0.1
    seller = (
        sellers.microbusiness(rng, trade, where)
        if rng.random() < 0.1
        else sellers.company(rng, trade, where, has_letters=is_lettered)
    )
    at = sales.moment(rng, 2026 if is_lettered else 2018)
    offset = sales.offset(where, at)
    emission = _OFFLINE if rng.random() < 0.15 else 1
    numbering = Numbering(
        rng.choice((rng.randrange(1, 999), rng.randrange(1000, 999_999_999 // 100))),
        rng.choice((1, 1, 1, 2, 3, 65, 103)),
        emission,
        rng.randrange(10**8),
    )
    key = ids.access_key(
        state=where.state_code, at=at, issuer=seller.tax_id, model=65, numbering=numbering
    )
    return _Note(
        seller=seller,
        sale=_sold(rng, trade),
        at=at,
        offset=offset,
        numbering=numbering,
        key=key,
        consumer=rng.choice((None, None, ids.cpf(rng), ids.cnpj(rng))),
        tax_wording=rng.choice(wordings.TAXES),
        is_test=rng.random() < 0.05,
        is_short=rng.random() < 0.06,
    )


def _sold(rng: random.Random, trade: str) -> Sale:
    count = rng.choice((1, 1, 2, 3, 4, 5, 7, 12))
    items = sales.sold(rng, trade, 1 if trade == "fuel" else count)
    if rng.random() < 0.2:
        items = sales.with_discounts(rng, items)
    sale = Sale(items, tax_share=Decimal(rng.randrange(400, 4500)) / 10_000)
    if rng.random() < 0.15:
        taken = sales.cents(sale.net * Decimal(rng.choice((2, 5, 10))) / 100)
        sale = replace(sale, discount=taken)
    if rng.random() < 0.07:
        sale = replace(sale, surcharge=sales.cents(sale.net / 10))
    return sale


def _print_title(rng: random.Random, tape: Tape, note: _Note) -> None:
    for row in rng.choice(wordings.CONSUMER_TITLES):
        tape.center(row)
    if note.is_test:
        tape.center("EMITIDA EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL", is_bold=True)
    if note.is_offline:
        tape.center("EMITIDA EM CONTINGÊNCIA", is_bold=True)
        tape.center(rng.choice(("Pendente de autorização", "Pendente de Autorizacao")))
    tape.rule()


def _print_sums(rng: random.Random, tape: Tape, note: _Note) -> None:
    sale, words = note.sale, rng.choice(wordings.SUMS)
    count = len(sale.items)
    tape.pair(words["count"], f"{count:03d}" if rng.random() < 0.3 else str(count))
    off, on = sale.discount + sale.item_discounts, sale.surcharge + sale.item_surcharges
    tape.pair(words["gross"], brazilian(sale.gross))
    # Some programs print empty boxes too.
    if off or rng.random() < 0.25:
        tape.pair(words["discount"], f"{'-' if off and rng.random() < 0.3 else ''}{brazilian(off)}")
    if on or rng.random() < 0.1:
        tape.pair(words["surcharge"], brazilian(on))
    if off or on or rng.random() < 0.6:
        tape.pair(words["payable"], brazilian(sale.total), is_bold=True)
    _print_payment(rng, tape, sale.total)


def _print_payment(rng: random.Random, tape: Tape, total: Decimal) -> None:
    tape.pair(*rng.choice(wordings.PAYMENT_HEADS))
    way = rng.choice(wordings.PAYMENTS)
    given = total
    if way == "Dinheiro":
        step = rng.choice((1, 5, 10, 50))
        given = Decimal((int(total) // step + 1) * step)
    tape.pair(way, brazilian(given))
    if given != total or rng.random() < 0.4:
        tape.pair(rng.choice(("Troco R$", "Troco", "TROCO R$")), brazilian(given - total))


def _print_key(rng: random.Random, tape: Tape, note: _Note) -> None:
    where = str(sellers.table("places")[note.seller.place.state]["consult"])
    tape.center(
        rng.choice(("Consulte pela Chave de Acesso em", "Consulte pela chave de acesso em:"))
    )
    tape.center(where)
    if rng.random() < 0.3:
        tape.center("CHAVE DE ACESSO")
    tape.center(note.key if rng.random() < 0.1 else ids.grouped(note.key))


def _print_consumer(rng: random.Random, tape: Tape, note: _Note) -> None:
    if note.consumer is None:
        tape.center(rng.choice(wordings.UNKNOWN_CONSUMERS))
        return
    label = "CPF" if len(note.consumer) == len("00000000000") else "CNPJ"
    printed = ids.printed(note.consumer)
    tape.center(
        rng.choice(
            (
                f"CONSUMIDOR - {label} {printed}",
                f"CONSUMIDOR {label}: {printed}",
                f"CONSUMIDOR: {label} {note.consumer}",
                f"{label} do Consumidor: {printed}",
            )
        )
    )
    if rng.random() < 0.4:
        tape.center(rng.choice(sellers.words("buyers")))
        tape.center(f"{rng.choice(sellers.words('streets'))}, {rng.randrange(1, 999)}")


def _print_identity(rng: random.Random, tape: Tape, note: _Note) -> None:
    number, series = note.numbering.number, note.numbering.series
    day, clock = f"{note.at:%d/%m/%Y}", f"{note.at:%H:%M:%S}"
    rows = rng.choice(wordings.IDENTITIES)
    for row in rows:
        tape.center(row.format(number=number, series=series, day=day, clock=clock))
    if note.is_offline:
        return
    late = note.at + dt.timedelta(seconds=rng.randrange(1, _LATEST))
    protocol = f"1{note.seller.place.state_code}{note.at:%y}{rng.randrange(10**9):010d}"
    if rng.random() < 0.5:
        tape.center(f"Protocolo de Autorização: {protocol}")
        tape.center(f"Data de Autorização: {late:%d/%m/%Y %H:%M:%S}")
    else:
        tape.center(f"Protocolo de Autorização: {protocol} {late:%d/%m/%Y %H:%M:%S}")


def _print_code(rng: random.Random, tape: Tape, note: _Note) -> int | None:
    """Print the QR code and return its version; a few documents have none."""
    if rng.random() < 0.05:
        return None
    version = 3 if note.at.year >= 2026 else 1 if note.at.year <= 2018 else 2
    said = qr.Consumer(
        key=note.key,
        at=note.at,
        offset=note.offset,
        total=note.sale.total,
        is_test=note.is_test,
        is_offline=note.is_offline,
    )
    if rng.random() < 0.5:
        tape.center("Consulta via leitor de QR Code")
    tape.qr(qr.consumer_note(rng, note.seller.place, said, version=version))
    return version


def _print_taxes(tape: Tape, note: _Note) -> None:
    taxes = note.sale.taxes
    state = sales.cents(taxes * 3 / 5)
    tape.left(
        note.tax_wording.format(
            taxes=brazilian(taxes),
            federal=brazilian(taxes - state),
            state=brazilian(state),
            share=brazilian(note.sale.tax_share * 100),
        )
    )


def _truth(note: _Note) -> Truth:
    sale = note.sale
    return Truth(
        type="nfce",
        merchant_name=note.seller.name,
        merchant_tax_id=note.seller.tax_id,
        issued_at=f"{note.at:%Y-%m-%dT%H:%M:%S}{note.offset}",
        total=f"{sale.total:.2f}",
        subtotal=f"{sale.gross:.2f}",
        tax=f"{sale.taxes:.2f}" if note.tax_wording else None,
        currency="BRL",
        document_number=str(note.numbering.number),
        document_key=note.key,
        line_items=() if note.is_short else sale.truths(),
    )
