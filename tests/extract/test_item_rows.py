"""Rows of items: details in other rows, codes, units, discounts, and rows that are no items."""

from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.model import LineItem, Receipt
from tests.extract.typesetting import text_page


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


def _items(text: str) -> list[LineItem]:
    return [item.value for item in _read(text).line_items]


def _rows(text: str) -> list[tuple[str | None, ...]]:
    """Return name, quantity, unit price and total of each item."""
    return [
        (item.name, _text(item.qty), _text(item.unit_price), _text(item.total))
        for item in _items(text)
    ]


def _text(number: Decimal | None) -> str | None:
    return None if number is None else str(number)


HARDWARE = """
       OAKFIELD TOOLS
   2207 Main St Boise ID 83702
 11/26/26 2:15PM KAREN  552
 -------------------------------------
 {0}
 DRILL BIT 1/4                25.98
 {1}
 PAINT WHITE GAL              44.99
   *10.00% OFF   -4.50
 {2}
 ROPE 3/8                     16.66
 -------------------------------------
 SUBTOTAL                     83.13
 TAX                           4.99
 TOTAL                        88.12
"""


@pytest.mark.parametrize(
    "details",
    [
        ("4017728    2 EA    12.99 EA", "7711820    1 EA    44.99 EA", "0044188   14 FT   1.19 FT"),
        ("2 EA    4017728    12.99/EA", "1 EA    7711820    44.99/EA", "14 FT   0044188   1.19/FT"),
        ("2 ea    12.99 / ea  4017728", "1 ea    44.99 / ea  7711820", "14 ft   1.19 /ft  0044188"),
    ],
)
def test_quantity_code_and_price_per_unit_are_above_the_name(details: tuple[str, ...]) -> None:
    text = HARDWARE.format(*details)

    assert _rows(text) == [
        ("DRILL BIT 1/4", "2", "12.99", "25.98"),
        ("PAINT WHITE GAL", "1", "44.99", "44.99"),
        ("*10.00% OFF", None, None, "-4.50"),
        ("ROPE 3/8", "14", "1.19", "16.66"),
    ]
    assert [item.code for item in _items(text)] == ["4017728", "7711820", None, "0044188"]


@pytest.mark.parametrize(
    ("unit", "printed"),
    [("stk", "stk"), ("st", "st"), ("szt.", "szt"), ("ks", "ks"), ("buc", "buc"), ("db", "db")],
)
def test_a_unit_between_quantity_and_name_is_no_name(unit: str, printed: str) -> None:
    text = f"""
        CORNER MARKET
 26.11.2026 11:05
 ---------------------------------------
 2 {unit} Brunost 500g     @74,90    149,80
 1 {unit} Lefse                       39,90
 4 {unit} Kaffe                       36,00
 ---------------------------------------
 TOTAL                          225,70
"""

    assert _rows(text) == [
        ("Brunost 500g", "2", "74.90", "149.80"),
        ("Lefse", "1", None, "39.90"),
        ("Kaffe", "4", None, "36.00"),
    ]
    assert [item.unit for item in _items(text)] == [printed] * 3


def test_a_single_unit_with_a_capital_may_be_a_name() -> None:
    text = """
        CORNER PUB
 26.11.2026 21:05
 ---------------------------------------
 2 St. Pauli Lager                  9.00
 1 Burger                          14.00
 1 Cola                             3.00
 ---------------------------------------
 TOTAL                             26.00
"""

    assert [item.name for item in _items(text)] == ["St. Pauli Lager", "Burger", "Cola"]


def test_a_code_and_a_flag_behind_a_name_above_its_weight_are_no_name() -> None:
    text = """
       BARGAIN HALL
   1820 S WESTERN AVE
 MILK 2%      007874235187 F    3.24 N
 BANANAS      000000004011 F
   2.31 lb @ 1 lb /0.58         1.34 N
 SOCKS        068131102217      8.00 X
 TOTAL                         12.58
"""

    assert _rows(text)[1] == ("BANANAS", "2.31", "0.58", "1.34")
    assert [item.name for item in _items(text)] == ["MILK 2%", "BANANAS", "SOCKS"]
    assert _items(text)[1].code == "000000004011"


@pytest.mark.parametrize(
    "heading", ["Item  SKU", "Product  Item code", "Artikel  Art.-Nr.", "Description  Ref."]
)
def test_a_code_in_the_column_right_of_the_name_is_no_name(heading: str) -> None:
    name, code = heading.split("  ")
    text = f"""
PineTrail Outfitters
Order number: PT-4471-90213                                         November 24, 2026

{name:40}{code:15}Qty               Price
Ridge 28L Daypack                       RD28-MOS         1              $89.95
Merino Sock 2-pack - M                  MS2-M            2              $37.90
Titanium Spork                          TSPK             1              $12.00

                                        Items subtotal                 $139.85
                                        Shipping                         $5.95
                                        Order total                    $145.80
"""

    assert [(item.name, item.code, item.total) for item in _items(text)] == [
        ("Ridge 28L Daypack", "RD28-MOS", Decimal("89.95")),
        ("Merino Sock 2-pack - M", "MS2-M", Decimal("37.90")),
        ("Titanium Spork", "TSPK", Decimal("12.00")),
    ]


@pytest.mark.parametrize(
    ("group", "service"),
    [
        ("Food & Drink", "Optional Service 12.5%"),
        ("Speisen und Trank", "Bedienung 12,5%"),
        ("Repas et boissons", "Prestation 12,5%"),
    ],
)
def test_the_sum_of_all_above_and_the_service_on_it_are_no_items(group: str, service: str) -> None:
    text = f"""
       The Tannery Room
 Table 7   Covers 3         26.11.2026 21:52
 ---------------------------------------
 3  Set Menu 2 Course           87.00
 1  Burrata                     20.50
 1  Rioja Crianza 750ml         38.00
 3  Espresso                    10.50
 ---------------------------------------
    {group:25} 156.00
    {service:26} 19.50
    Total                      175.50
 ---------------------------------------
"""

    assert [item.name for item in _items(text)] == [
        "Set Menu 2 Course",
        "Burrata",
        "Rioja Crianza 750ml",
        "Espresso",
    ]


BILL = """
Prairie Energy Cooperative
Account Number: 3340-118-7                                     Statement Date: 20.11.2026

{0:60}     118.42
{1:60}    -118.42
{2:60}       0.00

Customer charge                                                   18.00
Energy charge      782 kWh x 0.0942                               73.66
Power cost adj     782 kWh x 0.0051                                3.99
Total                                                             95.65
"""


@pytest.mark.parametrize(
    "balances",
    [
        ("Previous balance", "Payments received", "Balance brought forward"),
        ("Rechnungsbetrag Vormonat", "Zahlungseingang 02.11.", "Saldovortrag"),
        ("Facture précédente", "Paiements reçus", "Report de solde"),
        ("Factura anterior", "Pago recibido", "Saldo anterior"),
        ("Fatura anterior", "Pagamento recebido", "Saldo transitado"),
        ("Fattura precedente", "Pagamenti ricevuti", "Saldo riportato"),
        ("Vorige factuur", "Ontvangen betalingen", "Openstaand saldo"),
    ],
)
def test_balances_of_an_account_are_no_items(balances: tuple[str, ...]) -> None:
    assert [item.name for item in _items(BILL.format(*balances))] == [
        "Customer charge",
        "Energy charge",
        "Power cost adj",
    ]


def test_charges_below_the_total_that_add_up_to_it_with_their_tax_are_the_items() -> None:
    text = """
Prairie Energy Cooperative
Account Number: 3340-118-7                                     Statement Date: Nov 20, 2026

ACCOUNT SUMMARY
Previous balance                                                 $118.42
Payments received through Nov 19                                -$118.42
Balance forward                                                    $0.00
Current charges                                                  $104.37
TOTAL AMOUNT DUE                                                 $104.37

CURRENT CHARGES DETAIL
Customer charge                                                   $18.00
Energy charge      782 kWh x $0.0942                              $73.66
Power cost adj     782 kWh x $0.0051                               $3.99
Franchise fee 4%                                                   $3.83
Sales tax                                                          $4.89
"""

    assert _rows(text) == [
        ("Customer charge", None, None, "18.00"),
        ("Energy charge", "782", "0.0942", "73.66"),
        ("Power cost adj", "782", "0.0051", "3.99"),
        ("Franchise fee 4%", None, None, "3.83"),
    ]


MEMBERS = """
       CORNER MARKET
   Main Street 7, Springfield
 26.11.2026 16:44
 --------------------------------------
 Coffee 500g                    54.90
 Cream 5dl                      29.50
   {0:28} -5.00
 Lemonade 1.5l                  71.60
 --------------------------------------
 Total                         151.00
"""


@pytest.mark.parametrize(
    "word", ["Medlemspris", "Klubpris", "Comp - Mgr", "Avantage fidélité", "Invitación de la casa"]
)
def test_a_negative_row_with_which_the_items_add_up_is_a_discount(word: str) -> None:
    receipt = _read(MEMBERS.format(word))

    assert receipt.details.discount is not None
    assert receipt.details.discount.value == Decimal("5.00")
    assert [str(item.value.total) for item in receipt.line_items] == [
        "54.90",
        "29.50",
        "-5.00",
        "71.60",
    ]


@pytest.mark.parametrize(
    "word",
    ["Pant retur", "Leergut", "Coffee beans", "Deposit return", "Platter for 2", "Prepayments"],
)
def test_what_is_given_back_is_no_discount(word: str) -> None:
    assert _read(MEMBERS.format(word)).details.discount is None


def test_a_negative_row_without_a_printed_sum_is_no_discount() -> None:
    text = MEMBERS.format("Medlemspris").replace("Total                         151.00", "")

    assert _read(text).details.discount is None


def test_several_negative_rows_with_which_the_items_add_up_are_one_discount() -> None:
    text = MEMBERS.format("Medlemspris").replace("151.00", "149.00")
    text = text.replace("  71.60\n", f"  71.60\n   {'Klubpris':28} -2.00\n")
    receipt = _read(text)

    assert receipt.details.discount is not None
    assert receipt.details.discount.value == Decimal("7.00")


def test_the_row_with_the_quantity_is_the_name_and_the_one_below_it_a_note() -> None:
    text = """
      NORTHLINE RAIL
   Sale Receipt      26.11.2026 07:51

   Anytime Day Return           1
   MAN to LDS   Valid 26-NOV-26
                            38.70
   Seat reservation x1       3.00
   -------------------------------
   Total paid               41.70
"""

    assert _rows(text) == [
        ("Anytime Day Return", "1", None, "38.70"),
        ("Seat reservation", "1", None, "3.00"),
    ]


def test_the_price_of_several_may_be_in_the_row_of_the_total_below_the_name() -> None:
    text = """
      WARUNG TINI
 26/11/2026 13:15
 ----------------------------------
 2 Nasi Goreng Spesial
     @  38.000              76.000
 3 Es Teh Manis
     @   8.000              24.000
 1 Sate Ayam                45.000
 ----------------------------------
 Total                     145.000
"""

    assert _rows(text) == [
        ("Nasi Goreng Spesial", "2", "38000", "76000"),
        ("Es Teh Manis", "3", "8000", "24000"),
        ("Sate Ayam", "1", None, "45000"),
    ]


def test_rate_at_the_end_of_a_name_is_that_of_the_tax_if_others_have_one() -> None:
    receipt = """
FARMACIA DEL BORGO
P.IVA 04177308253
DESCRIZIONE              IVA      Prezzo(€)
PARACETAMOLO 20CPR 10%                 5,90
CREMA MANI 75ML          22%           8,50
CEROTTI ASSORTITI        22%           4,20
TOTALE COMPLESSIVO                    18,60
di cui IVA                             2,83
24-03-2025 11:31
"""

    assert [
        ("PARACETAMOLO 20CPR", "10"),
        ("CREMA MANI 75ML", "22"),
        ("CEROTTI ASSORTITI", "22"),
    ] == [(item.name, _text(item.tax_rate)) for item in _items(receipt)]


def test_a_quantity_behind_the_name_is_read_if_the_day_is_in_front_of_it() -> None:
    text = """
      HOTEL SEEROSE
   Folio 48211        Departure 16/03/2026

 14/03/2026   Superior room        1     180.00
 15/03/2026   Superior room        1     180.00
 15/03/2026   Breakfast buffet     2      36.00
 -----------------------------------------------
 Total EUR                               396.00
"""

    assert _rows(text) == [
        ("Superior room", "1", None, "180.00"),
        ("Superior room", "1", None, "180.00"),
        ("Breakfast buffet", "2", None, "36.00"),
    ]


def test_a_percentage_of_a_members_card_is_a_discount_and_no_payment() -> None:
    text = """
      CAFE LUMEN
 26/11/2026 18:00
 1 Banana tart              5.50
 1 Iced mocha               5.90
 10%-LM CARD               -1.14
 SUBTOTAL                  10.26
 10% SERVICE                1.03
 7% GST                     0.79
 Total                     12.08
 CASH                      12.08
"""
    receipt = _read(text)

    assert receipt.details.discount is not None
    assert receipt.details.discount.value == Decimal("1.14")


def _discounts(text: str) -> list[str | None]:
    return [_text(item.discount) for item in _items(text)]


def test_a_negative_row_that_names_another_row_or_its_code_is_its_discount() -> None:
    text = """
      LAKESIDE WHOLESALE
 26/11/2026 18:00
 1632921 FABRIC WASH       19.99
 1669990 TPD/1632921       -4.00
 1400615 GREEN BEANS        5.99
 PROMO GREEN BEANS         -0.99
 8134 OAT BISCUITS          3.00
 TOTAL                     23.99
 CASH                      23.99
"""

    assert _discounts(text) == ["4.00", None, "0.99", None, None]


@pytest.mark.parametrize(("price", "discount"), [("19,99", "4.50"), ("25,99", None)])
def test_a_price_and_its_discount_below_the_last_item_are_its_own(
    price: str, discount: str | None
) -> None:
    text = f"""
      SKLEP LIPA
 PARAGON FISKALNY
 HERBATA ZIELONA           1 x7,99   7,99A
 KAWA MIELONA             1 x15,49  15,49A
 Uwzgl. opust: -4,50 st. c {price}
 SPRZEDAZ OPODATKOWANA A             23,48
 PTU A 23%                            4,39
 SUMA PLN                            23,48
"""

    assert _discounts(text) == [None, discount]


def test_an_index_that_misses_a_number_is_no_part_of_the_names() -> None:
    text = """
      CHURRASCARIA BRASA
 #   Descricao              Qtde    Unit     Total
 1 Rodizio Adulto             3    89,90    269,70
 2 Rodizio Infantil           1    44,90     44,90
 Suco Abacaxi Jarra           2    28,00     56,00
 4 Sobremesa Buffet           2    15,00     30,00
 Total R$                                   400,60
"""

    assert [name for name, *_ in _rows(text)] == [
        "Rodizio Adulto",
        "Rodizio Infantil",
        "Suco Abacaxi Jarra",
        "Sobremesa Buffet",
    ]
