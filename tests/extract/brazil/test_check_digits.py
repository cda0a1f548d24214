import pytest

from recibo.extract.brazil.check_digits import check_digit, ends_soundly


@pytest.mark.parametrize(
    ("body", "digit"),
    [("112223330001", "8"), ("1122233300018", "1"), ("12ABC34501DE", "3"), ("12ABC34501DE3", "5")],
)
def test_published_examples_of_cnpj_have_their_digits(body: str, digit: str) -> None:
    assert digit == check_digit(body)


def test_ten_and_eleven_are_written_as_zero() -> None:
    assert check_digit("0") == "0"
    assert check_digit("6") == "0"


def test_a_lone_character_ends_nothing() -> None:
    assert not ends_soundly("0")
    assert not ends_soundly("")
