import pytest
from hypothesis import given

from recibo.extract.brazil import access_keys
from recibo.extract.brazil.access_keys import Model
from recibo.extract.brazil.tax_ids import check_digit
from tests.extract.brazil.strategies import nfe_keys, nfse_keys

KEY = "35180834128745000152550010000474281920007498"


def test_a_key_is_parsed_to_its_fields() -> None:
    key = access_keys.parse(KEY)

    assert key is not None
    assert (key.state, key.year, key.month) == ("SP", 2018, 8)
    assert (key.issuer, key.model, key.number) == ("34128745000152", Model.NFE, "47428")
    assert key.is_valid


def test_the_number_of_a_coupon_follows_the_serial_number_of_the_device() -> None:
    key = access_keys.parse("35240995241499001700595686782452565815497490")

    assert key is not None
    assert (key.model, key.number) == (Model.CFE, "256581")


def test_an_nfse_key_is_parsed_to_its_fields() -> None:
    key = access_keys.parse("35499042283106355000359000000000299524114419269003")

    assert key is not None
    assert (key.municipality, key.state, key.number) == ("3549904", "SP", "2995")
    assert (key.issuer, key.year, key.month) == ("83106355000359", 2024, 11)
    assert key.model is None
    assert key.is_valid


def test_the_issuer_in_a_rural_producers_key_is_a_cpf() -> None:
    body = KEY[:6] + "000" + "52998224725" + KEY[20:43]

    key = access_keys.parse(body + check_digit(body))

    assert key is not None
    assert key.issuer == "52998224725"


@given(nfe_keys())
def test_every_nfe_key_parses_to_its_fields(text: str) -> None:
    key = access_keys.parse(text)

    assert key is not None
    assert key.is_valid
    assert text[6:20].endswith(key.issuer)
    assert int(text[2:4]) == key.year % 100


@given(nfse_keys())
def test_every_nfse_key_parses_to_its_fields(text: str) -> None:
    key = access_keys.parse(text)

    assert key is not None
    assert key.is_valid
    assert (text[9:23], text[:7]) == (key.issuer, key.municipality)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1" * 44,
        "9" * 50,
        "00" + KEY[2:],  # no such state
        KEY[:4] + "13" + KEY[6:],  # no such month
        KEY[:20] + "99" + KEY[22:],  # no such model
        KEY[:-1] + "X",
        "23793381286000782713695000063305975520000370000",  # a boleto's digits
    ],
)
def test_an_invalid_key_is_none(text: str) -> None:
    assert access_keys.parse(text) is None


def test_a_key_with_a_wrong_check_digit_is_invalid() -> None:
    key = access_keys.parse(KEY[:-1] + "0")

    assert key is not None
    assert not key.is_valid
