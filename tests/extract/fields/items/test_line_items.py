from collections.abc import Sequence

import pytest

from recibo.extract.brazil import fiscal
from recibo.extract.fields.items import line_items
from recibo.extract.model import Extracted, LineItem, TextPage
from tests.extract.fields import brazilian_receipts, literals
from tests.extract.fields.literals import Row
from tests.extract.typesetting import text_page


def _found(text_pages: Sequence[TextPage]) -> tuple[Extracted[LineItem], ...]:
    return line_items.find(text_pages, fiscal.identify(text_pages))


def _rows(found: Sequence[Extracted[LineItem]]) -> list[Row]:
    return [
        (
            item.value.name,
            None if item.value.qty is None else f"{item.value.qty:f}",
            None if item.value.unit_price is None else f"{item.value.unit_price:f}",
            None if item.value.total is None else f"{item.value.total:f}",
        )
        for item in found
    ]


_EVERY = literals.line_items(
    *("tills_and_invoices", "countries", "invoices", "measured", "proven_by_sums"),
    *("restaurants", "tables", "tills"),
)


@pytest.mark.parametrize(("text", "rows"), _EVERY.values(), ids=_EVERY)
@pytest.mark.parametrize("exact", [True, False], ids=["text layer", "recognized"])
def test_items_are_found(text: str, rows: list[Row], *, exact: bool) -> None:
    assert rows == _rows(_found([text_page(text, exact=exact)]))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        pytest.param(
            brazilian_receipts.NFCE,
            [
                ("LEITE COND MOCA 395G", "2", "7.49", "14.98"),
                ("BANANA PRATA KG", "1.245", "5.99", "7.46"),
            ],
            id="nfce",
        ),
        pytest.param(
            brazilian_receipts.CFE,
            [
                ("ARROZ TIPO 1 5KG", "2.0000", "25.90", "51.80"),
                ("TOMATE ITALIANO", "0.8350", "7.99", "6.67"),
            ],
            id="cfe",
        ),
        pytest.param(
            brazilian_receipts.ECF,
            [
                ("CAMISETA BASICA", "2", "19.90", "39.80"),
                ("MEIA INFANTIL", "3", "5.99", "17.97"),
            ],
            id="ecf",
        ),
        pytest.param(
            brazilian_receipts.NFE,
            [
                (
                    "PERFIL DE ACO GALVANIZADO CHAPA 18 DOBRADO A FRIO 6 METROS",
                    "100.000",
                    "5.0000",
                    "500.00",
                ),
                ("TELHA TRAPEZOIDAL", "20.000", "25.0000", "500.00"),
            ],
            id="nfe",
        ),
        pytest.param(brazilian_receipts.LABEL, [], id="nfe label"),
        pytest.param(
            brazilian_receipts.NFSE_BOXED,
            [("Criacao de identidade visual", "1", "1500.00", "1500.00")],
            id="nfse boxed",
        ),
        pytest.param(
            brazilian_receipts.NFSE_BARE,
            [("Licenciamento de software mensal", "1", "350.00", "350.00")],
            id="nfse bare",
        ),
        pytest.param(
            brazilian_receipts.NFSE_TABLE,
            [("Frete municipal", "3", "150.00", "450.00")],
            id="nfse with a table",
        ),
        pytest.param(
            brazilian_receipts.NFE_STUB,
            [("MARTELO UNHA CABO MADEIRA", "3.00", "50.00", "150.00")],
            id="nfe portrait",
        ),
    ],
)
@pytest.mark.parametrize("exact", [True, False], ids=["text layer", "recognized"])
def test_items_of_fiscal_documents_are_found(text: str, rows: list[Row], *, exact: bool) -> None:
    assert rows == _rows(_found([text_page(text, exact=exact)]))


def test_zeros_among_letters_are_repaired_only_in_recognized_text() -> None:
    text = "SH0P\nC0FFEE LATTE    3.50\nTEA 500G        2.00\nTOTAL            5.50"

    assert _rows(_found([text_page(text, exact=False)]))[0][0] == "COFFEE LATTE"
    assert _rows(_found([text_page(text)]))[0][0] == "C0FFEE LATTE"


def test_letters_for_zeros_in_amounts_are_repaired_only_in_recognized_text() -> None:
    text = "TRADER\nSILICONE GUN     15.0C\nSEALANT  3 x 7.00   21.0O\nTOTAL            36.00"

    assert ["15.00", "21.00"] == [row[3] for row in _rows(_found([text_page(text, exact=False)]))]
    assert _found([text_page(text)]) == ()


@pytest.mark.parametrize(("total", "names"), [("3,13", 3), ("3,29", 2)], ids=["net", "gross"])
def test_a_discount_on_an_item_counts_if_the_total_includes_it(total: str, names: int) -> None:
    text = f"""
MERCEARIA OLIVEIRAL
Arroz agulha 1kg        1,69
Pao de forma            1,60
Desconto               -0,16
TOTAL                   {total}
MULTIBANCO              {total}
"""

    assert names == len(_found([text_page(text)]))


def test_details_are_not_names_of_shifted_amounts() -> None:
    text = """
YARROW HOME & GARDEN
Washing Up Liquid Lemon Fresh
780ml                        $22.20
  10 x $2.22
AA Batteries 8                $8.95
BANANAS LOOSE                 $2.26
  2.056 kg x $1.10/kg
Rounding Adj                  -0.01
Number Due                    33.40
"""

    assert ["10", None, "2.056"] == [row[1] for row in _rows(_found([text_page(text)]))]


def test_a_tax_above_the_only_total_is_not_an_item() -> None:
    text = "DINER\nBURGER      10.00\nFRIES        3.00\nTax          1.04\nTOTAL       14.04"

    assert ["BURGER", "FRIES"] == [row[0] for row in _rows(_found([text_page(text)]))]


def test_items_named_like_a_unit_are_found() -> None:
    text = """
Description              Qty      Price      Number
Bag                        2       1.00        2.00
Gift ribbon                1       3.00        3.00
Total                                          5.00
"""

    assert ["Bag", "Gift ribbon"] == [row[0] for row in _rows(_found([text_page(text)]))]


def test_delivery_below_the_items_of_a_table_is_an_item() -> None:
    text = """
Menge   Artikel                              Einzelpreis        Gesamt
2       Notizheft DIN A5                          3,50 €        7,00 €
Versandkosten                                                   4,90 €
Gesamtbetrag                                                   11,90 €
"""

    assert [("Versandkosten", None, None, "4.90")] == _rows(_found([text_page(text)]))[1:]


def test_a_table_may_continue_on_the_next_page() -> None:
    head = "Description              Qty      Price      Number"
    first = text_page(f"{head}\nFirst thing to buy         2      10.00      20.00")
    second = text_page(
        f"{head}\nSecond thing               3       5.00      15.00\nTotal 35.00", number=2
    )

    names = [item.value.name for item in _found([first, second])]

    assert names == ["First thing to buy", "Second thing"]


@pytest.mark.parametrize(
    "row",
    [
        "desconto item 002                    -2,00",
        "Outras Despesas                       2,00",
        "Tributos aprox. (Lei 12.741/12) R$    2,00",
        "Valor Total dos Produtos R$\n                                      44,88",
    ],
)
def test_a_labelled_discount_or_tax_of_a_receipt_is_not_an_item(row: str) -> None:
    text = brazilian_receipts.NFCE.replace("Qtde. total de itens", f"{row}\nQtde. total de itens")

    assert 2 == len(_found([text_page(text)]))


def test_items_named_like_a_sum_are_found() -> None:
    text = brazilian_receipts.NFCE.replace(
        "7891000100103 LEITE COND MOCA 395G", "TOTAL FLEX OLEO 5W30"
    )

    assert "TOTAL FLEX OLEO 5W30" == _found([text_page(text)])[0].value.name


def test_the_head_of_the_next_page_is_not_an_item() -> None:
    head, foot = brazilian_receipts.NFE.split(" DADOS ADICIONAIS")
    text_pages = [text_page(head, number=1), text_page(head + " DADOS ADICIONAIS" + foot, number=2)]

    names = [item.value.name for item in _found(text_pages)]

    assert 4 == len(names)
    assert names[:2] == names[2:]


def test_each_item_keeps_its_evidence() -> None:
    (item,) = _found([text_page("SHOP\nCOFFEE    3.50\nTOTAL     3.50", number=3)])

    assert item.text == "COFFEE 3.50"
    assert item.page == 3
    assert item.box is not None


def test_the_box_of_an_item_contains_all_its_rows() -> None:
    page = text_page("SHOP\nCOFFEE BEANS\n  2 x 3.50    7.00\nMILK    1.50\nTOTAL    8.50")
    coffee, milk = _found([page])
    names = [line.box for line in page.lines if line.text.startswith(("COFFEE", "MILK"))]

    assert coffee.whole_box
    assert coffee.box
    assert (names[0].y0, coffee.box.y1) == (coffee.whole_box.y0, coffee.whole_box.y1)
    assert milk.box == names[1]
    assert milk.whole_box is None


def test_an_empty_document_has_no_items() -> None:
    assert _found([]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "1,23 " * 5000,
        "9" * 50_000,
        "\n".join("QTY NAME " + "1,00 2,00 3,00 " * 5 + "7,77" for _ in range(200)),
    ],
    ids=["one row", "one figure", "rows of figures"],
)
def test_very_many_numbers_are_read(text: str) -> None:
    assert isinstance(_found([text_page(text)]), tuple)


@pytest.mark.parametrize("exact", [True, False], ids=["text layer", "recognized"])
def test_three_decimals_of_money_are_not_thousands(*, exact: bool) -> None:
    text = """
        SHATT BAKERY
Invoice No 77812
Lamb pie          12.250
2 Samoon   0.450   0.900
TOTAL             13.150
"""
    text_pages = [text_page(text, exact=exact)]

    assert _rows(line_items.find(text_pages, None, minor=3)) == [
        ("Lamb pie", None, None, "12.250"),
        ("Samoon", "2", "0.450", "0.900"),
    ]


@pytest.mark.parametrize("exact", [True, False], ids=["text layer", "recognized"])
def test_three_decimals_of_money_in_a_table_are_not_thousands(*, exact: bool) -> None:
    text = """
Item            Qty   Price    Number
Lamb leg          1  12.250    12.250
Olive oil 1L      2   1.250     2.500
Carpet            1 1,250.500  1,250.500
TOTAL KD                       1,265.250
"""
    text_pages = [text_page(text, exact=exact)]

    assert _rows(line_items.find(text_pages, None, minor=3)) == [
        ("Lamb leg", "1", "12.250", "12.250"),
        ("Olive oil 1L", "2", "1.250", "2.500"),
        ("Carpet", "1", "1250.500", "1250.500"),
    ]


def test_a_symbol_marks_a_whole_price_outside_the_column() -> None:
    text = "Receipt No 4821\n2 Onigiri ¥150 ¥300\n1 Green tea from Uji ¥140 ¥140\nTotal ¥440"

    assert _rows(_found([text_page(text)])) == [
        ("Onigiri", "2", "150", "300"),
        ("Green tea from Uji", "1", "140", "140"),
    ]


@pytest.mark.parametrize("label", ["Receipt No", "Invoice No", "Boleta N°"])
def test_the_number_of_the_document_is_not_an_item(label: str) -> None:
    text = f"{label} 4821\nOnigiri ¥300\nTea ¥140\nTotal ¥440"

    assert _rows(_found([text_page(text)])) == [
        ("Onigiri", None, None, "300"),
        ("Tea", None, None, "140"),
    ]


def test_sums_and_heads_between_the_pages_of_a_table_are_not_items() -> None:
    first = """
Bau Mayer GmbH                                 Rechnung 88123
Pos  Artikel    Bezeichnung               Menge   EH    Preis    Betrag
1    100200     Zement CEM II 25 kg          20   Sack   4,89     97,80
2    100300     Kalksandstein 2DF           120   Stk    1,15    138,00
                Summe Seite 1                                    235,80
"""
    second = """
Bau Mayer GmbH                                 Rechnung 88123
Pos  Artikel    Bezeichnung               Menge   EH    Preis    Betrag
                Summe Seite 1                                    235,80
3    100400     Moertel M5 40 kg             10   Sack   6,40     64,00
                                         Nettosumme              299,80
                                         MwSt 19%                 56,96
                                         Endbetrag               356,76
"""
    found = _found([text_page(first), text_page(second, number=2)])

    assert ["97.80", "138.00", "64.00"] == [row[3] for row in _rows(found)]
