"""Bills of clinics, condominiums and towns, credit notes and returns."""

from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.model import Receipt
from tests.extract.typesetting import text_page


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


def _items(text: str) -> list[tuple[str, str]]:
    return [(item.value.name, str(item.value.total)) for item in _read(text).line_items]


def test_charges_next_to_rows_of_another_table() -> None:
    assert _items("""
PREDIALIS Administradora Ltda              Demonstrativo da cobrança
CNPJ 30.881.447/0001-88                    Competência 04/2026
Composição                          R$     Resumo financeiro (fev/2026)
Taxa ordinária (cota 1,1820%)   742,18     Saldo anterior 31/01 ....... 88.204,47
                                           Receitas ................... 64.118,20
Fundo de reserva 5%              37,11     Despesas ................... 59.774,02
Água individualizada - 14 m³    118,20     Saldo em 28/02 ............. 92.548,65
Gás - 6,3 m³                     71,82
Rateio pintura fachada          204,47     Avisos
Total                         1.173,78
""") == [
        ("Taxa ordinária (cota 1,1820%)", "742.18"),
        ("Fundo de reserva 5%", "37.11"),
        ("Água individualizada - 14 m³", "118.20"),
        ("Gás - 6,3 m³", "71.82"),
        ("Rateio pintura fachada", "204.47"),
    ]


def test_a_receipt_of_a_clinic_that_announces_an_invoice() -> None:
    receipt = _read("""
CLINICA OUVIR BEM S/S LTDA                 RECIBO No 004.718
CNPJ 11.844.718/0001-80
PACIENTE : NATANAEL BISPO
PROCEDIMENTO               QTD    UNITARIO     VALOR
CONSULTA OTORRINO            1      320,00    320,00
LAVAGEM AURICULAR            2       85,00    170,00
TOTAL DOS PROCEDIMENTOS                       490,00
(-) PARTE DO CONVENIO GUIA 7718820            300,00
VALOR A CARGO DO PACIENTE R$                  190,00
ISS RETIDO NA FONTE: NAO      NFS-E SERA ENVIADA POR E-MAIL
""")

    assert [item.value.name for item in receipt.line_items] == [
        "CONSULTA OTORRINO",
        "LAVAGEM AURICULAR",
    ]
    assert receipt.total is not None
    assert receipt.total.value == Decimal("190.00")


def test_what_a_patient_pays_is_not_what_was_charged() -> None:
    assert _items("""
Dr Mokhethwane Inc.                        TAX INVOICE / STATEMENT
Invoice no: INV118204                      Invoice date: 2026/02/19
Code   Description           Qty    Tariff    Charged R   Medical aid R   Patient R
0190   Consultation            1    548.20       548.20          438.60      109.60
1188   Spirometry              1    312.00       312.00          280.80       31.20
0206   Nebulisation            2     96.50       193.00          154.40       38.60
Totals (VAT inclusive)                         1,053.20          873.80      179.40
""") == [
        ("Consultation", "548.20"),
        ("Spirometry", "312.00"),
        ("Nebulisation", "193.00"),
    ]


OF_GAS = """
TEODOLINO SARAIVA · CPF 907.***.***-99
Rua Itaguaçuzinho, 55 - Porto Aurora - ES
"""
OF_A_TOWN = """
Contribuinte/Proprietário          CPF/CNPJ          Uso
ESPÓLIO DE ALTAMIRO PRATES         118.730.442-59    Urbano
Local do imóvel
RUA VISCONDE, 1771 CASA 2 - CEP 80320-000
"""
OF_A_NOTARY = (
    "Recebemos de Construtora Pedra do Cavalinho Eireli, por conta de Salustiano Alves, "
    "CPF 660.337.182-08, a quantia de R$ 22,40 referente aos atos abaixo discriminados"
)
OF_A_BUILDING = """
Pagador
PASCOALINA TREMEMBÉ - UNID. 704 BL B - CPF 441.820.933-64
"""


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (OF_GAS, "TEODOLINO SARAIVA"),
        (OF_A_TOWN, "ESPÓLIO DE ALTAMIRO PRATES"),
        (OF_A_NOTARY, "Construtora Pedra do Cavalinho Eireli"),
        (OF_A_BUILDING, "PASCOALINA TREMEMBÉ"),
    ],
    ids=["gas", "town", "notary", "building"],
)
def test_customers(head: str, name: str) -> None:
    receipt = _read(f"""
COMPANHIA AURORA DE GÁS S.A.        CNPJ 44.091.822/0001-09
{head.strip()}
Encargo fixo                                          14,90
Tarifa                                                 7,50
TOTAL                                                 22,40
""")

    assert receipt.details.customer_name is not None
    assert receipt.details.customer_name.value == name


def test_code_and_class_below_a_name_are_no_part_of_it() -> None:
    assert _items("""
ZB COMERCIO DE BEBIDAS LTDA
CNPJ: 44.018.277/0001-17
001 CHOPP CLARO TULIPA 300ML
COD 00118 NCM 22030000
9,000 UN x 11,90          107,10
002 CALDO DE MOCOTO CANECA
COD 00132 NCM 22030000
2,000 UN x 16,50           33,00
VALOR TOTAL R$            140,10
""") == [("CHOPP CLARO TULIPA 300ML", "107.10"), ("CALDO DE MOCOTO CANECA", "33.00")]


def test_returned_articles_have_a_negative_quantity() -> None:
    receipt = _read("""
HAMMERLE BAUFACHMARKT GMBH
2 x 12,49
ABDECKVLIES 1X25M         24,98 A
-1 x 17,99
FARBROLLER-SET           -17,99 A
SUMME                      6,99
""")

    assert [str(item.value.qty) for item in receipt.line_items] == ["2", "-1"]


def test_a_weight_at_a_price_without_cents() -> None:
    receipt = _read("""
SUPERMERCADO EL QUELTEHUE LTDA.
R.U.T. 76.118.204-8   SANTIAGO DE CHILE
1,135 X 2.190
HALLULLA KG               2.486
PALTA MALLA               4.990
TOTAL $                   7.476
""")

    first = receipt.line_items[0].value
    assert (str(first.qty), str(first.unit_price)) == ("1.135", "2190")


def test_a_discount_for_early_payment_is_only_offered() -> None:
    receipt = _read("""
Mag. Berta Zuckerstätter
Honorarnote 2026-07
Illustration 3 Stunden              300,00
Bildrechte                          120,00
Zwischensumme                       420,00
USt 20 %                             84,00
Gesamtbetrag EUR                    504,00
Bei Zahlung binnen 5 Tagen 2 % Skonto (10,08).
""")

    assert receipt.details.discount is None


def test_the_currency_is_named_by_its_code() -> None:
    receipt = _read("""
Ombú Analítica S.R.L.               e-Factura
FECHA 06/03/2026                    MONEDA UYU
Consultoría                         1.000,00
TOTAL A PAGAR                     $ 1.000,00
""")

    assert receipt.currency is not None
    assert receipt.currency.value == "UYU"


def test_the_price_before_a_discount_on_a_proof_of_pix() -> None:
    receipt = _read("""
Pix enviado
R$ 347,60
sexta-feira, 27 de fevereiro de 2026 às 19:03:28
Valor original            R$ 362,10
Desconto do recebedor     -R$ 14,50
Destino
Nome                      Mundo Bicho Pet Shop Ltda
Origem
Nome                      Anacleto Figueirôa
""")

    assert receipt.total is not None
    assert receipt.total.value == Decimal("347.60")
