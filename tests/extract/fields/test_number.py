import pytest

from recibo.extract.fields.number import numbers
from tests.extract.fields.foreign_receipts import AMERICAN, GERMAN, MALAYSIAN, rows_of


def best(text: str) -> str | None:
    found = numbers(rows_of(text))
    return found[0].value if found else None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (MALAYSIAN, "CS00123"),
        (AMERICAN, "20417"),
        (GERMAN, "4711"),
        ("Rcpt#:A11000028385", "A11000028385"),
        ("Factura No. 2018/00042", "2018/00042"),
        ("BOLETA ELECTRONICA N 123456", "123456"),
        ("Facture n° F-2018-77", "F-2018-77"),
        ("Invoice No\nINV-7788", "INV-7788"),
        ("Invoice #: INV-2026-0042", "INV-2026-0042"),
        ("ADDITION #43O638", "430638"),
        ("ADDIT10N #430638", "430638"),
        ("Order Id: AAB4YFXYACAL", "AAB4YFXYACAL"),
        ("FACTURA DE VENTA POS No. FV-2231", "FV-2231"),
        ("TIQUE FACTURA B Nro. 0005-00012344", "0005-00012344"),
        ("Účtenka č. 1182", "1182"),
        ("NYUGTASZÁM: 0012/00044", "0012/00044"),
        ("Salgskvittering 1182", "1182"),
        ("レシートNo 004412", "004412"),
        ("TIQUET:T014/20931   MESA: 4", "T014/20931"),
        ("Kvitt:52118   OperNr:014", "52118"),
        ("NIP 856-734-62-15   nr:204417", "204417"),
        ("Nr sys. 2026/0311/05/001234", "2026/0311/05/001234"),
        ("Invoice number 7C1F0A22-0007", "7C1F0A22-0007"),
        ("Invoice # INV-GB-1182-2026", "INV-GB-1182-2026"),
        ("CREDIT CARD RECEIPT\nMED #: 7K42\nTRIP #: 8125", "8125"),
        ("Creditnummer  CN2025-0057\nBij factuur  F2025-1184", "CN2025-0057"),
        ("N° / Nr.       25-0188       Résidence Les Tilleuls", "25-0188"),
        (
            """
Invoice no.       Invoice date        Order ID             Currency
K-30718826        12 November 2025    48112937-20884116    US Dollar
""",
            "K-30718826",
        ),
        (
            """
PO Box 417            Invoice Number        17 Mill Road
FRANKSTON VIC         INV-3218              SEAFORD VIC 3198
""",
            "INV-3218",
        ),
    ],
)
def test_the_number_next_to_its_label_is_returned_as_printed(text: str, number: str) -> None:
    assert best(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "Tel No: 40069190",
        "Table No 12",
        "Invoice Date: 12/03/2018",
        "Receipt 14:35",
        "Receipt\nMar 14, 2026",
        "Ticket 2",
        "Invoice 12.50",
        "Member No: 123456",
        "FACTURE ORIGINALE\n37",
        "SALE\n4274779 BATTERIES 16.99",
        "OP 112 TILL 7",
        "APPROVAL: 083211\nREF#: 112209",
        "Items in Transaction: 17",
        "Total points in this transaction: 20",
        "Fatura SETEMBRO/2025",
        "Invoice Sep-25",
        "Nota fiscal 20.916.554/0001-40",
    ],
)
def test_numbers_of_other_things_are_not_returned(text: str) -> None:
    assert best(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Order: 112\nReceipt # 5501", "5501"),
        ("TAX INVOICE\n#ORD 30 -REG 12- 10/03/2013 13:57", "30"),
        ("Trans: 40213\nInvoice: 77", "77"),
        ("No. 11, Jalan Perdana 7\nTrans #: 70076", "70076"),
        ("GST/HST No.: 712158922 RT0001\nTrans #: 48647", "48647"),
    ],
)
def test_the_document_number_comes_before_the_order_number(text: str, number: str) -> None:
    assert best(text) == number


def test_values_below_a_row_of_labels_are_assigned_by_order() -> None:
    printed = "Datum Uhrzeit Filiale Pos Bed Bon\n08.04.20 09:51 0000545 003 034 4720"

    assert best(printed) == "4720"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("21/10/2009 21:35   000057", "000057"),
        ("0478 002 3900 03/21/03 15:49 0234541", "0234541"),
        ("Guests: 0   50005", "50005"),
        ("0051 Table 22 #Party 4", "0051"),
        ("Guests: 3            #20031", "20031"),
        ("210101 #7160", "7160"),
        ("S4471 #0381 21:14:05 09AUG2019", "0381"),
        ("0051/001/234   04.09.17 21:35", "0051/001/234"),
        ("INVOICE\n# invoice_number_1", "invoice_number_1"),
    ],
)
def test_a_number_without_a_label_is_near_the_time_the_table_or_a_sign(
    text: str, number: str
) -> None:
    assert best(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "12/07/23 05:17pm 423 6 88",
        "21/10/2009 21:35 1234 5678",
        "Table 2213",
        "STORE #1182",
    ],
)
def test_an_ambiguous_number_is_left_out(text: str) -> None:
    assert best(text) is None


def test_a_number_with_a_sign_may_be_below_a_title_next_to_the_address() -> None:
    heads = "Los Carrera 445       FACTURA ELECTRONICA\nConcepcion            {}"

    assert best(heads.format("N° 4471")) == "4471"
    assert best(heads.format("4471")) is None


def test_digits_in_another_column_are_no_number_of_a_label_above_it() -> None:
    text = "Northwind Plumbing & Gas                 TAX INVOICE\nLic. 41882C · 0455 550 118"

    assert best(text) is None


def test_a_heading_with_digits_leaves_the_next_column_its_number() -> None:
    headings = "Document type        Art. 73        Number of invoice        Invoice number"
    values = "Deferred             no             two                      1127/PA-25"

    assert best(f"{headings}\n{values}") == "1127/PA-25"


def test_a_number_in_groups_ends_with_its_column() -> None:
    text = "8 RUE DU LAC            Facture n° 10 187 442 209            APPT 12"

    assert best(text) == "10 187 442 209"


def test_the_code_of_a_coupon_is_not_the_number_of_the_document() -> None:
    printed = "PEDIDO #4471\nCHEGA DELIVERY\n{0}\nTOTAL R$ 104,40\n"

    found = numbers(rows_of(printed.format("Cupom BEMVINDO15   -17,78")))

    assert [one.value for one in found] == ["4471"]
