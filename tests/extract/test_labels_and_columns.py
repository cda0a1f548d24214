"""Labels, columns and numbers of invoices and receipts as other countries print them."""

import pytest

from recibo.extract import pipeline
from recibo.extract.model import Extracted, Receipt
from tests.extract.typesetting import text_page


def _read(page: str) -> Receipt:
    return pipeline.understand([[text_page(page)]])


def _value(found: Extracted[str] | None) -> str | None:
    return found.value if found else None


def _invoice(head: str, *, sums: str = "", foot: str = "") -> str:
    rows = (
        sums
        or """
Subtotal                                      300.00
VAT 20%                                        60.00
Total                                         360.00"""
    )
    return f"""
Fenwick Design Ltd
4 Mill Lane
York YO1 7HH
{head}
Description                 Qty    Price      Amount
Poster                        3    100.00     300.00
{rows}
{foot}
"""


def test_parties_side_by_side_each_have_a_label() -> None:
    receipt = _read("""
FACTURA
Seria RB  Nr. 0041877                       Data: 24.11.2026

Furnizor: SC DEPOZIT NOU SRL                Client: SC VERDE SRL
CIF: RO14820930                             CIF: RO38112047

Produs            Cantitate   Pret unitar   Valoare
Scaun                  10          50,00      500,00
Total                                         500,00
Total de plata                                500,00 lei
""")

    assert _value(receipt.merchant_name) == "SC DEPOZIT NOU SRL"
    assert _value(receipt.details.customer_name) == "SC VERDE SRL"


@pytest.mark.parametrize("number", ["F 10418", "GS 2026-0188", "SPR 20417"])
def test_a_series_before_a_number_belongs_to_it(number: str) -> None:
    receipt = _read(_invoice(f"Invoice no: {number}\nDate: 12 Nov 2026"))

    assert _value(receipt.document_number) == number


def test_an_account_to_pay_to_is_not_the_total() -> None:
    receipt = _read(
        _invoice(
            "INVOICE 31\nDate: 12 Nov 2026",
            foot="Please pay to: sort code 20-44-18, account 71820443",
        )
    )

    assert receipt.total
    assert str(receipt.total.value) == "360.00"


def test_spaces_separate_thousands_before_a_decimal_point() -> None:
    receipt = _read("""
Protea Civils (Pty) Ltd
Plot 18 Industria Rd, Midrand, 1685, South Africa
TAX INVOICE No: SCC-0007
Date: 2026/11/26

Description                          Amount
Retaining wall                   156 600.00

Subtotal                         156 600.00
VAT @ 15%                         23 490.00
AMOUNT DUE (ZAR)               R 180 090.00
""")

    amounts = (receipt.subtotal, receipt.tax, receipt.total)
    assert [str(one.value) for one in amounts if one] == ["156600.00", "23490.00", "180090.00"]


def test_taxes_of_two_rates_with_labels_between_their_amounts() -> None:
    receipt = _read("""
Gasthof Alte Post
Hauptplatz 3, 5700 Zell am See
UID: ATU61837203
Rechnung Nr. 2026-44718
26.11.2026 20:31
2  Schnitzel             24,90   49,80 B
1  Suppe                          6,20 B
3  Bier                   5,10   15,30 C
Summe EUR                        71,30
B 10%  Netto 50,91 Ust 5,09 Brutto 56,00
C 20%  Netto 12,75 Ust 2,55 Brutto 15,30
""")

    assert receipt.tax
    assert str(receipt.tax.value) == "7.64"


@pytest.mark.parametrize("reminder", ["Checkup due: 14/11/2027", "Next service due 14/11/2027"])
def test_a_reminder_is_not_the_day_of_payment(reminder: str) -> None:
    receipt = _read(_invoice(f"INVOICE 31\nDate: 12/11/2026     {reminder}"))

    assert receipt.details.due_date is None


@pytest.mark.parametrize(
    ("label", "customer"),
    [
        ("Renter:", "Elise Moreau"),
        ("Student:", "Achieng Otieno"),
        ("Credit to:", "The Copper Spoon"),
        ("Service for:", "Maria Delgado"),
        ("Client:", "Rosa Ferreira"),
    ],
)
def test_customers_have_many_labels(label: str, customer: str) -> None:
    receipt = _read(_invoice(f"INVOICE 31\nDate: 12/11/2026\n{label} {customer}"))

    assert _value(receipt.details.customer_name) == customer


def test_the_number_of_a_customer_is_no_part_of_the_name() -> None:
    receipt = _read(_invoice("INVOICE 31\nDate: 12/11/2026\nClient: Rosa Ferreira (4418)"))

    assert _value(receipt.details.customer_name) == "Rosa Ferreira"


def test_labels_and_values_in_two_columns_need_no_colons() -> None:
    receipt = _read(
        _invoice("""
Invoice          31
Invoice date     12/11/2026
Customer         Rosa Ferreira
Account          004418-02
Job              Posters""")
    )

    assert _value(receipt.details.customer_name) == "Rosa Ferreira"


@pytest.mark.parametrize(
    "payment", ["Paid: VISA xx8841", "Visa - 8841", "VISA ACCT 8841", "VISA ************8841"]
)
def test_cards_are_named_in_many_ways(payment: str) -> None:
    receipt = _read(_invoice("INVOICE 31\nDate: 12/11/2026", foot=f"{payment}    360.00"))

    assert [one.value.last4 for one in receipt.details.payments] == ["8841"]


def test_what_was_invoiced_before_is_no_discount() -> None:
    sums = """
Value to date                                 500.00
Less: Previously certified                   -200.00
Subtotal                                      300.00
VAT 20%                                        60.00
Amount due                                    360.00"""
    receipt = _read(_invoice("TAX INVOICE 31\nDate: 12/11/2026", sums=sums))

    assert receipt.details.discount is None


@pytest.mark.parametrize(
    ("printed", "day"),
    [("Date 26 month 11 year 2026", "2026-11-26"), ("Ngày 3 tháng 2 năm 2026", "2026-02-03")],
)
def test_dates_with_the_words_for_month_and_year(printed: str, day: str) -> None:
    receipt = _read(_invoice(f"INVOICE 31\n{printed}"))

    assert receipt.issued_at
    assert receipt.issued_at.value.date.isoformat() == day


@pytest.mark.parametrize(
    "name",
    [
        "Tischlerei Gruber e.U.",
        "Sportverein Lindenau e.V.",
        "PAPELERA INCA S.A.C.",
        "Nordtel UAB",
        "Kovač Usluge d.o.o.",
        "Kancelaria Lipska sp.k.",
    ],
)
def test_legal_forms_of_other_countries_end_names(name: str) -> None:
    receipt = _read(_invoice("INVOICE 31\nDate: 12/11/2026").replace("Fenwick Design Ltd", name))

    assert _value(receipt.merchant_name) == name


def test_a_form_before_the_name_begins_another_name() -> None:
    receipt = _read("""
WARUNG DEWI
PT BOGA NUSANTARA
Jl. Sudirman Kav 18, Jakarta
No. Struk : TN-0188
Tgl : 26/11/2026  13:15
Ayam Goreng               45.000
Total             Rp     45.000
""")

    assert _value(receipt.merchant_name) in ("WARUNG DEWI", "PT BOGA NUSANTARA")


@pytest.mark.parametrize("label", ["Rent due", "Bill due", "Renewal due", "Fee due:"])
def test_payments_of_many_kinds_are_due(label: str) -> None:
    receipt = _read(_invoice(f"INVOICE 31\nDate: 12/11/2026\n{label} 12/12/2026"))

    assert receipt.details.due_date
    assert receipt.details.due_date.value.isoformat() == "2026-12-12"


@pytest.mark.parametrize("printed", ["MAY 2026", "TO 2026-0188"])
def test_months_and_joining_words_are_no_series(printed: str) -> None:
    receipt = _read(_invoice(f"Invoice no: {printed}\nDate: 12 Nov 2026"))

    assert _value(receipt.document_number) != printed


@pytest.mark.parametrize("name", ["BODY RENEWAL", "CHEZ AVOIR", "(The) Corner Bakery"])
def test_names_with_words_of_documents_are_whole(name: str) -> None:
    receipt = _read(_invoice("INVOICE 31\nDate: 12/11/2026").replace("Fenwick Design Ltd", name))

    assert _value(receipt.merchant_name) == name


def test_a_returned_article_is_no_discount() -> None:
    receipt = _read("""
Corner Store
5 High St, York YO1 7HH
12/11/2026 14:02
Wine                 17.00
Jacket               20.00
Shirt               -12.00
Total GBP            25.00
""")

    assert receipt.details.discount is None


@pytest.mark.parametrize("name", ["St Emilion", "Piece Cake", "Unit Stands"])
def test_words_like_units_begin_names(name: str) -> None:
    receipt = _read(f"""
Corner Store
5 High St, York YO1 7HH
12/11/2026 14:02
1 {name}           17.00
1 {name} large     20.00
Total GBP            37.00
""")

    assert [item.value.name for item in receipt.line_items] == [name, f"{name} large"]


def test_the_contents_of_a_pack_below_a_title_are_no_number() -> None:
    receipt = _read("""
Kestrel Bar
160 King's Parade, York YO1 7HH
TAX INVOICE
DARK CHOC 100G       69.33
Gala Apples          36.70
Total GBP           106.03
Order #: 71184
12/11/2026 14:02
""")

    assert _value(receipt.document_number) == "71184"
