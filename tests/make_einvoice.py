"""PDF invoices with an embedded e-invoice: the same invoice in three syntaxes."""

import io
from collections.abc import Sequence
from pathlib import Path

import pypdfium2 as pdfium
from reportlab.pdfgen import canvas

_FOLDER = Path(__file__).parent / "extract" / "einvoices"
FACTUR_X = (_FOLDER / "factur-x.xml").read_bytes()
ZUGFERD1 = (_FOLDER / "zugferd1.xml").read_bytes()
UBL = (_FOLDER / "xrechnung-ubl.xml").read_bytes()

PAGE = (
    "Papierhaus Nord GmbH",
    "Speicherweg 4, 20095 Hamburg",
    "USt-IdNr. DE136695976",
    "Rechnung Nr. R-2026/0117",
    "Rechnungsdatum 09.03.2026",
    "Kopierpapier A4 80 g  20 x 4,50   86,00",
    "Fachbuch Steuerrecht   1 x 30,00  30,00",
    "Nettobetrag  111,00 EUR",
    "MwSt  17,49 EUR",
    "Gesamtbetrag  128,49 EUR",
)


def pdf(*files: tuple[str, bytes], lines: Sequence[str]) -> bytes:
    """Return a PDF with lines of text and embedded files."""
    drawn = io.BytesIO()
    page = canvas.Canvas(drawn, invariant=True)
    for number, line in enumerate(lines):
        page.drawString(60, 780 - 20 * number, line)
    page.showPage()
    page.save()
    document = pdfium.PdfDocument(drawn.getvalue())
    for name, content in files:
        document.new_attachment(name).set_data(content)
    saved = io.BytesIO()
    document.save(saved)
    return saved.getvalue()
