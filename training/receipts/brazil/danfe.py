"""The DANFE: stub, head, parties, taxes, items over several pages, notes."""

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
_EPEC, _SECURITY_FORM = 4, 5


@dataclass(frozen=True, slots=True)
class Charges:
    """Charges in addition to the items, and the taxes."""

    base: Decimal = Decimal(0)
    icms: Decimal = Decimal(0)
    substitution: Decimal = Decimal(0)
    freight: Decimal = Decimal(0)
    insurance: Decimal = Decimal(0)
    other: Decimal = Decimal(0)
    ipi: Decimal = Decimal(0)

    def rounded(self) -> "Charges":
        """Return the amounts rounded to the cent."""
        amounts = {field.name: sales.cents(getattr(self, field.name)) for field in fields(self)}
        return replace(self, **amounts)


@dataclass(frozen=True, slots=True)
class Buyer:
    """The recipient of the invoice."""

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
    #: Date of shipment; None if not printed.
    left_at: dt.datetime | None
    numbering: Numbering
    key: str
    is_test: bool = False
    is_cancelled: bool = False
    #: The key of another document to which this one refers.
    referenced: str | None = None

    @property
    def total(self) -> Decimal:
        """The total of the invoice."""
        charges = self.charges
        on_top = (
            charges.substitution + charges.freight + charges.insurance + charges.other + charges.ipi
        )
        return self.sale.total + on_top


@dataclass(frozen=True, slots=True)
class Style:
    """The layout of a DANFE in some software."""

    face: Face
    #: Keys of `labels.DANFE` and `labels.TABLES`.
    words: str = "full"
    table: str = "common"
    is_landscape: bool = False
    has_tax_box: bool = True
    is_framed: bool = True
    has_stub: bool = True
    #: Whether it is the shipping label (DANFE simplificado), which lists no items.
    is_label: bool = False

    @property
    def name(self) -> str:
        """The name of the layout in reports."""
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
    pages = Sheets(Form(style.face, is_framed=style.is_framed, is_landscape=style.is_landscape))
    if style.is_label:
        _print_label(pages, invoice)
        return pages.finish()
    if style.has_stub:
        _print_stub(rng, pages, invoice)
    items = _Items(pages, invoice, style)
    _print_head(rng, pages, invoice, style, f"{1}/{items.page_count}")
    _print_parties(pages, invoice, style)
    _print_taxes(pages, invoice, style)
    _print_transport(rng, pages)
    items.print(rng)
    return pages.finish()


def _print_stub(rng: random.Random, pages: Sheets, invoice: Invoice) -> None:
    """Print the slip that the buyer signs."""
    text = rng.choice(labels.STUBS).format(name=invoice.seller.name)
    width = pages.form.width_mm * 0.8
    for row in pages.wrapped(text, width, 6):
        pages.y += 2.6
        pages.text(1, pages.y, row, size=6)
    pages.y += 2
    left = [
        Box("DATA DE RECEBIMENTO", "", 1),
        Box("IDENTIFICAÇÃO E ASSINATURA DO RECEBEDOR", "", 3),
    ]
    number = Box(
        "NF-e", f"Nº {_dotted(invoice.numbering.number)} SÉRIE {invoice.numbering.series:03d}"
    )
    pages.row([*left, number])
    pages.y += 3


def _dotted(number: int) -> str:
    return f"{number:011,d}".replace(",", ".")


def _print_head(
    rng: random.Random, pages: Sheets, invoice: Invoice, style: Style, folio: str
) -> None:
    """Print seller, title and key; later pages repeat them."""
    top, width = pages.y, pages.form.width_mm
    seller, place = invoice.seller, invoice.seller.place
    title_x, key_x = width * 0.41, width * 0.57
    is_labelled = rng.random() < 0.6
    pages.y = top + (2.5 if is_labelled else 0)
    if is_labelled:
        pages.text(1, top + 2.2, "IDENTIFICAÇÃO DO EMITENTE", size=5)
    pages.y += 2
    pages.paragraph(1, seller.name, title_x - 4, size=10, is_bold=True)
    pages.y += 1
    for row in (
        f"{seller.street} - {seller.quarter}",
        f"{place.city} - {place.state} - CEP {seller.postal_code}",
        f"Fone/Fax: {seller.phone}",
    ):
        pages.y += 3
        pages.text(1, pages.y, row, size=7)
    _print_title(pages, invoice, (title_x, top), folio)
    _print_key(pages, invoice, (key_x, top))
    pages.y = max(pages.y, top + 33)
    if style.is_framed:
        pages.frame(0, top, title_x, pages.y - top)
        pages.frame(title_x, top, key_x - title_x, pages.y - top)
        pages.frame(key_x, top, width - key_x, pages.y - top)
    words = labels.DANFE[style.words]
    protocol = f"{invoice.key[:2]}{invoice.at:%y}0{rng.randrange(10**10):010d}"
    stamp = invoice.at + dt.timedelta(seconds=rng.randrange(2, 90))
    pages.row(
        [
            Box(words["nature"], rng.choice(labels.NATURES), 1.3),
            Box(words["protocol"], f"{protocol} - {stamp:%d/%m/%Y %H:%M:%S}", 1),
        ]
    )
    pages.row(
        [
            Box(words["state_id"], seller.state_id or "ISENTO"),
            Box(words["substitute_id"], ""),
            Box(words["tax_id"], seller.printed_id),
        ]
    )


def _print_title(pages: Sheets, invoice: Invoice, place: tuple[float, float], folio: str) -> None:
    x, top = place[0] + 2, place[1]
    pages.text(x + 8, top + 5, "DANFE", size=12, is_bold=True)
    rows = (
        "Documento Auxiliar da",
        "Nota Fiscal Eletrônica",
        "0 - ENTRADA   1 - SAÍDA    1",
    )
    for count, row in enumerate(rows):
        pages.text(x, top + 9 + 3.4 * count, row, size=6.5)
    numbering = invoice.numbering
    pages.text(x, top + 21, f"Nº {_dotted(numbering.number)}", size=9, is_bold=True)
    pages.text(x, top + 25, f"SÉRIE {numbering.series:03d}", size=8, is_bold=True)
    pages.text(x, top + 29, f"FOLHA {folio}", size=7)


def _print_key(pages: Sheets, invoice: Invoice, place: tuple[float, float]) -> None:
    x, top = place
    width = pages.form.width_mm - x
    pages.bars(invoice.key, x + 3, top + 2, (width - 6, 10))
    if pages.form.is_framed:
        pages.frame(x, top + 13.5, width, 8)
    pages.text(x + 0.8, top + 16, "CHAVE DE ACESSO", size=pages.form.label_size)
    # A key is never cut: if it is too long for its box, the type is smaller.
    key = ids.grouped(invoice.key)
    size = min(8.0, 8 * (width - 2) * MM / pages.form.face.width(key, 8, is_bold=True))
    pages.text(x + width / 2, top + 20.4, key, size=size, anchor="middle", is_bold=True)
    if invoice.numbering.emission == _SECURITY_FORM:
        pages.text(x + 2, top + 25, "DADOS DA NF-E", size=6)
        pages.bars(_security_digits(invoice), x + 3, top + 26, (width - 6, 6))
        return
    text = "Consulta de autenticidade no portal nacional da NF-e"
    for count, row in enumerate((text, "www.nfe.fazenda.gov.br/portal ou no site da Sefaz")):
        pages.text(x + width / 2, top + 26 + 3 * count, row, size=6.5, anchor="middle")


def _security_digits(invoice: Invoice) -> str:
    """Return the 36 digits of the second barcode of a document on a security form."""
    cents = f"{invoice.total:.2f}".replace(".", "")
    body = f"{invoice.key[:2]}5{invoice.buyer.tax_id:>014}{cents:>014}11{invoice.at:%d}"
    return body + ids.check_digit(body)


def _print_parties(pages: Sheets, invoice: Invoice, style: Style) -> None:
    words, buyer, left = labels.DANFE[style.words], invoice.buyer, invoice.left_at
    pages.heading(words["recipient"])
    pages.row(
        [
            Box(words["name"], buyer.name, 5),
            Box(words["buyer_id"], ids.printed(buyer.tax_id), 2),
            Box(words["issued"], f"{invoice.at:%d/%m/%Y}", 1.4, is_bold=True),
        ]
    )
    pages.row(
        [
            Box("ENDEREÇO", buyer.street, 3.5),
            Box("BAIRRO / DISTRITO", "Centro", 2),
            Box("CEP", f"{buyer.place.postal}-000", 1.5),
            Box(words["left"], f"{left:%d/%m/%Y}" if left else "", 1.4),
        ]
    )
    pages.row(
        [
            Box("MUNICÍPIO", buyer.place.city, 3.5),
            Box("UF", buyer.place.state, 0.6),
            Box("FONE / FAX", "", 1.4),
            Box("INSCRIÇÃO ESTADUAL", "ISENTO", 1.5),
            Box(words["clock"], f"{left:%H:%M:%S}" if left else "", 1.4),
        ]
    )


def _print_taxes(pages: Sheets, invoice: Invoice, style: Style) -> None:
    words, charges, sale = labels.DANFE[style.words], invoice.charges, invoice.sale
    pages.heading("CÁLCULO DO IMPOSTO")
    base_st = charges.substitution * 5
    upper = [
        ("base", charges.base),
        ("icms", charges.icms),
        ("base_st", base_st),
        ("icms_st", charges.substitution),
        ("products", sale.gross),
    ]
    discount = sale.item_discounts - sale.item_surcharges
    lower = [
        ("freight", charges.freight),
        ("insurance", charges.insurance),
        ("discount", max(Decimal(0), discount)),
        ("other", charges.other - (min(Decimal(0), discount))),
        ("ipi", charges.ipi),
        *([("all_taxes", sale.taxes)] if style.has_tax_box else []),
        ("total", invoice.total),
    ]
    for row in (upper, lower):
        pages.row(
            [
                Box(words[name], brazilian(amount), anchor="right", is_bold=name == "total")
                for name, amount in row
            ]
        )


def _print_transport(rng: random.Random, pages: Sheets) -> None:
    if rng.random() < 0.6:
        pages.heading("TRANSPORTADOR / VOLUMES TRANSPORTADOS")
        pages.row(
            [
                Box("RAZÃO SOCIAL", rng.choice(("O MESMO", "TRANSPORTES RODA FORTE EIRELI")), 3),
                Box("FRETE POR CONTA", "0-Emitente", 1),
                Box("PLACA DO VEÍCULO", "", 1),
                Box("PESO BRUTO", "12,500", 1),
                Box("PESO LÍQUIDO", "11,900", 1),
            ]
        )


class _Items:
    """The table of items, which may continue over several pages."""

    def __init__(self, pages: Sheets, invoice: Invoice, style: Style) -> None:
        self._pages, self._invoice, self._style = pages, invoice, style
        self._columns = labels.TABLES[style.table]
        self._rows = [self._names(item) for item in invoice.sale.items]
        height = sum(len(names) for names in self._rows) * _ROW_MM
        first = pages.form.height_mm - (175 if not style.is_landscape else 150)
        later = pages.form.height_mm - 80
        self.page_count = 1 if height <= first else 2 + int((height - first) // later)

    def _width(self, name: str) -> float:
        shares = sum(share for _, share, _ in self._columns)
        own = next(share for _, share, role in self._columns if role == name)
        return self._pages.form.width_mm * own / shares

    def _names(self, item: Sold) -> list[str]:
        return self._pages.wrapped(item.name, self._width("name") - 2, _ROW_SIZE)

    def print(self, rng: random.Random) -> None:
        """Print all items, and the notes below those of the first page."""
        pages, page = self._pages, 1
        self._headings()
        end = pages.form.height_mm - _NOTES_MM
        for item, names in zip(self._invoice.sale.items, self._rows, strict=True):
            if pages.y + len(names) * _ROW_MM > end:
                if page == 1:
                    _print_notes(rng, pages, self._invoice)
                page += 1
                pages.turn()
                folio = f"{page}/{max(page, self.page_count)}"
                _print_head(rng, pages, self._invoice, self._style, folio)
                self._headings()
                end = pages.form.height_mm - 4
            self._row(item, names)
        if page == 1:
            _print_notes(rng, pages, self._invoice)

    def _headings(self) -> None:
        pages = self._pages
        pages.heading("DADOS DOS PRODUTOS / SERVIÇOS")
        size = min(5.0, pages.form.label_size)
        self._cells([heading for heading, _, _ in self._columns], size, pages.y + 2.6)
        pages.y += 3.6
        if self._style.is_framed:
            pages.rule()

    def _row(self, item: Sold, names: Sequence[str]) -> None:
        pages = self._pages
        texts = self._texts(item)
        self._cells([texts[role] for _, _, role in self._columns], _ROW_SIZE, pages.y + _ROW_MM)
        x = self._left("name")
        for count, rest in enumerate(names[1:], 2):
            pages.text(x + 0.6, pages.y + count * _ROW_MM, rest, size=_ROW_SIZE)
        pages.y += len(names) * _ROW_MM

    def _left(self, name: str) -> float:
        shares = sum(share for _, share, _ in self._columns)
        left = 0.0
        for _, share, role in self._columns:
            if role == name:
                break
            left += share
        return self._pages.form.width_mm * left / shares

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
        pages = self._pages
        for (_, _, role), text in zip(self._columns, texts, strict=True):
            width = self._width(role) - 1
            shown = pages.fitting(text, width, size)
            is_figure = role in _FIGURES
            x = self._left(role) + (width if is_figure else 0.6)
            pages.text(x, y, shown, size=size, anchor="right" if is_figure else "left")


def _print_notes(rng: random.Random, pages: Sheets, invoice: Invoice) -> None:
    """Print the additional information."""
    pages.y = max(pages.y + 2, pages.form.height_mm - _NOTES_MM + 3)
    pages.heading("DADOS ADICIONAIS")
    top = pages.y
    width = pages.form.width_mm * 0.65
    if pages.form.is_framed:
        pages.frame(0, top, width, 20)
        pages.frame(width, top, pages.form.width_mm - width, 20)
    pages.text(1, top + 2.2, "INFORMAÇÕES COMPLEMENTARES", size=5)
    pages.text(width + 1, top + 2.2, "RESERVADO AO FISCO", size=5)
    pages.y = top + 3
    for row in _notes(rng, invoice):
        pages.paragraph(1, row, width - 3, size=6)


def _notes(rng: random.Random, invoice: Invoice) -> list[str]:
    sale = invoice.sale
    notes = [f"Trib aprox R$: {brazilian(sale.taxes)} Fonte: IBPT"] if rng.random() < 0.4 else []
    if invoice.is_test:
        notes.append("EMITIDA EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL")
    if invoice.is_cancelled:
        notes.append("NF-e CANCELADA")
    if invoice.numbering.emission == _EPEC:
        notes.append("DANFE impresso em contingência - EPEC regularmente recebido")
    if invoice.numbering.emission == _SECURITY_FORM:
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


def _print_label(pages: Sheets, invoice: Invoice) -> None:
    """Print the shipping label: key, parties and total, no items."""
    seller, buyer, width = invoice.seller, invoice.buyer, pages.form.width_mm * 0.55
    pages.text(1, 4, "DANFE SIMPLIFICADO - ETIQUETA", size=11, is_bold=True)
    pages.bars(invoice.key, 3, 8, (width - 6, 12))
    pages.text(1, 24, "CHAVE DE ACESSO", size=6)
    pages.text(1, 28, ids.grouped(invoice.key), size=9)
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
        pages.text(1, 34 + 5 * count, label, size=7, is_bold=not value)
        pages.text(42, 34 + 5 * count, value, size=8)
