import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.brazil import tax_ids
from recibo.extract.brazil.tax_ids import check_digit
from tests.extract.brazil.strategies import DIGITS, cnpjs, cpfs


def _printed(cnpj: str) -> str:
    return f"{cnpj[:2]}.{cnpj[2:5]}.{cnpj[5:8]}/{cnpj[8:12]}-{cnpj[12:]}"


@given(cnpjs())
def test_a_printed_cnpj_is_found(cnpj: str) -> None:
    (found,) = tax_ids.find(f"CNPJ: {_printed(cnpj)} IE: 123")

    assert (cnpj, True) == (found.text, found.is_valid)


@given(cpfs())
def test_a_printed_cpf_is_found(cpf: str) -> None:
    (found,) = tax_ids.find(f"CPF {cpf[:3]}.{cpf[3:6]}.{cpf[6:9]}-{cpf[9:]}")

    assert (cpf, True) == (found.text, found.is_valid)


@given(cnpjs(letters=DIGITS), st.sampled_from(["1", "7", "|", "l", ""]))
def test_a_misread_slash_is_removed(cnpj: str, sign: str) -> None:
    read = _printed(cnpj).replace("/", sign)

    assert cnpj in [found.text for found in tax_ids.find(read)]


@given(cnpjs(letters=DIGITS), st.sampled_from([2, 6]))
def test_a_missing_dot_does_not_matter(cnpj: str, place: int) -> None:
    printed = _printed(cnpj)

    found = [each.text for each in tax_ids.find(f"{printed[:place]} {printed[place + 1 :]}")]

    assert [cnpj] == found


@given(cnpjs(), st.integers(0, 13), st.sampled_from(DIGITS))
def test_one_wrong_digit_makes_it_invalid(cnpj: str, place: int, digit: str) -> None:
    changed = cnpj[:place] + digit + cnpj[place + 1 :]

    assert (changed == cnpj) or not tax_ids.is_cnpj(changed) or cnpj[place] in string.ascii_letters


@pytest.mark.parametrize("text", ["11111111111", "00000000000000", "", "ABC", "123.456"])
def test_repeated_or_short_numbers_are_not_tax_ids(text: str) -> None:
    assert not tax_ids.is_tax_id(text)


def test_a_letter_o_among_letters_stays_a_letter() -> None:
    cnpj = "O2ABC34501DE"
    first = check_digit(cnpj)
    whole = cnpj + first + check_digit(cnpj + first)

    (found,) = tax_ids.find(_printed(whole))

    assert whole == found.text


def test_two_ids_on_a_line_are_found_from_left_to_right() -> None:
    text = "CNPJ 11.222.333/0001-81 CPF 529.982.247-25"

    assert ["11222333000181", "52998224725"] == [found.text for found in tax_ids.find(text)]
