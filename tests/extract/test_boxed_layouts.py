"""Values in boxes and columns next to those of others; each layout was invented for its test."""

import datetime as dt

import pytest

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


def test_a_bracket_behind_the_label_of_the_customer_is_no_name() -> None:
    customer = _read(LETTERHEAD).details.customer_name

    assert customer is not None
    assert customer.value == "Sahyadri Sweets"


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


LETTER = """
 {head}
 Gerberstr. 14, 04105 Leipzig

 {lines}

 Rechnung Nr. 2026-118                       Leipzig, 03.03.2026
 Bezeichnung                                         Betrag EUR
 Wartung                                                 100,00
 Summe netto                                             100,00
 {taxes}
 Wir danken für Ihren Auftrag.
 Zahlbar ohne Abzug.
 Volksbank Leipzig
"""


@pytest.mark.parametrize(
    "lines",
    [
        "Mairie de Chalmazel\n Le Bourg\n 42920 Chalmazel",
        "Mr and Mrs Pemberton\n The Old Forge\n Church Stretton\n SY6 6DB",
        "Rijwielhandel Jansen\n Dorpsstraat 4\n 3732 HH De Bilt",
        "Exmo.(s) Sr.(s)\n Hotel Douro Velho\n Quinta do Ribeiro, 22\n 5100-428 Lamego",
    ],
)
def test_the_window_of_a_letter_shows_the_customer_without_a_street_too(lines: str) -> None:
    head = "Elektro Brandt GmbH"
    text = LETTER.format(head=head, lines=lines, taxes="19 % MwSt. 19,00   Gesamt 119,00")
    expected = lines.split("\n")[1 if lines.startswith("Exmo") else 0].strip()

    customer = _read(text).details.customer_name

    assert customer is not None
    assert customer.value == expected


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


def test_a_form_of_address_of_several_persons_is_no_name() -> None:
    lines = "The Directors\n Corbridge Glazing\n Unit 3 Tyne Mills\n Hexham\n NE46 1XL"
    taxes = "19 % MwSt. 19,00   Gesamt 119,00"
    text = LETTER.format(head="Elektro Brandt GmbH", lines=lines, taxes=taxes)

    customer = _read(text).details.customer_name

    assert customer is not None
    assert customer.value == "Corbridge Glazing"


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


def test_the_rest_of_an_address_below_its_street_is_no_customer() -> None:
    lines = "Polyhose India -Unit4\n 1/160, Kannivakkam\n Via Guduvancherry\n 603202 Tamil Nadu"
    taxes = "19 % MwSt. 19,00   Gesamt 119,00"
    text = LETTER.format(head="Elektro Brandt GmbH", lines=lines, taxes=taxes)

    assert _read(text).details.customer_name is None
