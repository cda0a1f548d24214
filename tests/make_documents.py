"""Documents of our own with their exact truth: a till receipt and a Brazilian NFC-e.

Each is a value: change a field with `dataclasses.replace`, or pass another number, and the file's
bytes differ. The A4 invoice is in `make_danfe`.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from PIL import Image

from tests import drawing
from tests.drawing import AnyRow
from training.receipts.brazil import ids
from training.receipts.brazil.ids import Numbering
from training.receipts.brazil.sales import CENT, brazilian
from training.receipts.strips import RULE, Row
from training.receipts.truth import Truth, TruthItem


@dataclass(frozen=True, slots=True)
class Item:
    """A line item, spelled as in the API."""

    name: str
    qty: str
    unit_price: str

    @property
    def total(self) -> Decimal:
        """The quantity times the price, to the cent."""
        return (Decimal(self.qty) * Decimal(self.unit_price)).quantize(CENT, ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class PrintedDocument:
    """A printed receipt and its true values."""

    rows: tuple[AnyRow, ...]
    truth: Truth
    qr: str = ""

    def picture(self) -> Image.Image:
        """Draw it."""
        return drawing.picture(self.rows, qr=self.qr)

    def file(self, kind: drawing.PictureFormat = "JPEG") -> bytes:
        """Return it as a picture file."""
        return drawing.encode(self.picture(), kind)

    def pdf(self) -> bytes:
        """Return it as a PDF with a text layer, without its QR code."""
        return drawing.pdf(self.rows)


CAFE_ITEMS = (
    Item("Nasi Lemak Ayam", "2", "8.50"),
    Item("Teh Tarik", "2", "2.80"),
    Item("Roti Canai", "3", "1.80"),
    Item("Kaya Toast", "1", "4.20"),
)
BAKERY_ITEMS = (
    Item("PAO FRANCES KG", "0.535", "18.90"),
    Item("CAFE TORRADO 500G", "1", "21.50"),
    Item("LEITE INTEGRAL 1L", "2", "5.49"),
)
BAKERY_CNPJ = "11222333000181"


def till_receipt(
    number: str = "A-001042",
    *,
    items: Sequence[Item] = CAFE_ITEMS,
    at: dt.datetime = dt.datetime(2025, 3, 14, 12, 41),  # noqa: DTZ001 - receipts print no zone
) -> PrintedDocument:
    """Return a Malaysian café's receipt, rounded to five sen as the law there asks."""
    subtotal = sum((item.total for item in items), Decimal(0))
    tax = (subtotal * Decimal("0.06")).quantize(CENT, ROUND_HALF_UP)
    total = _to_five_sen(subtotal + tax)
    cash = (total // 50 + 1) * 50
    rows: tuple[AnyRow, ...] = (
        Row("KEDAI KOPI MESRA SDN BHD", is_centered=True, is_bold=True),
        Row("198201004567 (87654-X)", is_centered=True),
        Row("12, Jalan Bunga Raya", is_centered=True),
        Row("50480 Kuala Lumpur, Malaysia", is_centered=True),
        Row("SST No: W10-1808-32000123", is_centered=True),
        Row(),
        Row("RECEIPT", is_centered=True, is_bold=True),
        Row(f"Receipt No: {number}"),
        Row(f"Date: {at:%d/%m/%Y %H:%M}"),
        RULE,
        *(row for item in items for row in _till_rows(item)),
        RULE,
        Row("Subtotal", f"{subtotal:.2f}"),
        Row("Service Tax 6%", f"{tax:.2f}"),
        Row("Rounding", f"{total - subtotal - tax:+.2f}"),
        Row("TOTAL", f"RM {total:.2f}", is_bold=True),
        Row("Cash", f"{cash:.2f}"),
        Row("Change", f"{cash - total:.2f}"),
        Row(),
        Row("Terima kasih. Please come again!", is_centered=True),
    )
    truth = Truth(
        type="receipt",
        merchant_name="KEDAI KOPI MESRA SDN BHD",
        merchant_tax_id="W10180832000123",
        issued_at=f"{at:%Y-%m-%dT%H:%M:%S}+08:00",
        total=f"{total:.2f}",
        subtotal=f"{subtotal:.2f}",
        tax=f"{tax:.2f}",
        currency="MYR",
        document_number=number,
        document_key=None,
        line_items=truth_items(items),
    )
    return PrintedDocument(rows, truth)


def nfce(
    number: int = 12345,
    *,
    items: Sequence[Item] = BAKERY_ITEMS,
    at: dt.datetime = dt.datetime(2025, 3, 14, 8, 17, 42),  # noqa: DTZ001 - receipts print no zone
) -> PrintedDocument:
    """Return a São Paulo bakery's NFC-e, its valid access key and its QR code."""
    total = sum((item.total for item in items), Decimal(0))
    tax = (total * Decimal("0.1345")).quantize(CENT, ROUND_HALF_UP)
    key = ids.access_key(state=35, at=at, issuer=BAKERY_CNPJ, model=65, numbering=Numbering(number))
    rows: tuple[AnyRow, ...] = (
        Row("PADARIA AURORA DO CAMPO LTDA", is_centered=True, is_bold=True),
        Row("CNPJ: 11.222.333/0001-81", is_centered=True),
        Row("Rua das Acácias, 120 - São Paulo - SP", is_centered=True),
        Row("Documento Auxiliar da Nota Fiscal de", is_centered=True),
        Row("Consumidor Eletrônica", is_centered=True),
        RULE,
        Row("Código Descrição Qtde UN Vl Unit", "Vl Total"),
        *(row for place, item in enumerate(items, 1) for row in _nfce_rows(place, item)),
        RULE,
        Row("Qtde. total de itens", str(len(items))),
        Row("Valor Total R$", brazilian(total)),
        Row("Valor a Pagar R$", brazilian(total), is_bold=True),
        Row("FORMA PAGAMENTO", "VALOR PAGO R$"),
        Row("Cartão de Débito", brazilian(total)),
        RULE,
        Row("Consulte pela Chave de Acesso em", is_centered=True),
        Row("www.nfce.fazenda.sp.gov.br/consulta", is_centered=True),
        *(Row(line, is_centered=True) for line in _key_lines(key)),
        Row("CONSUMIDOR NÃO IDENTIFICADO", is_centered=True),
        Row(f"NFC-e nº {number:09d} Série 001", is_centered=True),
        Row(f"{at:%d/%m/%Y %H:%M:%S}", is_centered=True),
        Row("Protocolo de Autorização: 135250001234567", is_centered=True),
        Row("Tributos Totais Incidentes", is_centered=True),
        Row(f"(Lei Federal 12.741/2012): R$ {brazilian(tax)}", is_centered=True),
    )
    truth = Truth(
        type="nfce",
        merchant_name="PADARIA AURORA DO CAMPO LTDA",
        merchant_tax_id=BAKERY_CNPJ,
        issued_at=f"{at:%Y-%m-%dT%H:%M:%S}-03:00",
        total=f"{total:.2f}",
        subtotal=f"{total:.2f}",
        tax=f"{tax:.2f}",
        currency="BRL",
        document_number=str(number),
        document_key=key,
        line_items=truth_items(items),
    )
    query = f"{key}|2|1|1|{'0A' * 20}"
    return PrintedDocument(rows, truth, qr=f"https://www.nfce.fazenda.sp.gov.br/qrcode?p={query}")


def _till_rows(item: Item) -> tuple[Row, Row]:
    quantity = f"  {item.qty} x {Decimal(item.unit_price):.2f}"
    return Row(item.name), Row(quantity, f"{item.total:.2f}")


def _nfce_rows(place: int, item: Item) -> tuple[Row, Row]:
    is_weighed = "." in item.qty
    amount = f"{brazilian(Decimal(item.qty), 3)} KG" if is_weighed else f"{item.qty} UN"
    quantity = f"  {amount} X {brazilian(Decimal(item.unit_price))}"
    return Row(f"{place:03d} {7891000 + place} {item.name}"), Row(quantity, brazilian(item.total))


def truth_items(items: Sequence[Item]) -> tuple[TruthItem, ...]:
    return tuple(
        TruthItem(item.name, item.qty, item.unit_price, f"{item.total:.2f}") for item in items
    )


def _key_lines(key: str) -> tuple[str, str]:
    """Return the key as printed on an 80 mm receipt: groups of four on two lines."""
    groups = [key[start : start + 4] for start in range(0, 44, 4)]
    return " ".join(groups[:6]), " ".join(groups[6:])


def _to_five_sen(amount: Decimal) -> Decimal:
    return (amount * 20).quantize(Decimal(1), ROUND_HALF_UP) / 20
