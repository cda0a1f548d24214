import pytest

from recibo.extract.brazil.tax_ids import check_digit, has_valid_check_digit


@pytest.mark.parametrize(
    ("body", "digit"),
    [("112223330001", "8"), ("1122233300018", "1"), ("12ABC34501DE", "3"), ("12ABC34501DE3", "5")],
)
def test_check_digits_of_published_cnpj_examples(body: str, digit: str) -> None:
    assert digit == check_digit(body)


def test_ten_and_eleven_are_written_as_zero() -> None:
    assert check_digit("0") == "0"
    assert check_digit("6") == "0"


def test_a_single_character_has_no_check_digit() -> None:
    assert not has_valid_check_digit("0")
    assert not has_valid_check_digit("")
