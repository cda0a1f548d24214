import pytest

from recibo.extract.text import ocr_confusions


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("SABA0 EM P0", "SABAO EM PO"),
        ("0nion", "Onion"),
        ("CAFE T0RRAD0", "CAFE TORRADO"),
        ("Choc0late", "Chocolate"),
        ("MAMÃ0", "MAMÃO"),
    ],
)
def test_zeros_among_letters_become_letters(read: str, meant: str) -> None:
    assert meant == ocr_confusions.repaired(read)


@pytest.mark.parametrize("text", ["500G", "0W20", "1KG", "100%", "00", "0G", "B12", "7,00", ""])
def test_measures_and_codes_keep_their_zeros(text: str) -> None:
    assert text == ocr_confusions.repaired(text)
