from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.text.folding import fold, normalize


def test_case_and_accents_do_not_matter() -> None:
    assert fold("ÉMISSÃO") == "emissao"


@given(st.text())
def test_folding_keeps_positions(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(st.text())
def test_positions_of_normalized_letters_are_known(text: str) -> None:
    bones = normalize(text)

    assert len(bones.letters) == len(bones.places)
    assert list(bones.places) == sorted(set(bones.places))


def test_only_digits_among_letters_become_letters() -> None:
    assert normalize("T0TAL").letters == normalize("TOTAL").letters
    assert normalize("TOTAL 5.00").letters == normalize("TOTAL").letters + "500"
