"""The DANFE: stub, head, parties, taxes, goods over several pages, notes."""

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal

from training.receipts.brazil import ids, labels, sales
from training.receipts.brazil.ids import Numbering
from training.receipts.brazil.sales import Sale, Sold, brazilian
from training.receipts.brazil.sellers import Place, Seller
from training.receipts.brazil.sheets import Box, Form, Sheets
from training.receipts.faces import Face
from training.receipts.prints import MM, Print

_FIGURES = frozenset({"qty", "price", "total", "discount", "base", "icms", "ipi", "rate"})
_ROW_SIZE = 6.3
_ROW_MM = 2.9
#: Room for the notes at the foot of the first page.
_NOTES_MM = 30.0
_EPEC, _SECURITY_PAPER = 4, 5


@dataclass(frozen=True, slots=True)
class Charges:
    """What is owed beside the goods, and the taxes."""

    base: Decimal = Decimal(0)
    icms: Decimal = Decimal(0)
    substitution: Decimal = Decimal(0)
    freight: Decimal = Decimal(0)
    insurance: Decimal = Decimal(0)
    other: Decimal = Decimal(0)
    ipi: Decimal = Decimal(0)

    def rounded(self) -> "Charges":
        """Return the same to the cent."""
        amounts = {field.name: sales.cents(getattr(self, field.name)) for field in fields(self)}
        return replace(self, **amounts)


@dataclass(frozen=True, slots=True)
class Buyer:
    """To whom the invoice goes."""

    name: str
    tax_id: str
    place: Place
    street: str


@dataclass(frozen=True, slots=True)
class Invoice:
    """An NF-e before it is printed."""

    seller: Seller
    buyer: Buyer
    sale: Sale
    charges: Charges
    at: dt.datetime
    offset: str
    #: When the goods left; None if not said.
    left_at: dt.datetime | None
    numbering: Numbering
    key: str
    is_test: bool = False
    is_cancelled: bool = False
    #: The key of another note that this one refers to.
    referenced: str | None = None

    @property
    def total(self) -> Decimal:
        """What the buyer owes."""
        owed = self.charges
        on_top = owed.substitution + owed.freight + owed.insurance + owed.other + owed.ipi
        return self.sale.total + on_top


@dataclass(frozen=True, slots=True)
class Style:
    """How a maker of programs sets a DANFE."""

    face: Face
    #: Keys of `labels.DANFE` and `labels.TABLES`.
    words: str = "full"
    table: str = "common"
    is_landscape: bool = False
    has_tax_box: bool = True
    is_framed: bool = True
    has_stub: bool = True
    #: Whether it is the shipping label (DANFE simplificado), which lists no goods.
    is_label: bool = False

    @property
    def name(self) -> str:
        """What a finding calls it."""
        marks = [
            name
            for name, is_so in (
                ("landscape", self.is_landscape),
                ("tax box", self.has_tax_box),
                ("framed", self.is_framed),
                ("stub", self.has_stub),
                ("label", self.is_label),
            )
            if is_so
        ]
        return ", ".join([self.face.name, self.words, self.table, *marks])


def draw(rng: random.Random, invoice: Invoice, style: Style) -> Print:
    """Print an invoice."""
    paper = Sheets(Form(style.face, is_framed=style.is_framed, is_landscape=style.is_landscape))
    if style.is_label:
        _print_label(paper, invoice)
        return paper.finish()
    if style.has_stub:
        _print_stub(rng, paper, invoice)
    goods = _Goods(paper, invoice, style)
    _print_head(rng, paper, invoice, style, f"{1}/{goods.pages}")
    _print_parties(paper, invoice, style)
    _print_taxes(paper, invoice, style)
    _print_transport(rng, paper)
    goods.print(rng)
    return paper.finish()


def _print_stub(rng: random.Random, paper: Sheets, invoice: Invoice) -> None:
    """Print the slip that the buyer signs."""
    text = rng.choice(labels.STUBS).format(name=invoice.seller.name)
    width = paper.form.width_mm * 0.8
    for row in paper.wrapped(text, width, 6):
        paper.y += 2.6
        paper.text(1, paper.y, row, size=6)
    paper.y += 2
    left = [
        Box("DATA DE RECEBIMENTO", "", 1),
        Box("IDENTIFICAÇÃO E ASSINATURA DO RECEBEDOR", "", 3),
    ]
    number = Box(
        "NF-e", f"Nº {_dotted(invoice.numbering.number)} SÉRIE {invoice.numbering.series:03d}"
    )
    paper.row([*left, number])
    paper.y += 3


def _dotted(number: int) -> str:
    return f"{number:011,d}".replace(",", ".")


def _print_head(
    rng: random.Random, paper: Sheets, invoice: Invoice, style: Style, folio: str
) -> None:
    """Print seller, title and key; later pages have it too."""
    top, width = paper.y, paper.form.width_mm
    seller, place = invoice.seller, invoice.seller.place
    title_x, key_x = width * 0.41, width * 0.57
    is_labelled = rng.random() < 0.6
    paper.y = top + (2.5 if is_labelled else 0)
    if is_labelled:
        paper.text(1, top + 2.2, "IDENTIFICAÇÃO DO EMITENTE", size=5)
    paper.y += 2
    paper.paragraph(1, seller.name, title_x - 4, size=10, is_bold=True)
    paper.y += 1
    for row in (
        f"{seller.street} - {seller.quarter}",
        f"{place.city} - {place.state} - CEP {seller.postal_code}",
        f"Fone/Fax: {seller.phone}",
    ):
        paper.y += 3
        paper.text(1, paper.y, row, size=7)
    _print_title(paper, invoice, (title_x, top), folio)
    _print_key(paper, invoice, (key_x, top))
    paper.y = max(paper.y, top + 33)
    if style.is_framed:
        paper.frame(0, top, title_x, paper.y - top)
        paper.frame(title_x, top, key_x - title_x, paper.y - top)
        paper.frame(key_x, top, width - key_x, paper.y - top)
    words = labels.DANFE[style.words]
    protocol = f"{invoice.key[:2]}{invoice.at:%y}0{rng.randrange(10**10):010d}"
    stamp = invoice.at + dt.timedelta(seconds=rng.randrange(2, 90))
    paper.row(
        [
            Box(words["nature"], rng.choice(labels.NATURES), 1.3),
            Box(words["protocol"], f"{protocol} - {stamp:%d/%m/%Y %H:%M:%S}", 1),
        ]
    )
    paper.row(
        [
            Box(words["state_id"], seller.state_id or "ISENTO"),
            Box(words["substitute_id"], ""),
            Box(words["tax_id"], seller.printed_id),
        ]
    )


def _print_title(paper: Sheets, invoice: Invoice, place: tuple[float, float], folio: str) -> None:
    x, top = place[0] + 2, place[1]
    paper.text(x + 8, top + 5, "DANFE", size=12, is_bold=True)
    rows = (
        "Documento Auxiliar da",
        "Nota Fiscal Eletrônica",
        "0 - ENTRADA   1 - SAÍDA    1",
    )
    for count, row in enumerate(rows):
        paper.text(x, top + 9 + 3.4 * count, row, size=6.5)
    numbering = invoice.numbering
    paper.text(x, top + 21, f"Nº {_dotted(numbering.number)}", size=9, is_bold=True)
    paper.text(x, top + 25, f"SÉRIE {numbering.series:03d}", size=8, is_bold=True)
    paper.text(x, top + 29, f"FOLHA {folio}", size=7)


def _print_key(paper: Sheets, invoice: Invoice, place: tuple[float, float]) -> None:
    x, top = place
    width = paper.form.width_mm - x
    paper.bars(invoice.key, x + 3, top + 2, (width - 6, 10))
    if paper.form.is_framed:
        paper.frame(x, top + 13.5, width, 8)
    paper.text(x + 0.8, top + 16, "CHAVE DE ACESSO", size=paper.form.label_size)
    # A key is never cut: where it is too long for its box, its type is smaller.
    key = ids.grouped(invoice.key)
    size = min(8.0, 8 * (width - 2) * MM / paper.form.face.width(key, 8, is_bold=True))
    paper.text(x + width / 2, top + 20.4, key, size=size, anchor="middle", is_bold=True)
    if invoice.numbering.emission == _SECURITY_PAPER:
        paper.text(x + 2, top + 25, "DADOS DA NF-E", size=6)
        paper.bars(_security_digits(invoice), x + 3, top + 26, (width - 6, 6))
        return
    text = "Consulta de autenticidade no portal nacional da NF-e"
    for count, row in enumerate((text, "www.nfe.fazenda.gov.br/portal ou no site da Sefaz")):
        paper.text(x + width / 2, top + 26 + 3 * count, row, size=6.5, anchor="middle")


def _security_digits(invoice: Invoice) -> str:
    """Return the 36 digits of the second bar code of a note on security paper."""
    cents = f"{invoice.total:.2f}".replace(".", "")
    body = f"{invoice.key[:2]}5{invoice.buyer.tax_id:>014}{cents:>014}11{invoice.at:%d}"
    return body + ids.check_digit(body)


def _print_parties(paper: Sheets, invoice: Invoice, style: Style) -> None:
    words, buyer, left = labels.DANFE[style.words], invoice.buyer, invoice.left_at
    paper.heading(words["recipient"])
    paper.row(
        [
            Box(words["name"], buyer.name, 5),
            Box(words["buyer_id"], ids.printed(buyer.tax_id), 2),
            Box(words["issued"], f"{invoice.at:%d/%m/%Y}", 1.4, is_bold=True),
        ]
    )
    paper.row(
        [
            Box("ENDEREÇO", buyer.street, 3.5),
            Box("BAIRRO / DISTRITO", "Centro", 2),
            Box("CEP", f"{buyer.place.postal}-000", 1.5),
            Box(words["left"], f"{left:%d/%m/%Y}" if left else "", 1.4),
        ]
    )
    paper.row(
        [
            Box("MUNICÍPIO", buyer.place.city, 3.5),
            Box("UF", buyer.place.state, 0.6),
            Box("FONE / FAX", "", 1.4),
            Box("INSCRIÇÃO ESTADUAL", "ISENTO", 1.5),
            Box(words["clock"], f"{left:%H:%M:%S}" if left else "", 1.4),
        ]
    )


def _print_taxes(paper: Sheets, invoice: Invoice, style: Style) -> None:
    words, owed, sale = labels.DANFE[style.words], invoice.charges, invoice.sale
    paper.heading("CÁLCULO DO IMPOSTO")
    base_st = owed.substitution * 5
    upper = [
        ("base", owed.base),
        ("icms", owed.icms),
        ("base_st", base_st),
        ("icms_st", owed.substitution),
        ("products", sale.gross),
    ]
    discount = sale.item_discounts - sale.item_surcharges
    lower = [
        ("freight", owed.freight),
        ("insurance", owed.insurance),
        ("discount", max(Decimal(0), discount)),
        ("other", owed.other - (min(Decimal(0), discount))),
        ("ipi", owed.ipi),
        *([("all_taxes", sale.taxes)] if style.has_tax_box else []),
        ("total", invoice.total),
    ]
    for row in (upper, lower):
        paper.row(
            [
                Box(words[name], brazilian(amount), anchor="right", is_bold=name == "total")
                for name, amount in row
            ]
        )


def _print_transport(rng: random.Random, paper: Sheets) -> None:
    if rng.random() < 0.6:
        paper.heading("TRANSPORTADOR / VOLUMES TRANSPORTADOS")
        paper.row(
            [
                Box("RAZÃO SOCIAL", rng.choice(("O MESMO", "TRANSPORTES RODA FORTE EIRELI")), 3),
                Box("FRETE POR CONTA", "0-Emitente", 1),
                Box("PLACA DO VEÍCULO", "", 1),
                Box("PESO BRUTO", "12,500", 1),
                Box("PESO LÍQUIDO", "11,900", 1),
            ]
        )


class _Goods:
    """The table of goods, which may go on over several pages."""

    def __init__(self, paper: Sheets, invoice: Invoice, style: Style) -> None:
        self._paper, self._invoice, self._style = paper, invoice, style
        self._columns = labels.TABLES[style.table]
        self._rows = [self._names(item) for item in invoice.sale.items]
        height = sum(len(names) for names in self._rows) * _ROW_MM
        first = paper.form.height_mm - (175 if not style.is_landscape else 150)
        later = paper.form.height_mm - 80
        self.pages = 1 if height <= first else 2 + int((height - first) // later)

    def _width(self, name: str) -> float:
        shares = sum(share for _, share, _ in self._columns)
        own = next(share for _, share, role in self._columns if role == name)
        return self._paper.form.width_mm * own / shares

    def _names(self, item: Sold) -> list[str]:
        return self._paper.wrapped(item.name, self._width("name") - 2, _ROW_SIZE)

    def print(self, rng: random.Random) -> None:
        """Print all goods, and the notes under those of the first page."""
        paper, page = self._paper, 1
        self._headings()
        end = paper.form.height_mm - _NOTES_MM
        for item, names in zip(self._invoice.sale.items, self._rows, strict=True):
            if paper.y + len(names) * _ROW_MM > end:
                if page == 1:
                    _print_notes(rng, paper, self._invoice)
                page += 1
                paper.turn()
                folio = f"{page}/{max(page, self.pages)}"
                _print_head(rng, paper, self._invoice, self._style, folio)
                self._headings()
                end = paper.form.height_mm - 4
            self._row(item, names)
        if page == 1:
            _print_notes(rng, paper, self._invoice)

    def _headings(self) -> None:
        paper = self._paper
        paper.heading("DADOS DOS PRODUTOS / SERVIÇOS")
        size = min(5.0, paper.form.label_size)
        self._cells([heading for heading, _, _ in self._columns], size, paper.y + 2.6)
        paper.y += 3.6
        if self._style.is_framed:
            paper.rule()

    def _row(self, item: Sold, names: Sequence[str]) -> None:
        paper = self._paper
        texts = self._texts(item)
        self._cells([texts[role] for _, _, role in self._columns], _ROW_SIZE, paper.y + _ROW_MM)
        x = self._left("name")
        for count, rest in enumerate(names[1:], 2):
            paper.text(x + 0.6, paper.y + count * _ROW_MM, rest, size=_ROW_SIZE)
        paper.y += len(names) * _ROW_MM

    def _left(self, name: str) -> float:
        shares = sum(share for _, share, _ in self._columns)
        left = 0.0
        for _, share, role in self._columns:
            if role == name:
                break
            left += share
        return self._paper.form.width_mm * left / shares

    def _texts(self, item: Sold) -> dict[str, str]:
        net = item.net
        rate = Decimal(12) if self._invoice.charges.icms else Decimal(0)
        places = max(2, -int(item.unit_price.normalize().as_tuple().exponent))
        qty_places = max(4 if len(item.code) % 2 else 2, -int(item.qty.as_tuple().exponent))
        return {
            "code": item.code,
            "name": self._names(item)[0],
            "ncm": item.ncm,
            "cst": "000",
            "cfop": "5102",
            "unit": item.unit,
            "qty": brazilian(item.qty, qty_places),
            "price": brazilian(item.unit_price, max(places, 4 if item.qty > 5 else 2)),
            "total": brazilian(item.gross),
            "discount": brazilian(item.discount),
            "base": brazilian(net if rate else Decimal(0)),
            "icms": brazilian(sales.cents(net * rate / 100)),
            "ipi": "0,00",
            "rate": brazilian(rate),
        }

    def _cells(self, texts: Sequence[str], size: float, y: float) -> None:
        paper = self._paper
        for (_, _, role), text in zip(self._columns, texts, strict=True):
            width = self._width(role) - 1
            shown = paper.fitting(text, width, size)
            is_figure = role in _FIGURES
            x = self._left(role) + (width if is_figure else 0.6)
            paper.text(x, y, shown, size=size, anchor="right" if is_figure else "left")


def _print_notes(rng: random.Random, paper: Sheets, invoice: Invoice) -> None:
    """Print what else is to be said."""
    paper.y = max(paper.y + 2, paper.form.height_mm - _NOTES_MM + 3)
    paper.heading("DADOS ADICIONAIS")
    top = paper.y
    width = paper.form.width_mm * 0.65
    if paper.form.is_framed:
        paper.frame(0, top, width, 20)
        paper.frame(width, top, paper.form.width_mm - width, 20)
    paper.text(1, top + 2.2, "INFORMAÇÕES COMPLEMENTARES", size=5)
    paper.text(width + 1, top + 2.2, "RESERVADO AO FISCO", size=5)
    paper.y = top + 3
    for row in _notes(rng, invoice):
        paper.paragraph(1, row, width - 3, size=6)


def _notes(rng: random.Random, invoice: Invoice) -> list[str]:
    sale = invoice.sale
    notes = [f"Trib aprox R$: {brazilian(sale.taxes)} Fonte: IBPT"] if rng.random() < 0.4 else []
    if invoice.is_test:
        notes.append("EMITIDA EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL")
    if invoice.is_cancelled:
        notes.append("NF-e CANCELADA")
    if invoice.numbering.emission == _EPEC:
        notes.append("DANFE impresso em contingência - EPEC regularmente recebido")
    if invoice.numbering.emission == _SECURITY_PAPER:
        notes.append("DANFE em contingência - impresso em decorrência de problemas técnicos")
    if invoice.referenced:
        notes.append(f"NF-e referenciada: {ids.grouped(invoice.referenced)}")
    if invoice.at.year >= 2026:
        ibs, cbs = sale.net / 1000, sale.net * 9 / 1000
        notes.append(f"IBS R$ {brazilian(sales.cents(ibs))} CBS R$ {brazilian(sales.cents(cbs))}")
    notes.append(
        rng.choice(("Pedido 4471 - Vendedor 12", "Documento emitido por ME ou EPP optante"))
    )
    return notes


def _print_label(paper: Sheets, invoice: Invoice) -> None:
    """Print the shipping label: key, parties and total, no goods."""
    seller, buyer, width = invoice.seller, invoice.buyer, paper.form.width_mm * 0.55
    paper.text(1, 4, "DANFE SIMPLIFICADO - ETIQUETA", size=11, is_bold=True)
    paper.bars(invoice.key, 3, 8, (width - 6, 12))
    paper.text(1, 24, "CHAVE DE ACESSO", size=6)
    paper.text(1, 28, ids.grouped(invoice.key), size=9)
    rows = (
        ("EMITENTE", ""),
        ("NOME / RAZÃO SOCIAL", seller.name),
        ("CNPJ / CPF", f"{seller.printed_id}   UF: {seller.place.state}"),
        (f"Nº {_dotted(invoice.numbering.number)}", f"SÉRIE {invoice.numbering.series:03d}"),
        ("DATA DE EMISSÃO", f"{invoice.at:%d/%m/%Y}"),
        ("DESTINATÁRIO", ""),
        ("NOME / RAZÃO SOCIAL", buyer.name),
        ("CNPJ / CPF", f"{ids.printed(buyer.tax_id)}   UF: {buyer.place.state}"),
        ("VALOR TOTAL DA NOTA", f"R$ {brazilian(invoice.total)}"),
    )
    for count, (label, value) in enumerate(rows):
        paper.text(1, 34 + 5 * count, label, size=7, is_bold=not value)
        paper.text(42, 34 + 5 * count, value, size=8)
