from hypothesis import given

from recibo.extract.brazil import key_search
from recibo.extract.model import Code
from tests.extract.brazil.strategies import nfe_keys
from tests.extract.typesetting import code

KEY = "35240995241499001700595686782452565815497490"


def _keys(*codes: Code) -> list[str]:
    return [found.payload.key.text for found in key_search.read(codes)]


@given(nfe_keys(models=("59",)))
def test_two_barcodes_one_above_the_other_are_a_key(key: str) -> None:
    upper, lower = code("Code128", key[:22], y=100), code("Code128", key[22:], y=200)

    assert [key] == _keys(lower, upper)


def test_a_qr_code_ranks_before_a_barcode() -> None:
    qr = code("QRCode", f"{KEY}|20240902182745|71.70||AB==")

    (first, *_) = key_search.read([code("Code128", KEY), qr])

    assert qr is first.code
    assert first.payload.issued_at is not None


def test_a_boletos_barcode_is_not_a_key() -> None:
    assert [] == _keys(code("ITF", "23797552000003700003381260007827139500006330"))


def test_only_code_128_may_have_a_wrong_check_digit() -> None:
    wrong = KEY[:-1] + "1"

    assert [wrong] == _keys(code("Code128", wrong))
    assert [] == _keys(code("ITF", wrong))


def test_halves_of_different_pages_are_not_joined() -> None:
    upper = code("Code128", KEY[:22], y=100)
    lower = Code("Code128", KEY[22:], upper.box, page=2)

    assert [] == _keys(upper, lower)
