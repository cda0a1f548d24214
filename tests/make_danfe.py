"""A Brazilian A4 invoice (DANFE of an NF-e) of our own: a PDF with a text layer, and its truth."""

import datetime as dt
import io
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from reportlab.graphics.barcode import code128
from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.pdfgen import canvas

from tests.make_documents import Item, truth_items
from training.receipts.brazil import ids
from training.receipts.brazil.ids import Numbering
from training.receipts.brazil.sales import CENT, brazilian
from training.receipts.truth import Truth

SELLER = "METALURGICA SERRA AZUL LTDA"
SELLER_CNPJ = "11444777000161"
FURNITURE = (
    Item("MESA DE ACO 120X60", "4", "389.90"),
    Item("CADEIRA EMPILHAVEL PRETA", "12", "74.50"),
    Item("ARMARIO DE ACO 2 PORTAS", "1", "1249.00"),
)
MARGIN = 8 * mm
# The left edges of the product table's columns, from the margin.
COLUMNS_MM = (0, 18, 90, 104, 112, 122, 132, 150, 172)
COLUMN_LABELS = (
    *("CÓDIGO", "DESCRIÇÃO DOS PRODUTOS / SERVIÇOS", "NCM/SH", "CST", "CFOP", "UN"),
    *("QUANT.", "VALOR UNIT.", "VALOR TOTAL"),
)


@dataclass(frozen=True, slots=True)
class Invoice:
    """A PDF and what it says."""

    pdf: bytes
    truth: Truth


def danfe(
    number: int = 4321,
    *,
    items: Sequence[Item] = FURNITURE,
    on: dt.date = dt.date(2025, 3, 14),
) -> Invoice:
    """Return a Santa Catarina factory's invoice with its key as Code 128 and as text."""
    subtotal = sum((item.total for item in items), Decimal(0))
    tax = (subtotal * Decimal("0.12")).quantize(CENT, ROUND_HALF_UP)
    midnight = dt.datetime.combine(on, dt.time(0))
    key = ids.access_key(
        state=42, at=midnight, issuer=SELLER_CNPJ, model=55, numbering=Numbering(number)
    )
    truth = Truth(
        type="nfe",
        merchant_name=SELLER,
        merchant_tax_id=SELLER_CNPJ,
        issued_at=f"{on:%Y-%m-%d}T00:00:00-03:00",
        total=f"{subtotal:.2f}",
        subtotal=f"{subtotal:.2f}",
        tax=f"{tax:.2f}",
        currency="BRL",
        document_number=str(number),
        document_key=key,
        line_items=truth_items(items),
    )
    return Invoice(_print(truth, items, on), truth)


def _print(truth: Truth, items: Sequence[Item], on: dt.date) -> bytes:
    buffer = io.BytesIO()
    page = canvas.Canvas(buffer, pagesize=A4, invariant=True)
    _print_head(page, truth)
    _print_parties(page, on)
    _print_taxes(page, truth)
    _print_products(page, items)
    page.showPage()
    page.save()
    return buffer.getvalue()


def _print_head(page: canvas.Canvas, truth: Truth) -> None:
    number = f"Nº {int(truth.document_number or 0):011,d}".replace(",", ".")
    _text(page, 0, 8, f"RECEBEMOS DE {SELLER} OS PRODUTOS CONSTANTES DA NOTA FISCAL", size=6)
    _text(page, 0, 24, SELLER, size=11, is_bold=True)
    _text(page, 0, 29, "Rua das Oficinas, 900 - Joinville - SC - 89200-000", size=7)
    _text(page, 82, 22, "DANFE", size=12, is_bold=True)
    for place, line in enumerate(("Documento Auxiliar da", "Nota Fiscal Eletrônica", number)):
        _text(page, 82, 26 + 4 * place, line, size=7)
    _text(page, 82, 38, "SÉRIE 001  FOLHA 1/1", size=7)
    key = truth.document_key or ""
    bars = code128.Code128(key, barHeight=11 * mm, barWidth=0.29 * mm, quiet=False)
    bars.drawOn(page, MARGIN + 112 * mm, A4[1] - MARGIN - 32 * mm)
    _box(page, 112, 36, "CHAVE DE ACESSO", ids.grouped(key))


def _print_parties(page: canvas.Canvas, on: dt.date) -> None:
    _box(page, 0, 48, "NATUREZA DA OPERAÇÃO", "Venda de produção do estabelecimento")
    _box(page, 112, 48, "PROTOCOLO DE AUTORIZAÇÃO DE USO", f"342250001234567 - {on:%d/%m/%Y}")
    _box(page, 0, 57, "INSCRIÇÃO ESTADUAL", "254.123.456")
    _box(page, 112, 57, "CNPJ", "11.444.777/0001-61")
    _text(page, 0, 66, "DESTINATÁRIO / REMETENTE", size=6, is_bold=True)
    _box(page, 0, 70, "NOME / RAZÃO SOCIAL", "ESCOLA JARDIM DAS FLORES")
    _box(page, 112, 70, "CNPJ / CPF", "22.333.444/0001-81")
    _box(page, 155, 70, "DATA DA EMISSÃO", f"{on:%d/%m/%Y}")


def _print_taxes(page: canvas.Canvas, truth: Truth) -> None:
    total, tax = (brazilian(Decimal(figure or 0)) for figure in (truth.total, truth.tax))
    _text(page, 0, 82, "CÁLCULO DO IMPOSTO", size=6, is_bold=True)
    _box(page, 0, 86, "BASE DE CÁLCULO DO ICMS", total)
    _box(page, 45, 86, "VALOR DO ICMS", tax)
    _box(page, 140, 86, "VALOR TOTAL DOS PRODUTOS", total)
    _box(page, 0, 95, "VALOR DO FRETE", "0,00")
    _box(page, 45, 95, "DESCONTO", "0,00")
    _box(page, 140, 95, "VALOR TOTAL DA NOTA", total)


def _print_products(page: canvas.Canvas, items: Sequence[Item]) -> None:
    _text(page, 0, 107, "DADOS DOS PRODUTOS / SERVIÇOS", size=6, is_bold=True)
    _cells(page, 111, COLUMN_LABELS, size=5)
    for place, item in enumerate(items):
        figures = (brazilian(Decimal(item.unit_price)), brazilian(item.total))
        row = (f"{place + 101}", item.name, "94032000", "000", "5101", "UN", item.qty, *figures)
        _cells(page, 116 + 5 * place, row, size=7)


def _cells(page: canvas.Canvas, y_mm: float, texts: Sequence[str], *, size: float) -> None:
    for x_mm, text in zip(COLUMNS_MM, texts, strict=True):
        _text(page, x_mm, y_mm, text, size=size)


def _box(page: canvas.Canvas, x_mm: float, y_mm: float, label: str, value: str) -> None:
    """Print a value under its label in small capitals."""
    _text(page, x_mm, y_mm, label, size=5)
    _text(page, x_mm, y_mm + 4, value, size=8)


def _text(
    page: canvas.Canvas, x_mm: float, y_mm: float, text: str, *, size: float, is_bold: bool = False
) -> None:
    """Print at a distance from the left and the upper margin."""
    page.setFont("Helvetica-Bold" if is_bold else "Helvetica", size)
    page.drawString(MARGIN + x_mm * mm, A4[1] - MARGIN - y_mm * mm, text)
