"""Net amounts below discounts, rates before amounts, rentals, folios, card slips, currencies."""

from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.model import LineItem, Receipt
from tests.extract.typesetting import cnpj, text_page


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


def _items(text: str) -> list[LineItem]:
    return [item.value for item in _read(text).line_items]


def _rows(text: str) -> list[tuple[str, str]]:
    return [(item.name, str(item.total)) for item in _items(text)]


def _factors(text: str) -> list[tuple[str, str, str]]:
    return [(item.name, str(item.qty), str(item.unit_price)) for item in _items(text)]


PHARMACY = f"""
DROGARIA BOM JARDIM S/A
CNPJ {cnpj("902044180055")}
COD DESCRICAO       QTD UN VL UNIT     VL TOT
118204 DIPIRONA 1G C/10 CPR
2 UN 18,90                              37,80
DESCONTO                               -11,30
VALOR LIQUIDO                           26,50
447188 LOSARTANA 50MG 30CPR
1 UN 24,75                              24,75
771820 FRALDA XG C/42
1 UN 72,49                              72,49
DESCONTO                               -12,00
VALOR LIQUIDO                           60,49
VALOR TOTAL R$                         135,04
DESCONTO TOTAL R$                       23,30
VALOR A PAGAR R$                       111,74
CARTAO CREDITO                         111,74
10/03/2026 20:14:09
"""


def test_net_amounts_of_items_are_no_totals() -> None:
    receipt = _read(PHARMACY)

    assert receipt.total is not None
    assert receipt.total.value == Decimal("111.74")
    assert [
        item.value.name for item in receipt.line_items if (item.value.total or Decimal(0)) > 0
    ] == ["DIPIRONA 1G C/10 CPR", "LOSARTANA 50MG 30CPR", "FRALDA XG C/42"]


def test_the_whole_of_the_estimated_taxes_is_no_part_of_them() -> None:
    """OCR has missed the federal part."""
    receipt = _read(f"""DANFE NFC-e Documento Auxiliar da Nota Fiscal de Consumidor Eletrônica
{PHARMACY}
Tributos Incidentes Lei Federal 12.741/12
Total R$ 18,77 Fed          Est 7,27 IBPT
""")

    assert receipt.tax is not None
    assert receipt.tax.value == Decimal("18.77")


def test_the_total_below_a_discount_stays_the_total() -> None:
    receipt = _read("""
PASTELARIA DO CAIS
03/03/2026 10:02
PASTEL DE CARNE             12,00
DESCONTO                    -2,00
TOTAL A PAGAR               10,00
DINHEIRO                    10,00
""")

    assert receipt.total is not None
    assert receipt.total.value == Decimal("10.00")


def test_the_rate_of_a_tax_before_a_marked_amount_is_no_quantity() -> None:
    assert _rows("""
KUYU MARKET LTD. ŞTİ.
TARİH : 07/03/2026   SAAT : 19:22
EKMEK                      %1   *45,00
AYRAN 5L % 1 *489,95
DOMATES SALKIM             % 1 *81,38
ÇAY 1 KG                   %10 *329,50
TOPLAM                        *945,83
""") == [
        ("EKMEK", "45.00"),
        ("AYRAN 5L", "489.95"),
        ("DOMATES SALKIM", "81.38"),
        ("ÇAY 1 KG", "329.50"),
    ]


def test_services_of_a_note_with_amounts_less_a_discount() -> None:
    assert _rows(f"""
PREFEITURA DE VIDEIRÓPOLIS
NFS-e - NOTA FISCAL DE SERVIÇO ELETRÔNICA          Número da nota: 918
Data da emissão: 11/03/2026 08:05:13
PRESTADOR DO SERVIÇO
Nome / Razão social: MECÂNICA DIESEL LTDA      CNPJ: {cnpj("331820470001")}
TOMADOR DO SERVIÇO
Nome / Razão social: Laticínios do Oeste Ltda. CNPJ: {cnpj("771044820001")}
SERVIÇOS PRESTADOS
Lista   Descrição               Quantidade   Valor unit.   Desc. incond.   Valor tributável   Alíq.
1401    Troca de retentor           2,0000        420,00            0,00             840,00    3,00
1401    Solda em chassi             5,5000        180,00           90,00             900,00    3,00
1403    Alinhamento 3 eixos         1,0000        350,00            0,00             350,00    3,00
Valor líquido da nota R$ 2.090,00
""") == [
        ("Troca de retentor", "840.00"),
        ("Solda em chassi", "900.00"),
        ("Alinhamento 3 eixos", "350.00"),
    ]


def test_what_is_hired_costs_its_price_each_day() -> None:
    assert _factors(f"""
LOCA EQUIPAMENTOS PARA CONSTRUÇÃO LTDA        CNPJ {cnpj("771820940001")}
FATURA DE LOCAÇÃO Nº 2026/0447                Emissão: 27/02/2026
Descrição do equipamento            Qtd   Diária R$   Dias   Período         Valor R$
Andaime tubular (painel)             40        0,85     30   28/01-26/02     1.020,00
Betoneira 400 L                       1       28,00     18   28/01-14/02       504,00
VALOR DA FATURA                                                              1.524,00
""") == [
        ("Andaime tubular (painel)", "40", "0.85"),
        ("Betoneira 400 L", "1", "28.00"),
    ]


def test_a_column_of_units_with_amounts_is_that_of_prices() -> None:
    assert _rows("""
CHURRASCARIA DO TROPEIRO
28/02/2026 15:09
QTD PRODUTO                UNIT      TOTAL
2   Chopp Pilsen          12,90      25,80
1   Picanha na Chapa p/3 189,00     189,00
1   Arroz Biro Biro       28,00      28,00
TOTAL                               242,80
""") == [
        ("Chopp Pilsen", "25.80"),
        ("Picanha na Chapa p/3", "189.00"),
        ("Arroz Biro Biro", "28.00"),
    ]


def test_a_sign_joined_to_the_number_behind_a_price_begins_the_quantity() -> None:
    assert _factors("""
晨風便利商店
電子發票證明聯
2026-03-05 21:08:36
美式咖啡(大)      65 x2    130TX
茶葉蛋            13 x3     39TX
購物袋(18號)       2 x1      2TX
合計                       171元
""") == [("美式咖啡(大)", "2", "65"), ("茶葉蛋", "3", "13"), ("購物袋(18號)", "1", "2")]


FOLIO = f"""
Pousada Encosta do Sol Ltda - CNPJ {cnpj("204118470003")}
EXTRATO DE CONTA                                        Emissão 23/02/2026 10:55
Data    Histórico                Qtd   Vlr. unit.    Débito    Crédito
20/02   Diária apto 304            3       310,00    930,00
22/02   Lavanderia - camisa        4        14,00     56,00
23/02   Taxa de serviço 10%                           98,60
23/02   Cartão Elo crédito 2x                                 1.084,60
Total de débitos                                           R$ 1.084,60
Total de créditos                                          R$ 1.084,60
Saldo                                                          R$ 0,00
"""


def test_the_folio_of_a_hotel_has_a_service_charge_and_columns_for_debits() -> None:
    receipt = _read(FOLIO)

    assert [item.value.name for item in receipt.line_items] == [
        "Diária apto 304",
        "Lavanderia - camisa",
    ]
    assert receipt.details.service_charge is not None
    assert receipt.details.service_charge.value == Decimal("98.60")
    assert [
        (payment.value.method.value, payment.value.amount) for payment in receipt.details.payments
    ] == [("credit_card", Decimal("1084.60"))]


def test_the_bank_above_whose_copy_a_slip_is_sold_nothing() -> None:
    receipt = _read(f"""
PAGUEMAIS
VIA CLIENTE
VISTA CREDITO
************2044
COMPRA PARCELADA LOJA
OTICA BOA VISTA DO NORTE
CNPJ {cnpj("118447710001")}
TV. DAS MANGUEIRAS 41
BELEM / PA
DOC=118820    AUT=R04471
07/03/26 11:26:40
VALOR: R$ 85,00
TRANSACAO AUTORIZADA
""")

    assert receipt.merchant_name is not None
    assert receipt.merchant_name.value == "OTICA BOA VISTA DO NORTE"


def test_a_card_has_the_digits_below_it_not_those_of_a_gift_card() -> None:
    receipt = _read("""
WATTLEBARK HARDWARE
08/03/2026 11:17
DECK OIL MERBAU 4L                 $72.90
SCREWS DECK                        $56.90
Total                             $129.80
Gift Card ************2044         $50.00
EFT                                $79.80
VISA DEBIT ...3018
PURCHASE AUD 79.80
APPROVED 00
""")

    assert [payment.value.last4 for payment in receipt.details.payments] == ["2044", "3018"]


@pytest.mark.parametrize(
    ("page", "date"),
    [
        ("Hotel Mirador S.L.\nFACTURA F26/4471  Fecha: 05/03/2026  Pág. 1 de 1", "2026-03-05"),
        (
            "Biurowy Zakątek Sp. z o.o.\nData zakończenia dostawy: 06.03.2026\ndnia 09.03.2026",
            "2026-03-09",
        ),
    ],
)
def test_the_date_is_that_of_the_invoice(page: str, date: str) -> None:
    receipt = _read(f"{page}\nTOTAL 410,35")

    assert receipt.issued_at is not None
    assert str(receipt.issued_at.value.date) == date


@pytest.mark.parametrize(
    ("page", "currency"),
    [
        ("SILVER LAMP CAFE\n04/03/2026\nSatay Beef  48.00\nTOTAL HKD  $48.00", "HKD"),
        ("晨風便利商店\n電子發票\n賣方 22044713\n2026-03-05\n茶葉蛋  39\n合計  39元", "TWD"),
        ("上海小吃店\n发票\n2026-03-05\n茶叶蛋  39.00元\n合计  39.00元", "CNY"),
    ],
)
def test_a_code_decides_before_a_sign_and_the_country_for_shared_signs(
    page: str, currency: str
) -> None:
    receipt = _read(page)

    assert receipt.currency is not None
    assert receipt.currency.value == currency


def test_a_canadian_registration_number_is_that_of_the_seller() -> None:
    receipt = _read("""
Chauffage Grand-Héron HVAC Inc.
Gatineau, QC J9Z 0A0
GST/HST Registration No.: 123456782 RT0001
INVOICE 11820                              DATE 26/02/2026
Service call                               129.00
GST @ 5%                                     6.45
TOTAL                                      135.45
""")

    assert receipt.merchant_tax_id is not None
    assert receipt.merchant_tax_id.value == "123456782RT0001"


def test_a_table_is_preferred_to_rows_with_its_columns_in_their_names() -> None:
    assert _factors("""
Sold By : Brassleaf Homewares Private Limited            Tax Invoice
GST Registration No: 29AAKCB4471R1ZT                     Invoice Date : 01.03.2026
Sl.  Description                 Unit       Discount  Qty  Net        Tax   Tax   Tax      Total
No                               Price                     Amount     Rate  Type  Amount   Amount
1    Steel Kadai with Lid 26     ₹1,694.07  -₹254.11  1    ₹1,439.96  9%    CGST  ₹129.60  ₹1,699.16
     cm, Induction Base
     HSN:7323                                                         9%    SGST  ₹129.60
2    Silicone Spatula Set of 3   ₹253.39    ₹0.00     2    ₹506.78    9%    CGST  ₹45.61   ₹598.00
     HSN:3924                                                         9%    SGST  ₹45.61
TOTAL:                                                                            ₹350.42  ₹2,297.16
""") == [
        ("Steel Kadai with Lid 26 cm, Induction Base", "1", "1694.07"),
        ("Silicone Spatula Set of 3", "2", "253.39"),
    ]


def test_cash_on_delivery_has_change() -> None:
    receipt = _read("""
DELIVERY PEDIJÁ
PEDIDO #4471
Loja: Pizzaria Forno do Nonno
Data do pedido: 28/02/2026 20:17
1x Pizza G Calabresa          R$ 68,90
1x Guaraná 2L                 R$ 14,00
TOTAL                         R$ 82,90
PAGAMENTO NA ENTREGA: DINHEIRO
Troco para                    R$ 100,00
Levar de troco                R$ 17,10
""")

    assert [
        (payment.value.method.value, payment.value.amount, payment.value.tendered)
        for payment in receipt.details.payments
    ] == [("cash", Decimal("82.90"), Decimal("100.00"))]


def test_the_code_of_a_subscriber_is_no_customer() -> None:
    receipt = _read(f"""
DOCUMENTO AUXILIAR DA NOTA FISCAL FATURA DE SERVIÇO DE COMUNICAÇÃO ELETRÔNICA
SERTÃONET PROVEDOR DE INTERNET LTDA          CNPJ {cnpj("447120880001")}
Praça da Matriz, 77, Centro, Jacobina - BA, 44999-000
Genoveva Ribeiro Casaverde         Referência      Vencimento      Total a pagar
CPF: 330.918.274-61
                                   MARÇO/2026      20/03/2026      R$ 79,90
Rua do Umbuzeiro, 204 - Casa
Bairro Novo - Jacobina - BA - 44999-118
Cód. do assinante: 0030447         Contrato: 11882
                                   NOTA FISCAL FATURA Nº 000.077.182 SÉRIE: 001
                                   DATA DE EMISSÃO: 01/03/2026
                                   Consulte pela chave de acesso em dfe-portal.example/NFCom
                                   Chave de acesso:
                                   2926 0344 7120 8800 0140 6200 1000 0771 8210 4471 8820
                                   Protocolo de autorização: 3292600447188204
SCM - Plano Fibra 600 Mega           79,90
VALOR TOTAL NFF                      79,90
Pagador                              Nº documento
GENOVEVA RIBEIRO CASAVERDE           0077182
""")

    assert receipt.details.customer_name is not None
    assert receipt.details.customer_name.value.casefold() == "genoveva ribeiro casaverde"


def test_the_tip_that_a_law_requires_is_a_service_charge() -> None:
    receipt = _read("""
RESTAURANT EL FOGON SRL
RNC: 130118205
22-02-2026 03:15 PM
Mofongo de camarones         695.00
Chivo guisado              1,180.00
SUB-TOTAL RD$              1,875.00
ITBIS 18%                    337.50
10% LEY PROPINA              187.50
TOTAL A PAGAR RD$          2,400.00
""")

    assert receipt.details.service_charge is not None
    assert receipt.details.service_charge.value == Decimal("187.50")


def test_the_number_of_the_first_article_is_not_that_of_the_invoice() -> None:
    receipt = _read("""
WATTLEBARK HARDWARE
TAX INVOICE
9311182044718
DECK OIL MERBAU 4L                 $72.90
9314471882047 SCREWS DECK 50PK     $56.90
9317718204471 STIRRUP GALV 90MM    $11.70
Total                             $141.50
Sale 08/03/26 11:17 AM
""")

    assert receipt.document_number is None


def test_a_tax_number_is_shown_in_its_cell() -> None:
    receipt = _read(f"""
MERCADO BOM JARDIM LTDA
CNPJ {cnpj("902044180055")}                    Rua das Flores, 12 - Centro
TOTAL                                           10,00
""")

    assert receipt.merchant_tax_id is not None
    assert receipt.merchant_tax_id.box is not None
    assert receipt.total is not None
    assert receipt.total.box is not None
    assert receipt.merchant_tax_id.box.x1 < receipt.total.box.x0


def test_the_page_where_a_key_is_looked_up_is_no_recipient() -> None:
    services = "\n".join(
        f"SVA - Serviço {number}                      1,00" for number in range(16)
    )
    receipt = _read(f"""
DOCUMENTO AUXILIAR DA NOTA FISCAL FATURA DE SERVIÇO DE COMUNICAÇÃO ELETRÔNICA E DE TELECOMUNICAÇÃO
SERTÃONET PROVEDOR DE INTERNET LTDA          CNPJ {cnpj("447120880001")}
Praça da Matriz, 77, Centro, Jacobina - BA, 44999-000
NOTA FISCAL FATURA Nº 000.077.182 SÉRIE: 001
DATA DE EMISSÃO: 01/03/2026
                                   Consulte pela chave de acesso em dfe-portal.example/NFCom
                                   Rua do Umbuzeiro, 204 - Casa
                                   Jacobina - BA - 44999-118
{services}
VALOR TOTAL NFF                      16,00
""")

    assert receipt.details.customer_name is None
