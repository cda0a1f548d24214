import datetime as dt

import pytest

from recibo.extract.fields.place import Place, locate
from tests.extract.fields.papers_abroad import AMERICAN, GERMAN, MALAYSIAN, rows_of


def country(text: str) -> str | None:
    place = locate(rows_of(text))
    return place.country.code if place.country else None


@pytest.mark.parametrize(("text", "code"), [(MALAYSIAN, "MY"), (AMERICAN, "US"), (GERMAN, "DE")])
def test_a_paper_shows_its_country(text: str, code: str) -> None:
    assert country(text) == code


def test_a_paper_that_shows_nothing_has_no_country() -> None:
    assert country("COFFEE 3.00\nTOTAL 3.00") is None


def test_two_countries_as_likely_are_none() -> None:
    assert country("Jakarta Bangkok\nIDR 5 THB 5") is None


def test_a_state_tells_the_clock_of_a_wide_country() -> None:
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
def test_a_brazilian_receipt_shows_the_clock_of_its_state(address: str, hours: int) -> None:
    place = locate(rows_of(f"PADARIA AURORA LTDA\n{address}\nCNPJ 60.746.948/0001-12\nR$ 5,00"))

    assert place.offset(dt.date(2026, 3, 14), None) == dt.timedelta(hours=hours)


def test_without_a_place_there_is_no_offset() -> None:
    assert Place().offset(dt.date(2019, 1, 1), None) is None
