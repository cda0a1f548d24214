import pytest

from recibo.extract.brazil.documents import names
from tests.extract.typesetting import text_page


def _name(text: str) -> str | None:
    found = names.in_receipt_head(text_page(text).lines)
    return found.value if found else None


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("PADARIA DO ZE\nZE DA SILVA PAES LTDA ME\nRUA A, 1", "ZE DA SILVA PAES LTDA ME"),
        ("VIA VAREJO S/A\nAV RIO BRANCO, 100", "VIA VAREJO S/A"),
        ("Restaurante da Ana\nRua das Flores, 12", "Restaurante da Ana"),
        ("*** BEM VINDO ***\nCNPJ: 11.222.333/0001-81", "BEM VINDO"),
        ("------------------\nMERCADO BOM\nCNPJ: 11.222.333/0001-81", "MERCADO BOM"),
        (
            "COMERCIO DE ALIMENTOS E BEBIDAS DO NORTE\nBRASILEIRO LTDA\nAV 7 DE SETEMBRO, 5",
            "COMERCIO DE ALIMENTOS E BEBIDAS DO NORTE BRASILEIRO LTDA",
        ),
        ("ANA LIMA SOUZA 34204433588\nR. Direita, 22", "ANA LIMA SOUZA 34204433588"),
        ("49.595.999 ANA LIMA SOUZA\nR. Direita, 22", "49.595.999 ANA LIMA SOUZA"),
        ("CNPJ: 11.222.333/0001-81 PEIXARIA DO RIO LTDA\nRUA A, 1", "PEIXARIA DO RIO LTDA"),
        ("FARMACIA SOL\nRaz.Social: DPV DROGARIAS LTDA\nRUA A, 1", "DPV DROGARIAS LTDA"),
        ("Tintas Mar           DANFE NFC-e\nRua 406, 22", "Tintas Mar"),
        ("Tintas Mar Ltda.        Nº 14066 Série 1\nRua 406, 22", "Tintas Mar Ltda."),
        ("CNPJ: 11.222.333/0001-81", None),
        ("CNPJ: 11.222.333/0001-81 IE 254.140.226", None),
        ("Doc. Aukilier da Nota Fiscal de Consunidor\nCNPJ: 11.222.333/0001-81", None),
        ("NAO OPTANTE PELO SIMPLES NACIONAL\nCNPJ: 11.222.333/0001-81", None),
        ("DATA DE RECEBIMENTO\nCNPJ: 11.222.333/0001-81", None),
    ],
)
def test_the_name_is_the_legal_one_in_the_head(head: str, name: str | None) -> None:
    assert name == _name(head)


def test_a_page_without_lines_has_no_name() -> None:
    assert names.in_receipt_head([]) is None
