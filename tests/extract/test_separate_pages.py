"""Files whose pages are documents of their own."""

from recibo.extract import pipeline
from recibo.extract.model import Hint, Receipt
from tests.extract.typesetting import text_page

TICKET = """
CITY CABS LTD
12 Harbour Road
Receipt No: T-{number}
Date: {day:02}/05/2026 10:1{day}
Trip to the station              {fare}
TOTAL USD                        {fare}
Paid by card                     {fare}
"""
INVOICE = """
NORTH PRINT LTD                                 INVOICE
Invoice No: 4471                 Date: 02/05/2026
Labels A4             10     4.50      45.00
Toner                  2    80.00     160.00
Carried forward                       205.00
"""
END_OF_INVOICE = """
NORTH PRINT LTD                                 INVOICE
Invoice No: 4471                 Date: 02/05/2026
Carried over                          205.00
Envelopes              5     3.00      15.00
TOTAL USD                             220.00
"""
ANNEX = """
NORTH PRINT LTD
Page 2/2
Statement of 30/04/2026
Your payment of April            205.00
TOTAL USD                        205.00
"""


def understood(*texts: str) -> Receipt:
    pages = [text_page(text, number=number) for number, text in enumerate(texts, start=1)]
    return pipeline.understand([[page] for page in pages])


def hints(receipt: Receipt) -> list[Hint]:
    return [hint for page in receipt.pages if page.quality for hint in page.quality.hints]


def test_tickets_of_a_month_in_one_file_are_not_sure() -> None:
    fares = ("18.40", "22.10", "31.75")
    receipt = understood(
        *(
            TICKET.format(number=500 + day, day=day, fare=fare)
            for day, fare in enumerate(fares, start=1)
        )
    )

    assert [Hint.SEVERAL_DOCUMENTS] == hints(receipt)
    assert receipt.total
    assert receipt.total.confidence < 0.7
    assert receipt.confidence < 0.7


def test_pages_of_one_invoice_belong_together() -> None:
    receipt = understood(INVOICE, END_OF_INVOICE)

    assert [] == hints(receipt)
    assert receipt.total
    assert receipt.total.confidence > 0.9
    assert [] == hints(understood(INVOICE + "TOTAL USD      220.00\n", ANNEX))


def test_two_copies_of_a_ticket_are_one_document() -> None:
    ticket = TICKET.format(number=501, day=1, fare="18.40")

    assert [] == hints(understood(ticket, ticket))
