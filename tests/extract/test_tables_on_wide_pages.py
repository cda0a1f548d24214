"""Tables of items on wide pages: headings in two rows, other tables next to them, wrapped names."""

from decimal import Decimal

from recibo.extract import pipeline
from recibo.extract.model import LineItem
from tests.extract.typesetting import raised, text_page

ENERGY = """
VALE VERDE ENERGIA S.A.                  CNPJ 61.992.548/0001-50
NOTA FISCAL DE ENERGIA Nº 008841906      DATA DE EMISSÃO: 09/02/2026
                              Preço unit.   Valor               Tributo  Base    %     Valor
Item da fatura    Unid.  Quant.   (R$)      (R$)  PIS/COFINS    ICMS   206,31  18,00   37,14
Energia Elétrica  kWh    212    0,95434   202,32    8,37        PASEP  169,17   0,90    1,52
Bandeira Amarela                            3,99    0,17        COFINS 169,17   4,15    7,02
Contrib. Ilum.
Municipal                                  32,16
TOTAL                                     238,47    8,54
"""


def _items(text: str) -> list[LineItem]:
    return [item.value for item in pipeline.understand([[text_page(text)]]).line_items]


def _rows(items: list[LineItem]) -> list[tuple[str, str]]:
    return [(item.name, str(item.total)) for item in items]


def test_a_table_of_taxes_next_to_the_items_is_no_part_of_them() -> None:
    # The figures of the last item are at the middle of its name.
    page = raised(text_page(ENERGY), "Municipal", 15)

    items = [item.value for item in pipeline.understand([[page]]).line_items]

    assert _rows(items) == [
        ("Energia Elétrica", "202.32"),
        ("Bandeira Amarela", "3.99"),
        ("Contrib. Ilum. Municipal", "32.16"),
    ]
    assert (items[0].qty, items[0].unit_price) == (Decimal(212), Decimal("0.95434"))


def test_a_short_name_is_nearer_to_the_heading_of_codes_than_to_its_own() -> None:
    items = _items("""
SERRA ALIMENTOS LTDA
Invoice No: 4471                     Date: 06/10/2025
CODE                PRODUCT DESCRIPTION          QTY     PRICE    AMOUNT   DISC     BASE   VAT%
7710   MATURED MOUNTAIN CHEESE ONE KILO PIECE      2     58.00    116.00   0.00   116.00  12.00
7802   JAM BAR                                    60     13.75    825.00   0.00   825.00  12.00
7930   ROASTED COFFEE BEANS BOX OF TWELVE PACKS    6    214.80  1,288.80   0.00 1,288.80  12.00
Total                                                           2,229.80
""")

    assert _rows(items)[1] == ("JAM BAR", "825.00")


def test_numbers_of_rows_are_no_quantities_and_a_rate_off_the_price_is_no_tax() -> None:
    items = _items("""
Mayura Metalware Pvt. Ltd.
TAX INVOICE            Invoice No. MM/25-26/1187      Dated 5-Aug-25
GSTIN: 27AAKCM4471F1ZB
SL  Product Description              HSN/SAC   Quantity    Rate      Disc.    Disc.       Amount
                                                                      %        Amt
1   Stainless Tiffin 10cm            7323      48 PCS    385.00      12%    2,217.60   16,262.40
2   Brass Diya Set                   8306     100 PCS    142.50       8%    1,140.00   13,110.00
3   Enamel Mug Assorted              7323     144 PCS     78.00       0%        0.00   11,232.00
Total                                                                              40,604.40
""")

    assert [str(item.qty) for item in items] == ["48", "100", "144"]
    assert [item.tax_rate for item in items] == [None, None, None]
    assert items[0].discount == Decimal("2217.60")


def test_contributions_below_the_items_are_no_items() -> None:
    items = _items("""
Studio Ronchetti Architetti               P.IVA IT08841020772
Fattura n. A 38/25                        Data 30-06-2025
Descrizione                    Quantità     Prezzo unitario   %IVA     Prezzo totale
Progetto esecutivo cantina       1,00        6.200,00        22,00        6.200,00
Sopralluoghi in cantiere         4,00          180,00        22,00          720,00
Dati Cassa Previdenziale     Imponibile     %Contr.          %IVA      Importo
TC04 Cassa architetti          6.920,00       4,00           22,00          276,80
Totale imponibile                                                        7.196,80
Totale imposta                                                           1.583,30
Totale documento                                                         8.780,10
""")

    assert [item.name for item in items] == [
        "Progetto esecutivo cantina",
        "Sopralluoghi in cantiere",
    ]
