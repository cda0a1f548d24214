from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.text.folding import fold, skeleton


def test_case_and_accents_do_not_count() -> None:
    assert fold("ÉMISSÃO") == "emissao"


@given(st.text())
def test_folding_keeps_every_sign_in_its_place(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(st.text())
def test_a_skeleton_knows_where_its_letters_stood(text: str) -> None:
    bones = skeleton(text)

    assert len(bones.letters) == len(bones.places)
    assert list(bones.places) == sorted(set(bones.places))


def test_figures_among_letters_are_letters_and_others_are_not() -> None:
    assert skeleton("T0TAL").letters == skeleton("TOTAL").letters
    assert skeleton("TOTAL 5.00").letters == skeleton("TOTAL").letters + "500"
