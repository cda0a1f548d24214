import datetime as dt

import pytest

from recibo.extract.fields.locale_detection import Place, locate
from tests.extract.fields.foreign_receipts import AMERICAN, GERMAN, MALAYSIAN, rows_of


def country(text: str) -> str | None:
    place = locate(rows_of(text))
    return place.country.code if place.country else None


@pytest.mark.parametrize(("text", "code"), [(MALAYSIAN, "MY"), (AMERICAN, "US"), (GERMAN, "DE")])
def test_a_document_shows_its_country(text: str, code: str) -> None:
    assert country(text) == code


def test_a_legal_form_of_two_countries_is_decided_by_other_evidence() -> None:
    assert country("PANADERIA LIZANA S.p.A.\nValparaíso\nCantidad 3\nEfectivo $ 500") == "CL"
    assert country("PANIFICIO LIZZANO S.p.A.\nVia Roma 3\nContanti 5,00") == "IT"


@pytest.mark.parametrize("town", ["Springfield, IL 62701", "Dover, DE 19901", "Metairie, LA"])
def test_the_code_of_a_state_is_not_a_word_of_a_language(town: str) -> None:
    text = f"JOES CAFE\n1 Main St\n{town}\nTea $1.40 $1.40\nRice $12.80 $12.80\nTotal $14.20"

    assert locate(rows_of(text)).language == "en"
    assert country(text) == "US"


def test_a_document_without_evidence_has_no_country() -> None:
    assert country("COFFEE 3.00\nTOTAL 3.00") is None


def test_of_two_equally_likely_countries_none_is_chosen() -> None:
    assert country("Jakarta Bangkok\nIDR 5 THB 5") is None


def test_a_state_decides_the_time_zone_of_a_large_country() -> None:
    place = locate(rows_of(AMERICAN))

    assert place.zone == "America/Los_Angeles"
    assert place.offset(dt.date(2019, 7, 1), None) == dt.timedelta(hours=-7)
    assert place.offset(dt.date(2019, 1, 1), None) == dt.timedelta(hours=-8)


@pytest.mark.parametrize(
    ("address", "hours"),
    [
        ("Rua das Flores 12 - Sao Paulo - SP", -3),
        ("Av Getulio Vargas 100 MANAUS/AM", -4),
        ("CEP 69900-100", -5),
        ("", -3),
    ],
)
def test_a_brazilian_receipt_has_the_time_zone_of_its_state(address: str, hours: int) -> None:
    place = locate(rows_of(f"PADARIA AURORA LTDA\n{address}\nCNPJ 60.746.948/0001-12\nR$ 5,00"))

    assert place.offset(dt.date(2026, 3, 14), None) == dt.timedelta(hours=hours)


def test_without_a_place_there_is_no_offset() -> None:
    assert Place().offset(dt.date(2019, 1, 1), None) is None


@pytest.mark.parametrize(
    ("text", "winter", "summer"),
    [
        ("1420 5th Ave\nSeattle, WA  206-555-0110\nTax $0.68", -8, -7),
        ("Phoenix AZ 85001\nTotal $5.00", -7, -7),
        ("Honolulu, HI 96813\nTotal $5.00", -10, -10),
        ("Blvd Ste 4 Houston\nSales Tax 0.50\nUSA", -6, -5),
        ("Calgary, AB T2P 1J9\nTotal CAD 5.00", -7, -6),
        ("Regina, SK S4P 3Y2\nTotal CAD 5.00", -6, -6),
        ("Brisbane QLD 4000\nABN 51 824 753 556", 10, 10),
        ("Shop 4 Balmain NSW 2041\nABN 51 824 753 556", 11, 10),
        ("Jl. Sudirman 10 Jakarta\nNPWP 01.234.567.8-901.000\nTotal Rp 35.000", 7, 7),
        ("Ubud, Bali\nNPWP 01.234.567.8-901.000\nTotal Rp 35.000", 8, 8),
        ("Cancun Q Roo Mexico\nRFC CSO920617AB4", -5, -5),
        ("Monterrey Mexico\nRFC CSO920617AB4", -6, -6),
        ("Las Palmas de Gran Canaria\nNIF B12345674\nIGIC 7%", 0, 1),
        ("Madrid España\nNIF B12345674\nIVA 10%", 1, 2),
        ("Auckland New Zealand\nGST 49-091-850", 13, 12),
        ("Wien Österreich\nATU13585627", 1, 2),
        ("東京都渋谷区\nありがとうございました\n合計 ¥270", 9, 9),
    ],
)
def test_the_offset_is_that_of_the_state_or_city_on_that_date(
    text: str, winter: int, summer: int
) -> None:
    place = locate(rows_of(text))

    assert place.offset(dt.date(2023, 1, 15), None) == dt.timedelta(hours=winter)
    assert place.offset(dt.date(2023, 7, 15), None) == dt.timedelta(hours=summer)


def test_a_tax_without_a_name_is_american() -> None:
    assert (
        country("THE BRASS LANTERN\nTbl 31 Gst 3\nFood 41.00\nTax 3.28\nAmount Due 44.28") == "US"
    )
    assert country("THE BRASS LANTERN\nFood 41.00\nTax 3.28\nGST 6% incl\nAmount Due 44.28") is None


def test_a_unit_is_not_a_legal_form() -> None:
    assert country("KIWI DAIRY\n101 Cuba St, Wellington 6011\nCola 1.5L 8.20\nTOTAL 8.20") != "ES"


def test_a_date_with_the_month_first_is_american() -> None:
    assert country("TACO STAND\nThank you\n8/30/2025\nTOTAL 6.98") == "US"
    assert country("TACO STAND\nThank you\n8/12/2025\nTOTAL 6.98") is None


def test_a_german_decimal_comma_implies_the_euro() -> None:
    printed = "Löwen-Apotheke\nIbu 5,90\nZuzahlung 10,00\nSpray 8,00\nSumme 23,90\nzurück 26,10"

    assert locate(rows_of(printed)).currency == "EUR"
    assert locate(rows_of(printed.replace(",", "."))).currency != "EUR"
