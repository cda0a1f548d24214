"""Receipts of our own as text, and the rows that the finders see."""

from recibo.extract.fields.rows import Row, rows
from tests.extract.typesetting import roll

MALAYSIAN = """
          KEDAI AMAN HARDWARE SDN BHD
                 (123456-A)
         NO. 12, JALAN MAWAR 3, TAMAN SERI
            43000 KAJANG, SELANGOR
        TEL: 03-8733 1234  FAX: 03-8733 1235
            GST ID: 000123456789
                TAX INVOICE
Invoice No: CS00123      Date: 05/03/2018 14:31
ITEM                QTY   PRICE   AMOUNT
PAINT BRUSH 2IN       2    4.50     9.00
WALL PAINT 5L         1   60.35    60.35
Sub Total                          69.35
GST 6%                              4.16
Rounding                           -0.01
TOTAL (RM)                         73.50
CASH                              100.00
CHANGE                             26.50
       GOODS SOLD ARE NOT RETURNABLE
"""

AMERICAN = """
             BLUE HERON GRILL
             14 Harbor Street
            Portland, OR 97201
              (503) 555-0142
Server: Ana               03/04/2019
Check: 20417               7:05 PM
1 Fish Tacos                  $14.00
2 Iced Tea                     $6.00
Subtotal                      $20.00
Tax                            $1.60
Total                         $21.60
VISA                          $21.60
"""

GERMAN = """
            BACKHAUS LINDE GMBH
              Hauptstr. 5
           D-50667 Köln
        UST-ID-NR: DE812277765
Rechnung Nr. 4711
Datum: 03.04.2019     Uhrzeit 14:35
2x Brezel          a  0,90      1,80
1x Kuchen                      10,10
Summe             EUR          11,90
Netto              10,00
MwSt 19%            1,90
Bar                EUR          20,00
Rückgeld           EUR           8,10
"""


def rows_of(text: str) -> tuple[Row, ...]:
    """Return the rows of a paper as an engine would read it."""
    return rows([roll(text, exact=False)])
