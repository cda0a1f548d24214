"""Sellers and customers that running text, greetings and honorifics name."""

import datetime as dt
from decimal import Decimal

from recibo.extract import pipeline
from recibo.extract.model import DocumentType, Receipt
from tests.extract.typesetting import text_page

RIDE = """
De: Vento <recibos@vento.example>
Para: ana.prado@correio.example
Assunto: Sua viagem de sexta-feira com a Vento
14 de novembro de 2025
Total                                R$ 26,75
Preço da viagem                      R$ 22,15
Pedágio                              R$ 4,60
Mastercard ••••7719                  R$ 26,75

Este não é um documento fiscal. Vento Tecnologia Ltda., CNPJ 04.252.011/0001-10. A nota fiscal da
taxa segue até o dia 10 do mês.
"""
BILL = """
Sua conta chegou
fibraviva                            R$ 109,90 vence 15/07/2025
Olá, Belarmino Junqueira Arruda! CPF 111.444.777-35 · Contrato 20041177
Fibra 500 Mega                                 R$ 99,90
Fixo Ilimitado Brasil                          R$ 20,00
Desconto fidelidade                          - R$ 10,00
Total desta conta                             R$ 109,90

DOCUMENTO AUXILIAR DA NOTA FISCAL FATURA DE SERVIÇOS DE COMUNICAÇÃO
Viva Telecomunicações Ltda - CNPJ 44.071.629/0001-06 - Av. Nova, 1200 - Londrina/PR
NOTA FISCAL FATURA No. 553.018 SÉRIE: 1 DATA DE EMISSÃO: 02/07/2025
Chave de acesso: 4125 0744 0716 2900 0106 6200 1000 5530 1816 0027 1844
"""
JAPANESE = """
請 求 書
株式会社あかね設計事務所 御中           請求番号:2025-0630-12
発行日:2025年6月30日
有限会社まるよし仕出し
登録番号:T4012401098765
幕の内弁当            24個        780      18,720
小計                                      18,720
消費税(8%対象)                            1,497
合計                                     ¥20,217
"""
SLIP = """
PAGAFACIL
MASTERCARD
CREDITO A VISTA
VIA CLIENTE
OTICA LUNETA
R 24 DE MAIO 88 LJ 3
FEIRA DE SANTANA BA
CNPJ 04.252.011/0001-10
22/08/25 19:47:12
VALOR                       R$ 189,00
"""
SIGNED = """
RECIBO          Nº 0087          R$ 850,00
Recebi(emos) de Graciliano Moura Benevides
a importância de oitocentos e cinquenta reais
referente a pintura da sala e do corredor
Caruaru, 5 de agosto de 2025
Nome Dagoberto Siqueira Prado CPF/RG 111.444.777-35
"""
BOLETO = """
ESCOLA ARCO DO SABER LTDA
Segue o boleto de NOVEMBRO/2025.
Banco do Vale S.A.                        Recibo do Pagador
Vencimento                                Valor
10/11/2025                                1.184,50
Autenticação
"""
LETTER = """
Isla Wrenfield
illustration & lettering
Studio 4, The Old Ropeworks, Penryn TR10 0ZZ

For the attention of                          Invoice IW-031
Bramble Books Ltd                             3 March 2026
12 Quill Yard
Bristol BS1 4ZZ

Cover illustration, full wrap                    £850.00
Spot illustrations                               £380.00
Total to pay                                   £1,230.00
Please pay by 17 March 2026 to Wrenfield I, quoting IW-031.
"""
DELIVERED = """
Rightway Packaging Ltd
GSTIN 33AAEPA9313E1Z8
Invoice No 1115                      Invoice Date 12/01/2026
Bill To                              Ship To
Polymer Hose Works North             Kanchipuram
1/160, Kannivakkam Village           Via Guduvancherry
Tape                 720.00    19.00    13,680.00
Total                                   13,680.00
"""


def understood(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


def name(receipt: Receipt) -> str | None:
    return receipt.merchant_name.value if receipt.merchant_name else None


def customer(receipt: Receipt) -> str | None:
    found = receipt.details.customer_name
    return found.value if found else None


def test_company_that_a_sentence_names_with_its_tax_number_is_the_seller() -> None:
    receipt = understood(RIDE)

    assert "Vento Tecnologia Ltda" == name(receipt)
    assert receipt.type.value is DocumentType.RECEIPT


def test_company_named_below_the_items_is_the_seller_and_who_is_greeted_the_customer() -> None:
    receipt = understood(BILL)

    assert ("Viva Telecomunicações Ltda", "Belarmino Junqueira Arruda") == (
        name(receipt), customer(receipt),
    )  # fmt: skip


def test_japanese_customer_is_before_the_honorific() -> None:
    receipt = understood(JAPANESE)

    assert ("有限会社まるよし仕出し", "株式会社あかね設計事務所") == (
        name(receipt), customer(receipt),
    )  # fmt: skip


def test_bank_above_the_card_on_a_slip_is_not_the_seller() -> None:
    assert "OTICA LUNETA" == name(understood(SLIP))


def test_who_signs_without_a_colon_is_the_seller_and_the_title_no_item() -> None:
    receipt = understood(SIGNED)

    assert "Dagoberto Siqueira Prado" == name(receipt)
    assert "RECIBO" not in [one.value.name for one in receipt.line_items]


def test_boleto_is_to_be_paid() -> None:
    assert understood(BOLETO).type.value is DocumentType.INVOICE


def test_year_in_a_sentence_is_no_amount() -> None:
    receipt = understood(LETTER)

    due = receipt.details.due_date
    assert Decimal("1230.00") == (receipt.total and receipt.total.value)
    assert dt.date(2026, 3, 17) == (due and due.value)


def test_customer_is_who_is_billed_not_where_it_is_delivered() -> None:
    assert "Polymer Hose Works North" == customer(understood(DELIVERED))
