"""Pages with several things next to each other: copies, blocks of text, tables."""

from decimal import Decimal

from recibo.extract import pipeline
from recibo.extract.model import Line, Receipt, TextPage
from tests.extract.typesetting import raised, text_page

RENT = """
Imobiliária Porta da Frente
CNPJ 09.771.448/0001-83 – Rua Chile Novo, 77
RECIBO DE ALUGUEL Nº 2026/00318
Locatário:   WALDOMIRO LOBATO – CPF 618.830.274-97
Contrato:    AL-0882     Vencimento: 10/02/2026
Histórico                               R$
Condomínio ref. 02/2026             618,44
IPTU parcela 02/10                  187,30
Taxa de boleto                        4,90
Crédito - conserto                  -85,00
Total recebido                      725,64
"""


def _read(*pages: TextPage) -> Receipt:
    return pipeline.understand([list(pages)])


def _twice(text: str) -> str:
    """Return a text with a copy of each row next to it."""
    return "\n".join(f"{row:<60}{row}" for row in text.strip("\n").split("\n"))


def test_two_copies_next_to_each_other_are_one_receipt() -> None:
    receipt = _read(text_page(_twice(RENT)))

    assert [(item.value.name, str(item.value.total)) for item in receipt.line_items] == [
        ("Condomínio ref. 02/2026", "618.44"),
        ("IPTU parcela 02/10", "187.30"),
        ("Taxa de boleto", "4.90"),
        ("Crédito - conserto", "-85.00"),
    ]
    assert receipt.document_number is not None
    assert receipt.document_number.value == "2026/00318"
    assert receipt.total is not None
    assert receipt.total.value == Decimal("725.64")


def test_the_month_that_a_bill_refers_to_is_not_its_number() -> None:
    receipt = _read(text_page(RENT.replace("RECIBO DE ALUGUEL Nº 2026/00318", "RECIBO DE ALUGUEL")))

    assert receipt.document_number is None or receipt.document_number.value != "02/2026"


SLIP = """
THE RUSTY HERON
418 Wharf St, Port Ellery, ME
10/18/2025 8:47 PM
1 Dozen Oysters                 38.00
1 Lobster Roll                  29.00
Subtotal                        67.00
Tax 8%                           5.36
Balance Due                     72.36
AMEX ***********1006
                 14.00
Tip:
                 86.36
Total:
Customer Copy
"""


def test_amounts_written_by_hand_above_the_lines_of_their_labels() -> None:
    page = text_page(SLIP, exact=False)
    lines: list[Line] = []
    for line in page.lines:
        is_label = line.text in ("Tip:", "Total:")
        lines.append(
            raised(TextPage(1, 1, 1, (line,)), line.text, 12).lines[0] if is_label else line
        )

    receipt = _read(TextPage(1, page.width, page.height, tuple(lines)))

    assert receipt.total is not None
    assert receipt.total.value == Decimal("86.36")
    assert receipt.details.tip is not None
    assert receipt.details.tip.value == Decimal("14.00")


def test_items_of_a_japanese_bill_next_to_its_receipt() -> None:
    receipt = _read(
        text_page("""
ご利用明細書                                                      領収書
日付      項目                     数量      単価       金額
02/13    御宿泊代シングル          1      8,900      8,900
                                                                金額 ¥14,340-
02/14    朝食バイキング              2      1,320      2,640        但し 宿泊代として
02/13    宿泊税                     3        100        300       内訳 税抜金額 ¥12,763
02/15    駐車場                     1      2,500      2,500        消費税額等(10%) ¥1,277
合計                                                  14,340
""")
    )

    assert [(item.value.name, str(item.value.total)) for item in receipt.line_items] == [
        ("御宿泊代シングル", "8900"),
        ("朝食バイキング", "2640"),
        ("宿泊税", "300"),
        ("駐車場", "2500"),
    ]


def test_below_the_taxes_of_an_energy_bill_is_the_consumption_of_past_months() -> None:
    receipt = _read(
        text_page(
            """
Cerradina Energia S.A.                              CNPJ 08.044.192/0001-40
NOTA FISCAL Nº 004471883                            Data de emissão: 09/02/2026
Itens da Fatura      Unid.  Quant.  Preço unit.  Valor (R$)    Tributo  Base   Alíq.  Valor
Energia Elétrica     kWh    612     0,79642360       487,41    ICMS   360,50     18%  64,89
Energia SCEE         kWh    430     0,51230000       220,29    PASEP  422,52   0,84%   3,55
                                                               Histórico     kWh   Dias
Bandeira Verde                                        10,00    JAN/26       1042   31
Contrib. Ilum. Publica                                28,63    DEZ/25        988   30
Parcelamento 04/10                                    61,18    NOV/25        871   29
TOTAL                                                807,51
"""
        )
    )

    assert [str(item.value.total) for item in receipt.line_items] == [
        "487.41",
        "220.29",
        "10.00",
        "28.63",
        "61.18",
    ]


def test_charges_in_the_right_one_of_two_columns() -> None:
    receipt = _read(
        text_page("""
BÚSSOLA SEGUROS S.A.              APÓLICE DE SEGURO  Nº 0531.77.2026
Segurado                          Demonstrativo do prêmio (R$)
DAMIANA FREIRE DE ANDRADA         Prêmio - Casco                   1.684,20
CPF 111.444.777-35
R. Mirante do Farol, 18           Prêmio - danos materiais           512,75
Vigência                          Prêmio - acidentes                  38,60
das 24h de 01/02/2026             Assistência 24h                    214,90
Veículo                           Adicional                            0,00
HATCH COMPACTO 2023/2024          Custo de apólice                     0,00
Placa QTZ2E45
Contrato AL-0882                 Prêmio líquido total             2.450,45
                                  IOF (7,38%)                        180,84
ROTA SEGURA LTDA                  Prêmio total                     2.631,29
""")
    )

    assert [(item.value.name, str(item.value.total)) for item in receipt.line_items] == [
        ("Prêmio - Casco", "1684.20"),
        ("Prêmio - danos materiais", "512.75"),
        ("Prêmio - acidentes", "38.60"),
        ("Assistência 24h", "214.90"),
        ("Adicional", "0.00"),
        ("Custo de apólice", "0.00"),
    ]
    assert receipt.tax is not None
    assert str(receipt.tax.value) == "180.84"
