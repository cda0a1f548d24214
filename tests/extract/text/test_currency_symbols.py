import pytest

from recibo.extract.text import currency_symbols


@pytest.mark.parametrize("text", ["RM 12.50", "12.50RM", "TOTAL (RM)", "RM-3.00"])
def test_a_symbol_is_next_to_a_number_or_in_brackets(text: str) -> None:
    assert currency_symbols.unique()["MYR"].search(text)


@pytest.mark.parametrize("text", ["FARM 12", "RM", "12.50 RMB", "ringgit"])
def test_letters_elsewhere_are_not_a_symbol(text: str) -> None:
    assert currency_symbols.unique()["MYR"].search(text) is None


def test_symbols_are_counted() -> None:
    assert currency_symbols.unique()["EUR"].count("2 x € 3.00 = € 6.00") == 2
    assert currency_symbols.unique()["EUR"].count("2 x 3.00 = 6.00") == 0


def test_shared_symbols_are_separate_from_unique_ones() -> None:
    assert "USD" in currency_symbols.shared()
    assert currency_symbols.shared()["USD"].search("$ 5.00")
