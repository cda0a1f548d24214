from recibo.extract.layout import forms
from recibo.extract.layout.forms import Form
from tests.extract.typesetting import text_page

WORDS = forms.vocabulary(
    {
        "total": ["valor total da nota", "total"],
        "tax": ["valor do ICMS"],
        "other": ["valor do frete", "base de cálculo do ICMS"],
    }
)


def _form(text: str, *, exact: bool = True) -> Form:
    return Form.of([text_page(text, exact=exact)], WORDS)


def _read(form: Form, kind: str) -> list[str]:
    return [found.value for found in form.read([kind], lambda text: text or None)]


def test_a_value_is_read_right_of_its_label() -> None:
    assert _read(_form("VALOR TOTAL DA NOTA: 12,50"), "total") == ["12,50"]


def test_a_value_is_read_under_its_label_up_to_the_next_box() -> None:
    form = _form(
        """
BASE DE CALCULO DO ICMS   VALOR DO ICMS   VALOR TOTAL DA NOTA
                 100,00           18,00                118,00
"""
    )

    assert _read(form, "tax") == ["18,00"]
    assert _read(form, "total") == ["118,00"]


def test_labels_are_found_despite_accents_spaces_and_ocr_confusions() -> None:
    assert _read(_form("VALORTOTALDANOTA 1,00", exact=False), "total") == ["1,00"]
    assert _read(_form("VAL0R T0TAL DA N0TA  1,00", exact=False), "total") == ["1,00"]
    assert _read(_form("BASE DE CÁLCULO DO ICMS  1,00"), "other") == ["1,00"]


def test_a_short_label_must_be_a_whole_cell() -> None:
    assert _form("SUBTOTAL 1,00").first("total") is None
    assert _form("PRECO TOTAL 1,00").first("total") is None
    assert _form("TOTAL 1,00").first("total") is not None


def test_nothing_is_read_beyond_the_reach_of_a_box() -> None:
    assert _read(_form("VALOR DO ICMS\n\n\n\n\n\n\n18,00"), "tax") == []


def test_the_evidence_is_only_the_cell() -> None:
    form = _form("VALOR DO FRETE: 3,00    VALOR TOTAL DA NOTA: 12,50")

    (found,) = form.read(["total"], lambda text: text)

    assert found.text == "12,50"
    assert found.box is not None
    assert found.box.width < 60
