import pytest

from recibo.extract.fields.document_type import types
from recibo.extract.layout.rows import rows
from recibo.extract.model import DocumentType
from tests.extract.fields.foreign_receipts import AMERICAN, GERMAN
from tests.extract.typesetting import text_page

INVOICE = """
AMAN MAJU LIMITED                                                          INVOICE
                                                        Invoice Number: INV-7788
                                                        Invoice Date: 3 May 2018
                                                        Due Date: 2 June 2018
Bill To: Buyer Company                                  Payment Terms: 30 days
Consulting services                                1          100.00        100.00
Total due                                                                   100.00
"""


PAID = """
Receipt                                                              AMAN LIMITED
Invoice number 4F3A-0012
Receipt number 2231-4456
Date paid      3 May 2018
Bill to        Jane Roe
Pro plan                                           1          20.00        20.00
Total                                                                      20.00
Number paid                                                                20.00
"""

FACTURETTE = """
  PHARMACIE DES TILLEULS
        FACTURETTE
Pastilles           2,10
Total TTC           2,10
CB                  2,10
"""

SIMPLIFIED = """
   ULTRAMARINOS ROSA S.L.
   FACTURA SIMPLIFICADA
LECHE               1,10
TOTAL               1,10
EFECTIVO            1,10
"""


def likeliest(text: str, hint: DocumentType | None = None) -> DocumentType:
    text_pages = [text_page(text)]
    return types(text_pages, rows(text_pages), hint)[0].value


@pytest.mark.parametrize("text", [AMERICAN, GERMAN, FACTURETTE, SIMPLIFIED])
def test_a_till_receipt_is_a_receipt(text: str) -> None:
    assert likeliest(text) is DocumentType.RECEIPT


def test_a_page_with_a_billing_address_is_an_invoice() -> None:
    assert likeliest(INVOICE) is DocumentType.INVOICE


def test_a_page_titled_receipt_is_one_even_if_it_mentions_its_invoice() -> None:
    assert likeliest(PAID) is DocumentType.RECEIPT
    assert likeliest(PAID.replace("Receipt     ", "Invoice     ")) is DocumentType.INVOICE


def test_the_hint_does_not_override_the_document() -> None:
    assert likeliest(INVOICE, DocumentType.RECEIPT) is DocumentType.INVOICE
    assert likeliest(AMERICAN, DocumentType.INVOICE) is DocumentType.RECEIPT
