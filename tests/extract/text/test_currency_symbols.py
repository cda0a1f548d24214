import pytest

from recibo.extract.text import currency_symbols


@pytest.mark.parametrize("text", ["RM 12.50", "12.50RM", "TOTAL (RM)", "RM-3.00"])
def test_a_mark_stands_beside_a_figure_or_in_brackets(text: str) -> None:
    assert currency_symbols.own()["MYR"].search(text)


@pytest.mark.parametrize("text", ["FARM 12", "RM", "12.50 RMB", "ringgit"])
def test_letters_elsewhere_are_no_mark(text: str) -> None:
    assert currency_symbols.own()["MYR"].search(text) is None


def test_marks_are_counted() -> None:
    assert currency_symbols.own()["EUR"].count("2 x € 3.00 = € 6.00") == 2
    assert currency_symbols.own()["EUR"].count("2 x 3.00 = 6.00") == 0


def test_shared_marks_are_told_from_own_ones() -> None:
    assert "USD" in currency_symbols.shared()
    assert currency_symbols.shared()["USD"].search("$ 5.00")
