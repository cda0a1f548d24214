from zoneinfo import ZoneInfo

import pytest

from recibo.extract.fields import check_digits
from recibo.extract.model import Category
from recibo.extract.text import lexicon, tables
from recibo.extract.text.tables import Country

COUNTRIES = list(tables.countries().values())


@pytest.mark.parametrize("country", COUNTRIES, ids=lambda country: country.code)
def test_a_country_has_a_known_currency_and_time_zone(country: Country) -> None:
    assert country.currency in tables.currencies()
    assert country.zone is None or ZoneInfo(country.zone).key == country.zone


def test_every_region_has_a_known_time_zone() -> None:
    zones = {zone for row in tables.regions().values() for zone in row.values()}

    assert all(ZoneInfo(zone) for zone in zones)


def test_the_languages_of_countries_have_labels() -> None:
    languages = {language for country in COUNTRIES for language in country.languages}

    assert languages - set(lexicon.phrases_by_language()) <= {"hu", "ro", "cs"}


def test_tax_numbers_have_known_check_digit_rules() -> None:
    rules = {number.check for number in tables.tax_numbers() if number.check}

    assert not any(check_digits.passes(rule, "ABC") for rule in rules)


def test_every_category_has_words() -> None:
    assert {category.value for category in Category} == set(tables.categories())


def test_months_of_all_languages_are_numbered() -> None:
    months = lexicon.months()

    assert (months["mac"], months["ogos"], months["dezembro"], months["aout"]) == (3, 8, 12, 8)


def test_every_city_has_a_known_time_zone_and_country() -> None:
    assert set(tables.cities()) <= set(tables.countries())
    assert all(ZoneInfo(zone) for row in tables.cities().values() for zone in row)
