import pytest

from recibo.extract.fields.labelled_amounts import Role, entries, role_of
from tests.extract.fields.foreign_receipts import MALAYSIAN, rows_of


def roles(text: str) -> dict[str, Role]:
    return {str(entry.amount.value): entry.role for entry in entries(rows_of(text))}


@pytest.mark.parametrize(
    ("row", "role"),
    [
        ("Grand Total        5.00", Role.PAYABLE),
        ("TOTAL              5.00", Role.TOTAL),
        ("Total (excl. GST)  5.00", Role.SUBTOTAL),
        ("Total before disc  5.00", Role.SUBTOTAL),
        ("Total after discount 5.00", Role.PAYABLE),
        ("Sub Total          5.00", Role.SUBTOTAL),
        ("Total Qty          5.00", Role.COUNT),
        ("Rounding Adj       5.00", Role.ROUNDING),
        ("Less: Round Off    5.00", Role.ROUNDING),
        ("Cash Tendered      5.00", Role.CASH),
        ("Troco R$           5,00", Role.CHANGE),
        ("zu zahlen          5,00", Role.PAYABLE),
        ("Discount           5.00", Role.DISCOUNT),
        ("Milk               5.00", Role.NONE),
    ],
)
def test_the_label_decides_the_role(row: str, role: Role) -> None:
    assert roles(row) == {"5.00": role}


def test_each_amount_belongs_to_the_label_on_its_left() -> None:
    assert roles("CASH 50.00 CHANGE 2.10") == {"50.00": Role.CASH, "2.10": Role.CHANGE}


def test_the_sum_of_repeated_discounts_is_no_total() -> None:
    repeated = """
TOTAL              46.08
YOUR SAVINGS
Club Savings        1.99
Coupons             4.00
Total               5.99
"""

    assert roles(repeated) == {
        "46.08": Role.TOTAL,
        "1.99": Role.COUNT,
        "4.00": Role.COUNT,
        "5.99": Role.COUNT,
    }


def test_a_label_may_be_above_its_amount() -> None:
    assert roles("TOTAL\n12.50") == {"12.50": Role.TOTAL}


def test_amounts_below_headings_have_the_role_of_their_column() -> None:
    printed = "Net          VAT        Total\n120.00       24.00      144.00"

    assert roles(printed) == {"120.00": Role.SUBTOTAL, "24.00": Role.TAX, "144.00": Role.TOTAL}


def test_items_below_a_title_are_not_its_amounts() -> None:
    assert roles("TAX INVOICE\nMilk 3.98") == {"3.98": Role.NONE}


@pytest.mark.parametrize(
    "row",
    [
        "Total Ilíquido     100,00",
        "Osnovica           100,00",
        "Καθαρή αξία        100,00",
        "VATable Sales      100.00",
        "Op. Gravada        100.00",
        "Matrah             100,00",
    ],
)
def test_the_taxable_amount_is_a_subtotal_in_many_languages(row: str) -> None:
    assert roles(row).popitem()[1] is Role.SUBTOTAL


def test_a_total_of_taxes_is_a_tax_and_a_total_with_tax_is_a_total() -> None:
    printed = "Sub Total 100.00\nTotal GST 6.00\nTotal inclusive GST 106.00"

    assert roles(printed) == {"100.00": Role.SUBTOTAL, "6.00": Role.TAX, "106.00": Role.PAYABLE}


@pytest.mark.parametrize("name", ["Net Total", "Net Number", "Total", "Number Due before VAT"])
def test_an_amount_that_with_its_taxes_is_the_total_is_a_subtotal(name: str) -> None:
    printed = f"{name} 100.00\nDelivery 5.00\nCGST 9% 9.00\nSGST 9% 9.00\nTOTAL 123.00"

    assert roles(printed)["100.00"] is Role.SUBTOTAL


def test_a_total_with_its_tax_below_it_stays_one() -> None:
    printed = "Total 106.00\nGST 6.00\nTotal Number 106.00"

    assert roles("Net Total 106.00\nGST 6.00\nCash 110.00")["106.00"] is Role.PAYABLE
    assert roles(printed)["106.00"] is Role.TOTAL


def test_an_amount_of_a_usual_rate_is_a_tax_whatever_its_label() -> None:
    assert roles("Total including tax 6.00\nTOTAL 106.00")["6.00"] is Role.TAX


def test_an_amount_too_large_for_a_tax_is_a_total_whatever_its_label() -> None:
    assert roles("TOTAL 106.00\nTOTAL SALES TAX 90.00")["90.00"] is Role.TOTAL


def test_a_tax_included_that_is_too_large_is_the_total() -> None:
    printed = "Sub Total 835.00\nlal Inclusive GST: 635.00"

    assert roles(printed) == {"835.00": Role.SUBTOTAL, "635.00": Role.TOTAL}


def test_the_decimal_point_of_a_rounding_may_be_missing() -> None:
    assert roles("Rounding Adjustment: 002") == {"0.02": Role.ROUNDING}
    assert roles("Rounding Adjustment: 2") == {"2": Role.ROUNDING}


def test_without_a_label_there_is_no_role() -> None:
    assert role_of([]) is Role.NONE


def test_rates_are_not_amounts() -> None:
    assert "6" not in roles(MALAYSIAN)


def test_a_payment_is_shown_as_a_credit_but_given_back_where_the_total_is() -> None:
    assert roles("ROOM 9.00\nVISA 9.00-") == {"9.00": Role.CARD}
    assert roles("TOTAL -9.00\nVISA -8.00") == {"-9.00": Role.TOTAL, "-8.00": Role.CARD}


DASHED = """
Total 0% supplies       19.83
Total 6% supplies       32.05
Total payable          -51.88
"""


def test_a_dash_before_a_total_that_adds_up_without_it_is_no_minus() -> None:
    assert roles(DASHED)["51.88"] is Role.PAYABLE
    assert "-51.89" in roles(DASHED.replace("51.88", "51.89"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            """
Base Imponible     % IVA    Cuota IVA    Total Factura
100,00             21       21,00        121,00
""",
            {"100.00": Role.SUBTOTAL, "21": Role.TAX, "21.00": Role.TAX, "121.00": Role.PAYABLE},
        ),
        (
            """
      Net          VAT          Total
   120.00        24.00         144.00
""",
            {"120.00": Role.SUBTOTAL, "24.00": Role.TAX, "144.00": Role.TOTAL},
        ),
        ("Goods    Total\n   4     12.50", {"4": Role.TOTAL, "12.50": Role.TOTAL}),
    ],
)
def test_an_amount_belongs_to_the_heading_above_it(text: str, expected: dict[str, Role]) -> None:
    assert roles(text) == expected


@pytest.mark.parametrize("rate", ["0.9300", "1.0753"])
def test_a_total_in_another_currency_is_no_total(rate: str) -> None:
    converted = {"0.9300": "153.33", "1.0753": "153.34"}[rate]

    found = roles(f"Total CHF  142.60\nTotal EUR (Kurs {rate})  {converted}")

    assert found == {"142.60": Role.PAYABLE, rate: Role.COUNT, converted: Role.COUNT}


def test_an_amount_next_to_a_rate_that_does_not_lead_to_it_is_a_total() -> None:
    assert roles("Total CHF 142.60\nTotal EUR (Kurs 0.9300) 99.00")["99.00"] is Role.PAYABLE


@pytest.mark.parametrize(
    "printed",
    ["Total  91.93  15.65\nGrand Total  107.58", "Total  91.93  15.65  107.58"],
)
def test_two_totals_in_a_row_that_add_up_to_another_are_a_sum_and_its_tax(printed: str) -> None:
    found = roles(printed)

    assert (found["91.93"], found["15.65"]) == (Role.SUBTOTAL, Role.TAX)
    assert found["107.58"] in (Role.TOTAL, Role.PAYABLE)


def test_two_totals_in_a_row_without_their_sum_stay_totals() -> None:
    found = roles("Total  91.93  15.65\nGrand Total  120.00")

    assert (found["91.93"], found["15.65"]) == (Role.TOTAL, Role.TOTAL)


@pytest.mark.parametrize(("rate", "role"), [("8%", Role.TAX), ("10%", Role.NONE)])
def test_an_amount_whose_rate_leads_from_a_subtotal_to_the_total_is_a_tax(
    rate: str, role: Role
) -> None:
    found = roles(f"Subtotal 172.20\nXYZ {rate} 13.78\nTotal 185.98")

    assert found["13.78"] is role


@pytest.mark.parametrize(("paid", "role"), [("20,00", Role.PAYABLE), ("21,00", Role.SUM)])
def test_what_is_left_of_a_sum_after_its_discount_is_payable(paid: str, role: Role) -> None:
    found = roles(f"VALOR R$ 26,00\nDESCONTO R$ 6,00\nVALOR PAGO R$ {paid}")

    assert found[paid.replace(",", ".")] is role


def test_a_total_that_a_rounding_makes_payable_is_a_subtotal() -> None:
    found = roles("Total 42.19\nRounding 0.01\nAmount payable 42.20")

    assert (found["42.19"], found["42.20"]) == (Role.SUBTOTAL, Role.PAYABLE)


def test_several_taxes_whose_rates_lead_from_a_subtotal_to_the_total_are_taxes() -> None:
    found = roles("Subtotal 100.00\nXYZ 16% 16.00\nTipo de cambio 1\nABC 3% 3.00\nTotal 119.00")

    assert (found["16.00"], found["3.00"]) == (Role.TAX, Role.TAX)


@pytest.mark.parametrize(
    ("row", "role"),
    [
        ("Cupom FOME15 - R$ 15,00", Role.DISCOUNT),
        ("Desc. Cartão 0,06/L -15,00", Role.DISCOUNT),
        ("Cupom FOME15 R$ 15,00", Role.NONE),
        ("Pacote FOME15 - R$ 15,00", Role.NONE),
    ],
)
def test_a_row_with_a_word_for_a_discount_and_a_minus_is_one(row: str, role: Role) -> None:
    assert list(roles(row).values())[-1] is role


def test_what_leads_from_a_total_down_to_the_next_one_is_a_discount() -> None:
    found = roles("TOTAL R$ 455,60\nVOLTA AS AULAS 10% 45,56\nTOTAL A PAGAR R$ 410,04")

    assert list(found.values()) == [Role.SUBTOTAL, Role.DISCOUNT, Role.PAYABLE]
