"""Layouts of many countries, read as whole documents; each was invented for its test."""

import datetime as dt
from decimal import Decimal

from recibo.extract import pipeline
from recibo.extract.model import PaymentMethod, Receipt
from tests.extract.typesetting import text_page


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


def _items(receipt: Receipt) -> list[tuple[str, Decimal | None, Decimal | None, Decimal | None]]:
    values = [item.value for item in receipt.line_items]
    return [(item.name, item.qty, item.unit_price, item.total) for item in values]


GREEK = """
   PANTOPOLEIO THALASSA O.E.
   PARALIA 4, 740 52 PANORMOS
   AFM: 094479216
   AR. APOD: 001288   03-05-2026
   ELIES 500G            4,20  13%
   SAPOUNI               2,50  24%
   SYNOLO                6,70
   METRITA              10,00

FPA%    KATHARI AXIA     FPA    SYNOLO
13              3,72    0,48      4,20
24              2,02    0,48      2,50
"""


def test_the_total_is_not_that_of_the_first_rate_of_a_table() -> None:
    receipt = _read(GREEK)

    assert receipt.total
    assert receipt.total.value == Decimal("6.70")
    assert receipt.tax
    assert receipt.tax.value == Decimal("0.96")


def test_greek_labels_in_latin_letters_are_known() -> None:
    receipt = _read(GREEK)

    assert [item.value.name for item in receipt.line_items] == ["ELIES 500G", "SAPOUNI"]
    assert receipt.document_number
    assert receipt.document_number.value == "001288"
    (payment,) = receipt.details.payments
    assert payment.value.method is PaymentMethod.CASH
    assert payment.value.tendered == Decimal("10.00")


PORTUGUESE = """
      DROGARIA DO CAIS, LDA
 Fatura Simplificada FS A/4471   2026-08-02 10:14
------------------------------------------
 IVA  DESCRIÇÃO                      VALOR
 A   SABONETE                         2,10
 C   LEITE MEIO GORDO                 0,95
 A   ESCOVA
     2 X 1,75                         3,50
------------------------------------------
 TOTAL A PAGAR                        6,55
"""


def test_letters_of_tax_rates_in_a_column_are_not_part_of_names() -> None:
    assert _items(_read(PORTUGUESE)) == [
        ("SABONETE", None, None, Decimal("2.10")),
        ("LEITE MEIO GORDO", None, None, Decimal("0.95")),
        ("ESCOVA", Decimal(2), Decimal("1.75"), Decimal("3.50")),
    ]


SOUTH_AFRICAN = """
VELD & VINE SUPPLIES CC                                            TAX INVOICE
VAT No: 4870119934                                     Invoice No:     VV-118
                                                       Invoice Date:   2026/02/11

Qty    Description                        Unit Price (Excl)       Total (Excl)
3      Fencing pliers                             R 1 240.00        R 3 720.00
10     Wire 2.5mm (kg)                               R 96.50          R 965.00

                                          Subtotal                  R 4 685.00
                                          VAT 15%                     R 702.75
                                          TOTAL DUE                 R 5 387.75
"""


def test_spaces_separate_thousands_of_prices_with_points() -> None:
    receipt = _read(SOUTH_AFRICAN)

    assert receipt.total
    assert receipt.total.value == Decimal("5387.75")
    assert _items(receipt) == [
        ("Fencing pliers", Decimal(3), Decimal("1240.00"), Decimal("3720.00")),
        ("Wire 2.5mm (kg)", Decimal(10), Decimal("96.50"), Decimal("965.00")),
    ]


NIGERIAN = """
ADEWALE PRINT HOUSE LIMITED                              Sales Invoice
                                                         Invoice Number    AP/0091
                                                         Invoice Date      03/06/2026

SN   Particulars                    Unit     Quantity      Rate (N)    Amount (N)
1    Letterheads                    ream            5            9.00         45.00
2    Delivery to Ikeja              trip            1           34.00         34.00

                                             Grand Total                NGN 79.00
"""


def test_a_currency_in_brackets_belongs_to_the_heading_before_it() -> None:
    assert _items(_read(NIGERIAN)) == [
        ("Letterheads", Decimal(5), Decimal("9.00"), Decimal("45.00")),
        ("Delivery to Ikeja", Decimal(1), Decimal("34.00"), Decimal("34.00")),
    ]


ARGENTINE = """
FERRETERÍA EL TORNILLO S.R.L.                           FACTURA
                                                        Comp. Nro: 00004410
                                                        Fecha de Emisión: 12/03/2026

Código  Producto / Servicio    Cantidad  U. Medida  Precio Unit.  % Bonif  Imp. Bonif.   Subtotal
20      Cinta métrica              6,00  unidades        3000,00     0,00         0,00   18000,00
31      Martillo                   2,00  unidades       12000,00     5,00      1200,00   22800,00

                                                        Importe Total: $                 40800,00
IVA Contenido: $ 7080,99
"""


def test_quantities_of_items_are_not_taxes() -> None:
    receipt = _read(ARGENTINE)

    assert receipt.total
    assert receipt.total.value == Decimal("40800.00")
    assert receipt.tax
    assert receipt.tax.value == Decimal("7080.99")


def test_the_discount_of_an_item_is_its_amount_not_its_percentage() -> None:
    discounts = [item.value.discount for item in _read(ARGENTINE).line_items]

    assert discounts == [None, Decimal("1200.00")]


NORWEGIAN = """
          Havna Kafé AS
     Org.nr: 937 155 794 MVA
     Salgskvittering 2207    11.07.2026 13:02
2 x Fiskekake         95,00    190,00
1 x Kaffe                       45,00
Sum                            235,00
Herav MVA 25%                   47,00
Tips                            20,00
Å betale                       255,00
Grunnlag 25%  188,00  MVA  47,00
"""


def test_a_tax_with_two_labels_counts_once() -> None:
    receipt = _read(NORWEGIAN)

    assert receipt.tax
    assert receipt.tax.value == Decimal("47.00")


FUEL = """
     MOORGATE FILLING STATION
     02/09/26 18:40   Rcpt 00781
 DIESEL
   30.50 L @ 151.9 p/L        46.33
 TOTAL                       £46.33
"""


def test_a_price_per_liter_may_be_in_pence() -> None:
    assert _items(_read(FUEL)) == [
        ("DIESEL", Decimal("30.50"), Decimal("1.519"), Decimal("46.33")),
    ]


POLISH = """
      SKLEP ZA ROGIEM
      NIP 563-621-22-27
2026-01-19                 nr wydr.5521
          PARAGON FISKALNY
MLEKO 2%
               2 szt. x3,49        6,98C
SUMA PLN                           6,98
"""


def test_the_row_of_the_date_is_not_part_of_a_name() -> None:
    assert _items(_read(POLISH)) == [
        ("MLEKO 2%", Decimal(2), Decimal("3.49"), Decimal("6.98")),
    ]


PERUVIAN = """
     BODEGA SANTA ELENA E.I.R.L.
     BOLETA DE VENTA B001-00000912
     Fecha : 04/04/2026
 CANT  UND  DESCRIPCIÓN     P.U.   TOTAL
 2.00  NIU  GALLETA SODA    1.50    3.00
 1.00  NIU  CAFE MOLIDO
                           12.00   12.00
 IMPORTE TOTAL         S/          15.00
"""


def test_units_in_a_column_are_not_part_of_names() -> None:
    assert _items(_read(PERUVIAN)) == [
        ("GALLETA SODA", Decimal("2.00"), Decimal("1.50"), Decimal("3.00")),
        ("CAFE MOLIDO", Decimal("1.00"), Decimal("12.00"), Decimal("12.00")),
    ]


CROATIAN = """
         OTOK TURIST d.o.o.
     Račun br: 77-1-1    Datum: 9.8.2026.
 Ležaljka
        2 kom     8,00         16,00
 Suncobran
        1 kom     6,00          6,00
 UKUPNO (EUR)                  22,00
 Primljeno                     30,00
 Za vratiti                     8,00
"""


def test_croatian_pieces_and_the_cash_received_are_known() -> None:
    receipt = _read(CROATIAN)

    assert _items(receipt) == [
        ("Ležaljka", Decimal(2), Decimal("8.00"), Decimal("16.00")),
        ("Suncobran", Decimal(1), Decimal("6.00"), Decimal("6.00")),
    ]
    (payment,) = receipt.details.payments
    assert (payment.value.amount, payment.value.tendered) == (Decimal("22.00"), Decimal("30.00"))


GERMAN = """
Tischlerei Wiebold & Tochter                       Kundennummer:      40912
Inhaber Rike Wiebold                                  Rechnungsnummer:   R-0077
Lindenallee 3 · 24105 Kiel                         Rechnungsdatum:    04.02.2026

Pos.   Bezeichnung                      Menge   Einzelpreis    Gesamtpreis
1      Fensterbank Eiche                 2,00       80,00 €       160,00 €

                                        Rechnungsbetrag           160,00 €
"""


def test_labels_of_a_form_are_not_the_seller() -> None:
    receipt = _read(GERMAN)

    assert receipt.merchant_name
    assert receipt.merchant_name.value == "Tischlerei Wiebold & Tochter"
    assert receipt.issued_at
    assert receipt.issued_at.value.date == dt.date(2026, 2, 4)


PHILIPPINE = """
        LUTONG NANAY INC.
   VAT REG TIN: 008-441-877-00002
SI No: 000771        02/03/2026 12:10 PM
 1  Kare-kare                     300.00
 1  Lumpia                        100.00
 1  Fresh milk                    100.00
TOTAL AMOUNT DUE                  500.00
VATable Sales                     357.14
VAT Amount (12%)                   42.86
VAT Exempt Sales                  100.00
"""


def test_an_exempt_amount_is_not_a_tax() -> None:
    receipt = _read(PHILIPPINE)

    assert receipt.tax
    assert receipt.tax.value == Decimal("42.86")


FOLIO = """
GRAYSTONE LODGE                                           Folio No. 5512
Date        Description                                   Charges
03/01/26    Room Charge                                    $120.00
03/01/26    State Tax 5%                                     $6.00
03/01/26    Occupancy Tax 3%                                 $3.60
03/02/26    Room Charge                                    $120.00
03/02/26    State Tax 5%                                     $6.00
03/02/26    Occupancy Tax 3%                                 $3.60
            Total                                          $259.20
"""


def test_equal_taxes_of_two_days_both_count() -> None:
    receipt = _read(FOLIO)

    assert receipt.tax
    assert receipt.tax.value == Decimal("19.20")


INDONESIAN = """
         WARUNG MAJU BERSAMA
   Jl. Kenanga No. 118, Bandung 16131
 03.02.26-10:21
 KOPI BUBUK
        2   14,500            29,000
 GULA PASIR
        1   17,250            17,250
 TOTAL :                      46,250
 TUNAI :                      50,000
 KEMBALI :                     3,750
"""


def test_a_postcode_is_not_a_price_among_grouped_ones() -> None:
    assert [item[0] for item in _items(_read(INDONESIAN))] == ["KOPI BUBUK", "GULA PASIR"]


HUNGARIAN = """
        Pipacs Bolt Kft.
     Adószám: 72149737-2-42
C00 KENYÉR
   2 db x 1 250                    2 500 Ft
ÖSSZESEN:                          2 500 Ft
C00 ÁFA 27%      2 500   ebből ÁFA   531
2026.05.04.  08:30
"""


def test_whole_amounts_next_to_a_rate_are_its_tax() -> None:
    (tax,) = _read(HUNGARIAN).details.taxes

    assert (tax.value.rate, tax.value.amount) == (Decimal(27), Decimal(531))


FINNISH = """
       Tori Parkki Oy
 KUITTI            Nro 7711
 Saapui       04.03.2026 08:12
 Lähti        05.03.2026 09:40
 Pysäköinti              18,00
 YHTEENSÄ         EUR    18,00
"""


def test_a_receipt_for_parking_is_of_the_departure() -> None:
    receipt = _read(FINNISH)

    assert receipt.issued_at
    assert receipt.issued_at.value.date == dt.date(2026, 3, 5)


JAPANESE = """
      そば処 みよし
 2026/07/02 12:41   No.000091
 天ざる     1,450 x 2   2,900
 瓶ビール     650 x 3   1,950
 合計               ¥4,850
"""


def test_a_whole_price_may_be_before_the_quantity() -> None:
    assert _items(_read(JAPANESE)) == [
        ("天ざる", Decimal(2), Decimal(1450), Decimal(2900)),
        ("瓶ビール", Decimal(3), Decimal(650), Decimal(1950)),
    ]


TURKISH = """
        BOSPHORUS BÜFE
 Bebek V.D. 4194180338
 11-05-2026  09:12    FIS NO: 0031
 PEYNIR            %1        *12,50
 AYRAN
   4 X 5,00        %10       *20,00
 TOPLAM                      *32,50
"""


def test_the_sign_may_be_before_the_rate_of_an_item() -> None:
    rates = [item.value.tax_rate for item in _read(TURKISH).line_items]

    assert rates == [Decimal(1), Decimal(10)]


SWISS = """
        DORFLADEN AM SEE
 06.02.26   08:14   Bon 771
 Artikel        Menge  Preis  Total   C
 Zopf               1   5.20   5.20   1
 Butter             1   4.10   4.10   1
 Seife              2   3.10   6.20   2
 Total CHF                   15.50
"""


def test_the_code_of_a_tax_right_of_the_total_is_none_of_the_item() -> None:
    assert [item.value.code for item in _read(SWISS).line_items] == [None, None, None]


DUTCH = """
        WINKEL DE HOEK
  1   KAAS                          4,10
  0,612KG APPELS       3,00/KG      1,84
      TOTAAL                        5,94
"""


def test_a_unit_joined_to_a_weight_is_not_part_of_the_name() -> None:
    assert [item[0] for item in _items(_read(DUTCH))] == ["KAAS", "APPELS"]


ITALIAN = """
      ALIMENTARI BIANCHI SRL
         P.IVA 03051799207
 DESCRIZIONE            IVA  Prezzo(€)
 RISO 1KG    2 x 1,80    4%       3,60
 ACETO                  22%       1,30
 TOTALE COMPLESSIVO               4,90
 18-05-2026 17:40
"""


def test_quantity_and_price_in_the_column_of_names_are_not_part_of_the_name() -> None:
    assert [item[:3] for item in _items(_read(ITALIAN))] == [
        ("RISO 1KG", Decimal(2), Decimal("1.80")),
        ("ACETO", None, None),
    ]


CHILEAN = """
        LIBRERIA EL FARO
   BOLETA ELECTRONICA N° 2207
 Fecha Emisión 03-03-2026
 3    CUADERNO 100 HJ          $ 3.870
       1.290 C/U
 1    TIJERA                   $ 1.990
 TOTAL                         $ 5.860
"""


def test_a_price_of_each_may_be_spanish() -> None:
    assert _items(_read(CHILEAN))[0] == (
        "CUADERNO 100 HJ",
        Decimal(3),
        Decimal(1290),
        Decimal(3870),
    )


FRENCH = """
ATELIER DU LAVOIR                                FACTURE N° FA-0090
                                                 Date : 16/02/2026

Désignation                Qté      P.U. HT      TVA     Total HT
Volet roulant                2       310,00      10,0      620,00
Dépose                       1        80,00      20,0       80,00

                                              Total HT     700,00
                                              Total TTC    778,00
"""


def test_a_rate_with_one_decimal_needs_no_sign_in_its_column() -> None:
    rates = [item.value.tax_rate for item in _read(FRENCH).line_items]

    assert rates == [Decimal("10.0"), Decimal("20.0")]
