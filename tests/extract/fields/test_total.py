from decimal import Decimal

from recibo.extract import pipeline
from recibo.extract.fields.labelled_amounts import Role, entries
from recibo.extract.fields.total import blanks, labelled, totals
from recibo.extract.model import Extracted
from tests.extract.fields.foreign_receipts import AMERICAN, GERMAN, MALAYSIAN, rows_of
from tests.extract.typesetting import text_page


def best(text: str) -> str:
    return str(totals(entries(rows_of(text)))[0].value)


def test_the_labelled_amount_is_the_total() -> None:
    assert (best(MALAYSIAN), best(AMERICAN), best(GERMAN)) == ("73.50", "21.60", "11.90")


def test_the_totals_of_a_tax_table_are_not_the_total() -> None:
    printed = "TOTAL 106.00\nGST SUMMARY AMOUNT TAX\nSR 6% 100.00 6.00\nTOTAL 100.00 6.00"

    assert best(printed) == "106.00"


def test_the_total_of_a_credit_note_keeps_its_sign() -> None:
    printed = """
Returned table          -649.00
Returned bench          -379.00
Total                 -1,028.00
The credit of 1,028.00 is refunded within 14 days.
"""

    assert best(printed) == "-1028.00"


def test_the_evidence_is_the_box_of_the_amount() -> None:
    rows = rows_of("MILK 2.00\nTOTAL 12.50")
    found = totals(entries(rows))[0]

    assert found.text == "TOTAL 12.50"
    assert found.box is not None
    assert found.box.x0 > rows[1].line.box.x0


def test_a_document_without_amounts_has_no_total() -> None:
    assert totals(entries(rows_of("NOTHING HERE"))) == ()


def test_parts_are_collected_by_their_role() -> None:
    found = entries(rows_of(MALAYSIAN))

    assert [str(part.value) for part in labelled(found, Role.TAX)] == ["4.16"]
    assert [str(part.value) for part in labelled(found, Role.ROUNDING)] == ["-0.01"]


def test_an_amount_converted_to_another_currency_is_not_the_total() -> None:
    rows = rows_of("TOTAL EUR 15,00\nTOTAL GBP 113,02\nBAR EUR 15,00")
    currencies = [Extracted(code, 0.9, code) for code in ("EUR", "GBP")]

    assert str(totals(entries(rows), currencies)[0].value) == "15.00"


def test_a_dash_that_dot_matrix_print_has_for_a_point_is_a_point() -> None:
    recognized = """
    CORNER STORE
    Subtotal        19.80
    TOTAL           19-80
    CASH            50.00
    CHANGE          30.20
    """
    total = pipeline.understand([[text_page(recognized, exact=False)]]).total

    assert total is not None
    assert total.value == Decimal("19.80")
    assert total.text == "TOTAL 19.80"


def test_a_dash_between_numbers_of_a_text_layer_is_no_point() -> None:
    printed = "Hours 10-22\nSOUP 4.00\nTOTAL 4.00"

    receipt = pipeline.understand([[text_page(printed)]])

    assert receipt.total is not None
    assert [one.value for one in receipt.total.alternatives] == []


def test_a_subtotal_with_a_tax_still_to_be_added_is_hardly_the_total() -> None:
    printed = "SOUP 28.25\nSUBTOTAL 28.25\nSALES TAX 8.25% 2.33\nTHANK YOU"

    assert totals(entries(rows_of(printed)))[0].confidence < 0.5


def test_a_subtotal_above_a_total_left_blank_is_hardly_the_total() -> None:
    rows = rows_of("BREAD 1.20\nMILK 0.90\nSUBTOTAL 2.10\nVAT\nTOTAL ______")

    assert blanks(rows) == (4,)
    assert totals(entries(rows), blanks=blanks(rows))[0].confidence < 0.5


def test_a_total_whose_amount_is_below_it_is_not_blank() -> None:
    assert blanks(rows_of("SUBTOTAL 2.10\nTOTAL\n2.50")) == ()


def test_a_subtotal_that_was_paid_by_card_is_likelier_the_total() -> None:
    printed = "SUBTOTAL 28.25\nSALES TAX 2.33"
    unpaid, paid = (
        totals(entries(rows_of(text)))[0] for text in (printed, f"{printed}\nVISA 28.25")
    )

    assert paid.value == unpaid.value
    assert paid.confidence > unpaid.confidence


def test_a_total_of_points_is_not_money() -> None:
    printed = "TEA 1.40\nRICE 12.80\nPOINTS TOTAL 480\nTOTAL PUNTOS 480"

    assert "480" not in [str(total.value) for total in totals(entries(rows_of(printed)))]


def likelihood(text: str, value: str) -> float:
    found = totals(entries(rows_of(text)))
    return next(total.confidence for total in found if str(total.value) == value)


def test_the_subtotal_at_the_end_of_a_cut_receipt_is_hardly_the_total() -> None:
    printed = "CHEESE 8.49\nWINE 24.80\nSUBTOTAL 33.29"

    assert likelihood(printed, "33.29") < 0.5 < likelihood(f"{printed}\nVISA 33.29", "33.29")


def test_the_balance_after_a_payment_is_not_the_total() -> None:
    assert best("ROOM 201.00\nTAX 12.06\nAMERICAN EXPRESS 213.06-\nBALANCE DUE 0.00") == "213.06"
    assert best("MILK 2.00\nDISCOUNT 2.00-\nTOTAL 0.00") == "0.00"


def test_a_single_amount_of_money_is_the_total_without_a_label() -> None:
    def total(printed: str) -> Decimal | None:
        found = pipeline.understand([[text_page(printed)]]).total
        return found.value if found else None

    proof = "Comprovante de Pix\n05/12/2025 14:26:53\n{0}\nPara\nNome: MARCENARIA CEDRO LTDA\n"
    assert total(proof.format("R$ 1.680,00")) == Decimal("1680.00")
    # Without a symbol it may be anything.
    assert total(proof.format("1.680,00")) is None
    assert total(proof.format("R$ 1.680,00\nR$ 12,00")) is None


def test_a_single_amount_is_to_be_checked_unless_it_was_transferred() -> None:
    def confidence(printed: str) -> float:
        found = pipeline.understand([[text_page(printed)]]).total
        return found.confidence if found else 0

    assert 0 < confidence("BAKERY LINDEN\n26/11/2026\nRye bread    R$ 4,50\n") < 0.7
    proof = "Comprovante de Pix\n05/12/2025\nR$ 1.680,00\nPara\nNome: RUI PRADO\nDe\nNome: ANA"
    assert confidence(proof) > 0.7
