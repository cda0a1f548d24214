"""The NFS-e, of the national system or of a municipal one."""

import datetime as dt
import random
from dataclasses import dataclass
from decimal import Decimal

from training.receipts.brazil import ids, municipal_pages, national_pages, sales, sellers
from training.receipts.brazil.sales import brazilian
from training.receipts.brazil.sellers import Place
from training.receipts.brazil.service import Service, Taker, Withheld
from training.receipts.brazil.sheets import Form, Sheets
from training.receipts.faces import Case
from training.receipts.truth import Document, Truth, TruthItem

_RATES = (2, 2, Decimal("2.01"), 3, Decimal("3.5"), 4, 5, 5)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A layout and its effects on the truth."""

    name: str
    is_national: bool
    has_net: bool
    has_seconds: bool


def service_note(rng: random.Random, language: str, case: Case) -> Document:
    """Return the NFS-e of an invented company."""
    is_national = rng.random() < 0.3
    layouts = national_pages.LAYOUTS if is_national else municipal_pages.LAYOUTS
    name = rng.choice(tuple(layouts))
    layout = layouts[name]
    service = _made(rng, is_national=is_national, states=layout.states)
    pages = Sheets(
        Form(
            rng.choice(case.proportional),
            label_size=layout.label_size,
            is_framed=rng.random() < 0.7,
        )
    )
    layout.print(rng, pages, service)
    chosen = _Chosen(name, is_national, layout.has_net, layout.has_seconds)
    return Document(
        kind="nfse",
        layout=f"{name}, {pages.form.face.name}",
        language=language,
        print=pages.finish(),
        truth=_truth(service, chosen),
        precision="second" if chosen.has_seconds else "minute",
        timezone=service.offset,
        alternatives=_alternatives(service),
    )


def _made(rng: random.Random, *, is_national: bool, states: tuple[str, ...]) -> Service:
    where = sellers.place(rng, among=states)
    seller = (
        sellers.microbusiness(rng, "services", where)
        if rng.random() < 0.12
        else sellers.company(rng, "services", where, has_letters=is_national and rng.random() < 0.1)
    )
    at = sales.moment(rng, 2023 if is_national else 2014)
    number = rng.choice((rng.randrange(1, 999), rng.randrange(1000, 999_999)))
    key = ids.service_key(municipality=where.ibge, at=at, issuer=seller.tax_id, number=number)
    done, listed, price = map(str, rng.choice(sellers.table("trades")["services"]["done"]))
    gross = sales.cents(Decimal(price) * Decimal(rng.randrange(40, 220)) / 100)
    rate = Decimal(rng.choice(_RATES))
    taken = sales.cents(gross / 20) if rng.random() < 0.15 else Decimal(0)
    deducted = sales.cents(gross / 10) if rng.random() < 0.1 else Decimal(0)
    withheld = _withheld(rng, gross)
    return Service(
        seller=seller,
        taker=_taker(rng, where),
        at=at,
        offset=sales.offset(where, at),
        number=number,
        key=key if is_national else None,
        verification=_verification(rng),
        rps=number + rng.randrange(0, 300),
        done=done.format(month=f"{at:%m/%Y}"),
        listed=listed,
        gross=gross,
        discount=taken,
        deductions=deducted,
        rate=rate,
        withheld=withheld,
        is_iss_withheld=rng.random() < 0.25,
        remarks=_remarks(rng, at, withheld, gross),
    )


def _remarks(
    rng: random.Random, at: dt.datetime, withheld: Withheld, gross: Decimal
) -> tuple[str, ...]:
    """Return an addition to the description, mostly nothing."""
    due = at + dt.timedelta(days=15)
    rows = [
        f"Vencimento: {due:%d/%m/%Y}",
        f"Pedido de compra nº {rng.randrange(1000, 99_999)} - Forma de pagamento: boleto bancário",
        f"Valor aproximado dos tributos: R$ {brazilian(sales.cents(gross * 13 / 100))} (13,00%)",
        "Banco 341 Agência 0123 Conta 45678-9 PIX: financeiro@exemplo.com.br",
    ]
    if withheld.total:
        rows.append(f"Retenções: IRRF {brazilian(withheld.ir)} CSLL {brazilian(withheld.csll)}")
    return tuple(rng.sample(rows, rng.choice((0, 0, 0, 1, 2, 3))))


def _taker(rng: random.Random, where: Place) -> Taker:
    is_person = rng.random() < 0.3
    name = rng.choice(sellers.words("people" if is_person else "buyers"))
    tax_id = ids.cpf(rng) if is_person else ids.cnpj(rng)
    street = f"{rng.choice(sellers.words('streets'))}, {rng.randrange(1, 3000)}"
    return Taker(name, tax_id, street, where)


def _verification(rng: random.Random) -> str:
    letters = "".join(rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789") for _ in range(8))
    return f"{letters[:4]}-{letters[4:]}" if rng.random() < 0.5 else letters


def _withheld(rng: random.Random, gross: Decimal) -> Withheld:
    """Return the federal taxes withheld by the customer, mostly none."""
    if rng.random() < 0.65:
        return Withheld()
    parts = {"pis": "0.65", "cofins": "3", "csll": "1", "ir": "1.5"}
    kept = {name: sales.cents(gross * Decimal(rate) / 100) for name, rate in parts.items()}
    inss = sales.cents(gross * 11 / 100) if rng.random() < 0.2 else Decimal(0)
    return Withheld(**kept, inss=inss)


def _truth(service: Service, chosen: _Chosen) -> Truth:
    total = service.net if chosen.has_net else service.gross
    at = service.at if chosen.has_seconds else service.at.replace(second=0)
    gross = f"{service.gross:.2f}"
    return Truth(
        type="nfse",
        merchant_name=service.seller.name,
        merchant_tax_id=service.seller.tax_id,
        issued_at=f"{at:%Y-%m-%dT%H:%M:%S}{service.offset}",
        total=f"{total:.2f}",
        subtotal=gross,
        tax=f"{service.iss:.2f}",
        currency="BRL",
        document_number=str(service.number),
        document_key=service.key,
        line_items=(TruthItem(service.done, None, None, gross),),
    )


def _alternatives(service: Service) -> dict[str, tuple[str, ...]]:
    earlier = service.at - dt.timedelta(minutes=1)
    return {
        "document_number": (f"{service.at:%Y}/{service.number}",),
        "issued_at": (f"{earlier:%Y-%m-%dT%H:%M:%S}{service.offset}",),
    }
