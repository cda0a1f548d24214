"""Values in boxes and columns next to those of others; each layout was invented for its test."""

import datetime as dt

from recibo.extract import pipeline
from recibo.extract.model import Receipt
from tests.extract.typesetting import cnpj, text_page

ISSUER, CUSTOMER = cnpj("287714090001"), cnpj("053321180002")


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


LETTERHEAD = """
                     TAX INVOICE
                                            Invoice No.         Dated
 Konkan Cashew Works
                                            KCW/26-27/118       4-Mar-26
 Plot 9, Udyog Nagar, Ratnagiri 415612
 GSTIN: 27AAEPB8820K1ZL                     Buyer's Order No.   Dated
                                            PO/771              25-Feb-26
 Buyer (Bill to)
 Sahyadri Sweets
 Description                                    Quantity     Rate      Amount
 Cashew kernels W320                               10.00   800.00    8,000.00
 Total                                                               8,000.00
"""


def test_number_and_date_are_below_their_labels_past_rows_of_another_column() -> None:
    receipt = _read(LETTERHEAD)

    assert receipt.document_number is not None
    assert receipt.document_number.value == "KCW/26-27/118"
    assert receipt.issued_at is not None
    assert receipt.issued_at.value.date == dt.date(2026, 3, 4)


def test_a_title_in_another_column_does_not_hide_the_number_above_it() -> None:
    receipt = _read("""
 Torneria Bellavista S.r.l.
 Via Roma 4, 52025 Montevarchi (AR)          P.IVA 03881200459
 Tipo documento         Numero documento     Data documento
 FATTURA DIFFERITA      1044/26              31/10/2026
 Descrizione                                 Importo
 Lavorazione                                  1.407,00
 Totale imponibile    Imposta                     Totale documento
          1.407,00     309,54                             1.716,54
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == "1044/26"


BOXES = """
 Distribuidora Vale Verde S.A.
 Rua das Palmeiras, 10 - Natal - RN         CNPJ {issuer}
 Nota Fiscal de Energia Elétrica            Emissão: 09/08/2026
 Conta mês           Vencimento                    Total a pagar
      08/2026                     26/08/2026            R$ 236,48
"""


def test_a_due_date_is_centered_in_the_box_of_its_label() -> None:
    due = _read(BOXES.format(issuer=ISSUER)).details.due_date

    assert due is not None
    assert due.value == dt.date(2026, 8, 26)


AGENCY = """
 Marlow & Finch Creative
 INVOICE                                    77 Beacon St Floor 3
                                            Boston, MA 02108
 BILL TO                      INVOICE #     DATE          DUE DATE
 Harborview Seafood           MF-2291       06/30/2026    07/30/2026
 Activity                                                     Amount
 Brand workshop                                             1,800.00
 TOTAL                                                     $1,800.00
"""


def test_labels_end_with_their_column() -> None:
    """`INVOICE #   DATE` has no invoice date, `DATE   DUE DATE` no date due."""
    receipt = _read(AGENCY)

    assert receipt.document_number is not None
    assert receipt.document_number.value == "MF-2291"
    assert receipt.details.due_date is not None
    assert receipt.details.due_date.value == dt.date(2026, 7, 30)


def test_a_number_in_the_column_after_its_label_is_no_street() -> None:
    receipt = _read("""
 Kettner Hosting AG
 Uferweg 40, 63571 Gelnhausen
 Rechnungsnr.      30064443       Kundennr.      47774
 Rechnungsdatum    7. Mai 2026
 Grundgebühr                                      19,99
 Gesamtbetrag                                     19,99
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == "30064443"
