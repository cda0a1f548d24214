import pytest

from recibo.extract.fields.currency import currencies
from recibo.extract.fields.locale_detection import locate
from tests.extract.fields.foreign_receipts import AMERICAN, GERMAN, MALAYSIAN, rows_of


def likeliest(text: str) -> str | None:
    rows = rows_of(text)
    found = currencies(rows, locate(rows))
    return found[0].value if found else None


@pytest.mark.parametrize(("text", "code"), [(MALAYSIAN, "MYR"), (AMERICAN, "USD"), (GERMAN, "EUR")])
def test_the_currency_follows_from_symbols_and_country(text: str, code: str) -> None:
    assert likeliest(text) == code


def test_the_evidence_is_the_symbol_alone() -> None:
    rows = rows_of("TOTAL 88,86 EUR")
    assert "EUR" == currencies(rows, locate(rows))[0].text


def test_the_country_decides_a_shared_symbol() -> None:
    assert likeliest("TORONTO, ON M5V 2T6\nTOTAL $5.00") == "CAD"


def test_an_unambiguous_symbol_counts_more_than_the_country() -> None:
    assert likeliest(f"{MALAYSIAN}\nUSD 1.00\nUSD 2.00\nUSD 3.00\nUSD 4.00") == "USD"


def test_without_symbol_and_country_there_is_no_currency() -> None:
    assert likeliest("COFFEE 3.00") is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("BILTONG 200G R 75.00\nTOTAL R 75.00", "ZAR"),
        ("Total Fr. 37.30", "CHF"),
        ("Fr 14.12.2023 COFFEE", None),
        ("TOPLAM 165,00 TL", "TRY"),
        ("R2 D2\nTOTAL 5.00", None),
    ],
)
def test_letters_are_a_symbol_only_before_an_amount(text: str, code: str | None) -> None:
    assert likeliest(text) == code


def test_equally_likely_countries_may_share_a_currency() -> None:
    assert likeliest("Hohe Strasse 137, Wien\nTisch 33\nGesamt 32,16\nDanke") == "EUR"


def test_a_dollar_sign_in_spanish_without_a_country_is_ambiguous() -> None:
    assert likeliest("GRACIAS POR SU COMPRA\nTOTAL $57.142\nEFECTIVO $60.000") is None


@pytest.mark.parametrize(("sign", "code"), [(".", "CHF"), (",", "EUR")])
def test_a_decimal_point_distinguishes_switzerland_from_its_neighbors(sign: str, code: str) -> None:
    prices = "\n".join(f"CAFFE {price}{sign}50" for price in range(1, 6))

    assert likeliest(f"Corso Italia 9\n6900 Lugano\n{prices}\ndi cui IVA\nGrazie") == code


def test_an_offer_to_convert_is_not_the_currency_of_the_amounts() -> None:
    amounts = "Subtotal $28.25\nTOTAL $30.58\nVISA $30.58"

    assert likeliest(f"{amounts}\nPaid in EUR 28.10 (rate 0.919)") == "USD"
    assert likeliest(f"{amounts}\nPrices in USD 30.58. Approx. £24.10") == "USD"
    assert likeliest(f"{amounts}\nCAD 30.58") == "CAD"
