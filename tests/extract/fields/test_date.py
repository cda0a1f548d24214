import pytest

from recibo.extract.fields.date import moments
from recibo.extract.fields.locale_detection import locate
from tests.extract.fields.foreign_receipts import AMERICAN, GERMAN, MALAYSIAN, rows_of


def issued(text: str) -> str | None:
    rows = rows_of(text)
    found = moments(rows, locate(rows))
    return found[0].value.isoformat() if found else None


def likelihood(text: str) -> float:
    rows = rows_of(text)
    return moments(rows, locate(rows))[0].confidence


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        (MALAYSIAN, "2018-03-05T14:31:00+08:00"),
        (AMERICAN, "2019-03-04T19:05:00-08:00"),
        (GERMAN, "2019-04-03T14:35:00+02:00"),
    ],
)
def test_order_time_and_offset_follow_the_country(text: str, moment: str) -> None:
    assert issued(text) == moment


def test_the_invoice_date_comes_before_other_dates() -> None:
    printed = "Order Date: 01/02/2018\nInvoice Date: 03/02/2018\nDue Date: 05/03/2018"

    assert issued(printed) == "2018-02-03T00:00:00+00:00"


def test_of_labels_with_a_slash_between_them_the_first_one_counts() -> None:
    printed = "Invoice date / Delivery date 08 March 2026\nOrder date 06 March 2026"

    assert issued(printed) == "2026-03-08T00:00:00+00:00"


def test_the_day_of_a_german_letter_comes_before_that_of_the_service() -> None:
    printed = "Rechnung Nr. 26-0418\nKiel, den 08.05.2026\nLeistungsdatum: 05.05.2026"

    assert issued(printed) == "2026-05-08T00:00:00+00:00"


def test_a_date_on_the_page_shows_the_order_of_the_others() -> None:
    printed = "Date: 03/04/2018\nReturn by 25/04/2018"

    assert issued(printed) == "2018-04-03T00:00:00+00:00"


def test_digits_without_separators_are_a_date_if_there_is_no_other() -> None:
    assert issued("27032018 No.CS-20242\nTOTAL 12.50") == "2018-03-27T00:00:00+00:00"
    assert issued("27032018 No.CS-20242\n05/04/2018") == "2018-04-05T00:00:00+00:00"


def test_a_year_before_the_tax_was_introduced_is_corrected() -> None:
    printed = "SELANGOR, MALAYSIA\n15-03-13 15:41\nTOTAL RM 5.00"

    assert issued(printed) == "2013-03-15T15:41:00+08:00"
    assert issued(f"{printed}\nGST 6% 0.28") == "2018-03-15T15:41:00+08:00"


def test_an_impossible_date_is_repaired_only_without_another_date() -> None:
    assert issued("22/72/2017\nTOTAL 12.50") == "2017-12-22T00:00:00+00:00"
    assert issued("22/72/2017\n05/04/2018") == "2018-04-05T00:00:00+00:00"


def test_a_joining_word_between_a_year_and_a_day_is_no_month() -> None:
    assert issued("FATTURA N. 118/2026 del 22/04/2026") == "2026-04-22T00:00:00+02:00"


@pytest.mark.parametrize(
    "row", ["Invoice No 20250314", "Catch of the day 5.00", "Avocado 4 @ 4/5.00   5.00"]
)
def test_numbers_and_items_are_not_dates(row: str) -> None:
    assert issued(f"JOES CAFE\n{row}\nTOTAL $5.00") is None


@pytest.mark.parametrize("row", ["Promo ends 31.12.2025", "Batch 12/03/25"])
def test_the_end_of_an_offer_and_a_batch_are_hardly_the_date_of_issue(row: str) -> None:
    rows = rows_of(f"JOES CAFE\n{row}\nTOTAL $5.00")

    assert all(moment.confidence < 0.3 for moment in moments(rows, locate(rows)))


def test_without_a_date_nothing_is_invented() -> None:
    assert issued("TEL 03-8733 1234\nTOTAL 12.50\n9556939040118") is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("PARAGON FISKALNY 2023-03-21\nKrakow\nCHLEB\nBULKA\nSUMA PLN 8,10\n12:03", "T12:03:00"),
        ("PARAGON FISKALNY 2023-03-21\nKrakow\n9:00 - 12:00\nBULKA\nSUMA PLN 8,10", "T00:00:00"),
    ],
)
def test_a_time_far_from_the_date_counts_if_it_is_the_only_one(text: str, moment: str) -> None:
    assert issued(text) == f"2023-03-21{moment}+01:00"


def test_the_label_of_an_amount_does_not_apply_to_a_date_near_it() -> None:
    assert issued("CHANGE DUE 2.60\n11/03/2024 09:12 AM") == "2024-03-11T09:12:00+00:00"
    assert issued("AMOUNT DUE 2.60 11/03/2024") == "2024-03-11T00:00:00+00:00"
    assert likelihood("CHANGE DUE\n11/03/2024") > 0.3
    assert likelihood("DUE\n11/03/2024") < 0.3 < likelihood("CHANGE DUE 2.60\n11/03/2024")


@pytest.mark.parametrize(
    "printed",
    [
        "Arrival: 12/06/2025\nDeparture: 14/06/2025",
        "Service date 13/06/2025\nStatement date 14/06/2025",
        "Hinfahrt: Berlin - Ulm am 18.06.2025\nGebucht am: 14.06.2025",
        "Partenza: Milano 18/06/2025 08:10\nArrivo: Roma 18/06/2025\nData di acquisto: 14/06/2025",
    ],
)
def test_a_start_or_a_journey_is_the_date_only_if_there_is_no_other(printed: str) -> None:
    assert str(issued(printed)).startswith("2025-06-14")


def test_an_arrival_is_less_likely_the_date_than_one_without_a_label() -> None:
    assert likelihood("Arrival 13/06/2025") < likelihood("13/06/2025")


def test_a_date_in_a_list_is_hardly_the_date_of_issue() -> None:
    printed = """
Guest: Ann Stone      Room 1107
14/06/2025
Date         Text           Number
12/06/2025   Room           201.00
12/06/2025   City dues       12.06
"""

    assert str(issued(printed)).startswith("2025-06-14")


def test_of_two_times_the_later_one_is_that_of_the_payment() -> None:
    printed = "ENTERED 23/07/25 13:10\nEXITED 23/07/25 16:55\nPAID 18.00"

    assert str(issued(printed)).startswith("2025-07-23T16:55")


@pytest.mark.parametrize(
    "row", ["Phone 12.05.22", "Tel: 12.05.22", "TILL v1.2.25", "Version 3.1.25"]
)
def test_telephone_and_version_numbers_are_not_dates(row: str) -> None:
    assert issued(f"BAR PLAZA\n{row}\nTOTAL 9,20 EUR") is None


def test_the_time_of_another_day_is_not_that_of_the_sale() -> None:
    printed = "Data di acquisto: 14/06/2025\nPartenza: 18/06/2025 08:10"

    assert str(issued(printed)).startswith("2025-06-14T00:00")


@pytest.mark.parametrize("row", ["INICIO 23:34  FIN 23:51", "Start 23:34   End 23:51"])
def test_a_ride_is_dated_by_its_end(row: str) -> None:
    assert str(issued(f"FECHA 17/03/2025\n{row}\nTOTAL 18.35")).startswith("2025-03-17T23:51")


def test_the_only_row_of_an_account_may_have_the_date() -> None:
    account = "Date         Description      Total\n16/10/2025   Streaming        17.99"

    assert likelihood(account) > 0.9 > likelihood(f"{account}\n17/10/2025   Streaming   17.99")


@pytest.mark.parametrize(
    "label", ["Fecha de cargo", "Direct debit on", "Abbuchung am", "Pagar até", "A payer avant le"]
)
def test_the_day_on_which_it_is_to_be_paid_is_not_that_of_issue(label: str) -> None:
    found = issued(f"{label} 16/02/2026\nEmisión 06/02/2026\nTOTAL 77,13 EUR")

    assert str(found).startswith("2026-02-06")
