import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recibo.extract.brazil import key_search
from recibo.extract.brazil.tax_ids import check_digit
from tests.extract.brazil.strategies import DIGITS, nfe_keys, nfse_keys

KEY = "35180834128745000152550010000474281920007498"


def _grouped(key: str, sign: str = " ") -> str:
    return sign.join(key[start : start + 4] for start in range(0, len(key), 4))


def _texts(lines: list[str]) -> list[str]:
    return [printed.key.text for printed in key_search.find(lines)]


@given(nfe_keys(), st.sampled_from([" ", ".", "-", "", "  "]))
def test_a_key_is_found_however_it_is_grouped(key: str, sign: str) -> None:
    """It comes first: with the last letters of a label as digits there may be another by chance."""
    assert key == _texts(["CHAVE DE ACESSO", _grouped(key, sign), "Consulta"])[0]


@given(nfse_keys())
def test_an_nfse_key_is_found_in_one_run(key: str) -> None:
    assert key in _texts([f"Chave de Acesso da NFS-e: {key}"])


@given(nfe_keys(), st.integers(1, 10))
def test_a_key_broken_over_two_lines_is_joined(key: str, place: int) -> None:
    groups = _grouped(key).split(" ")

    assert [key] == _texts(["Consulte em", " ".join(groups[:place]), " ".join(groups[place:])])


def test_a_key_joined_to_its_label_is_found() -> None:
    assert [KEY] == _texts([f"CHAVEDEACESSO:{KEY}"])


def test_letters_in_place_of_digits_become_digits() -> None:
    read = _grouped(KEY[:22] + KEY[22:].replace("0", "O").replace("1", "I"))

    assert [KEY] == _texts([read])


@given(nfe_keys(models=("55",), letters=DIGITS), st.data())
@settings(max_examples=50)
def test_a_missing_digit_is_restored_if_check_digits_confirm_it(
    key: str, data: st.DataObject
) -> None:
    issuer = key[6:20]
    place = data.draw(st.integers(22, 43))
    groups = _grouped(key).split(" ")
    index = place // 4
    groups[index] = groups[index][: place % 4] + groups[index][place % 4 + 1 :]

    found = key_search.find([" ".join(groups)], known=[issuer])

    assert all(printed.key.is_valid and printed.key.issuer == issuer for printed in found)
    assert all(printed.is_repaired for printed in found)


def test_a_wrong_digit_of_the_issuer_is_repaired_by_the_printed_cnpj() -> None:
    wrong = KEY[:8] + "9" + KEY[9:]

    found = key_search.find([_grouped(wrong)], known=["34128745000152"])

    assert KEY in [printed.key.text for printed in found if printed.is_repaired]


def test_a_printed_number_decides_which_of_several_digits_is_missing() -> None:
    groups = _grouped(KEY).split(" ")
    groups[7] = groups[7][1:]
    number = KEY[25:34].lstrip("0")

    found = key_search.find([f"Nota {number} Serie 1", " ".join(groups)], known=[KEY[6:20]])

    assert [KEY] == [printed.key.text for printed in found]


def test_nothing_is_repaired_without_a_tax_id_to_confirm_it() -> None:
    lost = _grouped(KEY).split(" ")
    lost[9] = lost[9][:3]

    assert () == key_search.find([" ".join(lost)])


def test_digits_in_place_of_letters_become_letters_if_check_digits_are_valid() -> None:
    key = "222603BX59OJ11000331650010000004371666160065"

    assert [key] == _texts([_grouped(key.replace("9O", "90"))])


@pytest.mark.parametrize(
    "line",
    [
        "23793.38128 60007.827136 95000.063305 9 75520000370000",
        "00020126580014BR.GOV.BCB.PIX0136123e4567-e12b-12d1-a456-426655440000",
        "7891000100103 7891000100104 7891000100105 7891000100106",
        "TEL (11) 3333-4444 FAX (11) 3333-4445 CEP 01310-100 IE 110.042.490.114",
    ],
)
def test_other_long_numbers_are_not_keys(line: str) -> None:
    assert () == key_search.find([line])


def test_a_valid_key_ranks_before_one_with_a_wrong_check_digit() -> None:
    wrong = KEY[:-1] + "0"

    assert [KEY, wrong] == _texts([_grouped(wrong), "NF-e referenciada", _grouped(KEY)])


def test_pages_full_of_groups_of_four_are_searched_quickly() -> None:
    assert () == key_search.find([" ".join(["3526"] * 60)] * 400, known=["34128745000152"])


def _known(lines: list[str]) -> list[str]:
    return [printed.key.text for printed in key_search.find(lines, known=[KEY[6:20]])]


def test_zeros_lost_in_a_run_are_added_if_check_digits_confirm_it() -> None:
    padded = KEY[:25] + "000000012" + KEY[34:43]
    key = padded + check_digit(padded)
    shorter = key.replace("0000000", "0000", 1)

    assert [key] == _known([f"{shorter[:24]} {shorter[24:]}"])
    assert [] == _texts([f"{shorter[:24]} {shorter[24:]}"])


def test_a_damaged_key_is_repaired_next_to_a_valid_one_of_another_issuer() -> None:
    body = KEY[:6] + "26673313400179" + KEY[20:43]
    quoted = body + check_digit(body)
    damaged = KEY[:20] + "35" + KEY[22:]

    assert {KEY, quoted} == set(_known([_grouped(damaged), f"NF-e referenciada: {quoted}"]))
