"""Labels of parties, payments and sums in several countries, and numbers that are none."""

from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.model import Receipt
from tests.extract.typesetting import cnpj, text_page


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


def _names(text: str) -> tuple[str | None, str | None]:
    """Return the seller and the customer."""
    receipt = _read(text)
    seller, buyer = receipt.merchant_name, receipt.details.customer_name
    return seller.value if seller else None, buyer.value if buyer else None


def test_parties_of_an_estonian_invoice_in_two_columns() -> None:
    assert _names("""
▲ pilvekoda                                ARVE nr PK-260301-118
                                           Kuupäev: 01.03.2026
Arve saaja                                 Arve esitaja
Kuldkaru Kohvirösterid OÜ                  Pilvekoda OÜ
Telliskivi põik 9-2, 10412 Tallinn         Raekoja tee 3, 51004 Tartu
KMKR EE101993825                           KMKR EE102884179
Veebimajutus                  1 kuu      18,90       18,90
VPS S4                        2 tk       24,00       48,00
Summa käibemaksuta                                   66,90
Käibemaks 24%                                        16,06
Kokku                                                82,96
""") in {
        ("pilvekoda", "Kuldkaru Kohvirösterid OÜ"),
        ("Pilvekoda OÜ", "Kuldkaru Kohvirösterid OÜ"),
    }


def test_who_rents_is_the_customer() -> None:
    seller, buyer = _names("""
TAX INVOICE
Bandicoot Rentals                           Invoice BNE-F 0071882
Renter                                      Pick up
Ms Imogen Harcastle                         Brisbane Airport, 14 Feb 2026 10:30
Turpentine Ridge Winery Pty Ltd             Return
41 Cellar Lane, Stanwick QLD 4380           Brisbane Airport, 19 Feb 2026 09:12
Vehicle                                     Invoice date 20/02/2026
Group C - white hatch auto                  Bandicoot Vehicle Hire Pty Ltd
Km out 41 882 Km in 42 750                  ABN 62 447 190 331
Extra kilometres 118 km @ 0.25                                            29.50
Registration Recovery Fee                                                 24.75
TOTAL CHARGES (AUD, incl GST)                                            $54.25
""")

    assert seller is not None
    assert seller.startswith("Bandicoot")
    assert buyer in {"Ms Imogen Harcastle", "Imogen Harcastle", "Turpentine Ridge Winery Pty Ltd"}


def test_a_turkish_company_and_the_sum_of_its_discounts() -> None:
    receipt = _read("""
ÇINARALTI HIRDAVAT VE ELEKTRİK MALZEMELERİ SANAYİ TİCARET
LİMİTED ŞİRKETİ
VKN: 4188273010                             Fatura No:     CNR2026000000417
SAYIN                                       Fatura Tarihi: 19-02-2026
MAVİ ÇİNİ PANSİYON
Mal Hizmet               Miktar     Birim Fiyat     Mal Hizmet Tutar
Darbeli Matkap           2 Adet     1.000,00 TL     2.000,00 TL
LED Panel                3 Adet       100,00 TL       300,00 TL
Mal Hizmet Toplam Tutar                            2.300,00 TL
Toplam İskonto                                        200,00 TL
KDV Matrah (%20)                                   2.100,00 TL
Hesaplanan KDV(%20)                                   420,00 TL
Ödenecek Tutar                                      2.520,00 TL
""")

    assert receipt.merchant_name is not None
    assert receipt.merchant_name.value.endswith("TİCARET LİMİTED ŞİRKETİ")
    assert receipt.details.discount is not None
    assert receipt.details.discount.value == Decimal("200.00")


def test_a_company_sells_to_a_person() -> None:
    seller = cnpj("612880190001")
    receipt = _read(f"""
APÓLICE DE SEGURO AUTOMÓVEL                 Nº 0531.77.2026
Data de emissão: 28/01/2026
Segurado
DAMIANA FREIRE DE ANDRADA
CPF 111.444.777-35
Prêmio líquido - Casco                                      1.684,20
IOF (7,38%)                                                   124,29
Prêmio total                                                1.808,49
BÚSSOLA SEGUROS S.A. CNPJ {seller}
""")

    assert receipt.merchant_tax_id is not None
    assert receipt.merchant_tax_id.value == "".join(filter(str.isdigit, seller))


TRANSFER = """
banco folha
Comprovante de transferência
TED - outra titularidade
27 FEV 2026 - 16:32:10
R$ 3.475,90
Tarifa                    R$ 9,90
Destino
Nome                      OFICINA RODA VIVA LTDA
CNPJ                      55.201.884/0001-34
Origem
Nome                      Genivaldo Paes Sobreira
"""
PAID_SLIP = """
Banco Laranjeira
Comprovante de pagamento de boleto
Dados da conta debitada
Nome:                     MARCENARIA PAU-FERRO LTDA
Dados do boleto
Beneficiário original:    FERRO PERFIS LTDA
CNPJ do beneficiário:     44.581.027/0001-90
Pagador:                  MARCENARIA PAU-FERRO LTDA
Data de vencimento:       05/03/2026
Valor do documento (R$):  1.284,50
( + ) Multa:              25,69
( = ) Valor do pagamento (R$): 1.310,19
Data de pagamento:        10/03/2026
"""


@pytest.mark.parametrize(
    ("text", "seller", "total"),
    [
        (TRANSFER, "OFICINA RODA VIVA LTDA", "3475.90"),
        (PAID_SLIP, "FERRO PERFIS LTDA", "1310.19"),
    ],
    ids=["transfer", "slip"],
)
def test_what_was_paid_to_whom(text: str, seller: str, total: str) -> None:
    receipt = _read(text)

    assert receipt.merchant_name is not None
    assert receipt.merchant_name.value == seller
    assert receipt.total is not None
    assert str(receipt.total.value) == total
    assert receipt.type.value == "receipt"


def test_what_is_left_on_a_card_is_not_what_was_paid() -> None:
    receipt = _read("""
VALE+ REFEICAO
CANTINA DA NONA FILOMENA
CNPJ 33.772.081/0001-05
12/03/26 12:58:44 DOC 118204
CARTAO ************3390
VALOR:                    R$ 37,80
TRANSACAO AUTORIZADA COM SENHA
SALDO DISPONIVEL:        R$ 412,35
PROX. CREDITO 01/04:     R$ 880,00
""")

    assert receipt.total is not None
    assert receipt.total.value == Decimal("37.80")
    assert [one.value.amount for one in receipt.details.payments] == [Decimal("37.80")]
    assert receipt.line_items == ()


def test_the_method_is_behind_its_label() -> None:
    receipt = _read("""
COLEGIO SEMENTE DO SABER LTDA
ALMOCO INTEGRAL - 14 DIAS            322,00
MATERIAL APOSTILADO                  164,50
TOTAL RECEBIDO                    R$ 486,50
RECEBIDO EM 18/02/2026 CX: IVONETE FORMA: CARTAO DEB
""")

    assert [one.value.method.value for one in receipt.details.payments] == ["debit_card"]


def test_a_tip_for_the_driver() -> None:
    receipt = _read("""
Temaki do Mestre
Pedido n° 7718 · 01/03/2026 às 20:37
1 Combo Mestre            R$ 119,80
1 Refri lata              R$ 20,20
Subtotal                  R$ 140,00
Caixinha do entregador    R$ 3,00
Total                     R$ 143,00
""")

    assert receipt.details.tip is not None
    assert receipt.details.tip.value == Decimal("3.00")


def test_a_registration_is_no_amount_and_its_letters_no_tax_number() -> None:
    receipt = _read("""
ABASTECEDORA FAROL DO RECONCAVO LTDA
CNPJ: 14.472.088/0001-59 IE: 062447188.00-20
CUPOM FISCAL ELETRONICO - SAT
TARIFA                     89,14
PEDAGIO                     7,60
TOTAL R$                   96,74
CONSUMIDOR CNPJ 66.041.882/0001-41
""")

    assert [item.value.name for item in receipt.line_items] == ["TARIFA", "PEDAGIO"]
    found = receipt.details.customer_tax_id
    assert found is None or found.value.isdigit()


def test_a_trade_behind_a_legal_form_is_part_of_the_name() -> None:
    seller, _ = _names("""
CLOVER & CO MARKET
4410 SAGEBRUSH PIKE
HARLAN CREEK KY 40999
BATTERY AA                8.49
TOTAL                     8.49
""")

    assert seller == "CLOVER & CO MARKET"


def test_a_rounding_without_cents_of_a_large_sum() -> None:
    receipt = _read("""
WARUNG KOPI LAWANG
14-02-2026 20:41
Nasi Goreng
2 x 38.000                76.000
Es Kelapa
3 x 22.000                66.000
Subtotal                 142.000
PB1 10%                   14.200
Pembulatan                   -75
TOTAL                 Rp 156.125
""")

    assert receipt.details.rounding is not None
    assert receipt.details.rounding.value == Decimal(-75)


def test_a_price_or_a_number_in_a_name_is_not_that_of_the_document() -> None:
    receipt = _read("""
ARMARINHO DA DONA ZEFA
Data: 07/02/2026
QUANT.   DISCRIMINAÇÃO             P. UNIT.     TOTAL
3 m      Tecido chita                18,00      54,00
5 un     Linha pipa nº 1044           6,80      34,00
Depósito recibido (no es de esta factura): $ 500.000
TOTAL R$                                        88,00
""")

    assert receipt.document_number is None


def test_a_time_with_dashes_behind_its_label() -> None:
    receipt = _read("""
S.C. ALIMENTARA LA COLT S.R.L.
CAFEA BOABE 1KG            64,90
TOTAL LEI                  64,90
DATA: 21/02/2026           ORA: 16-05-48
""")

    assert receipt.issued_at is not None
    assert str(receipt.issued_at.value.time) == "16:05:48"


def test_a_fee_without_tax_is_no_tax() -> None:
    receipt = _read("""
fjordtel AS                       Faktura
Org.nr. 918402772MVA              Fakturanr.  3300718842
Abonnement og tjenester             462,16
Merverdiavgift 25 % av 462,16       115,54
Fakturagebyr papir (mva-fritt)       39,00
Sum å betale                        616,70
""")

    assert receipt.tax is not None
    assert receipt.tax.value == Decimal("115.54")


def test_the_insured_in_a_column_next_to_the_charges() -> None:
    _, buyer = _names("""
BÚSSOLA SEGUROS S.A.              Nº 0531.77.2026.004418-2
Segurado                          Demonstrativo do prêmio (R$)
DAMIANA FREIRE DE ANDRADA         Prêmio líquido - Casco          1.684,20
CPF 111.444.777-35                Prêmio líquido - APP               38,60
R. Mirante do Farol, 18           IOF (7,38%)                       127,14
                                  Prêmio total                    1.849,94
""")

    assert buyer == "DAMIANA FREIRE DE ANDRADA"


def test_a_surcharge_for_a_card_is_no_payment() -> None:
    receipt = _read("""
Bandicoot Vehicle Hire Pty Ltd
Extra kilometres 118 km @ 0.25                     29.50
TOTAL CHARGES                                     $29.50
Card surcharge 1.35% (Visa credit ending 7702)      0.40
""")

    assert Decimal("0.40") not in [one.value.amount for one in receipt.details.payments]


@pytest.mark.parametrize(
    ("head", "number"),
    [
        ("ARMARINHO DA DONA ZEFA - ME            N°001183", "001183"),
        ("EQUIPOS              FACTURA DE VENTA\nNIT 900.456.718-1    EQV 20.881", "EQV 20.881"),
        ("SANERIO\nMATRICULA: 0041882-3   CONTA N.: 2026.01.0041882", "2026.01.0041882"),
        ("Tumaini Airways\nTICKET NUMBER\n" + 50 * " " + "TM 219 Kisumu 15 Mar 2026\n"
         "744-2100448172 ISSUED 04 MAR 2026", "744-2100448172"),
    ],
    ids=["degree", "series", "dots", "column"],
)  # fmt: skip
def test_numbers_of_documents(head: str, number: str) -> None:
    receipt = _read(f"""
{head}
Data: 16/01/2026
Tarifa fixa                       22,40
TOTAL                             22,40
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == number


def test_charges_named_with_their_period_or_the_day_on_which_they_are_due() -> None:
    receipt = _read("""
COLEGIO SEMENTE DO SABER LTDA
PARCELA 02/12 VENCTO 10/02/2026      186,00
ALUGUEL 10/01 a 09/02/2026         2.350,00
ALMOCO INTEGRAL - 14 DIAS            322,00
TOTAL                              2.858,00
""")

    assert [item.value.name for item in receipt.line_items] == [
        "PARCELA 02/12 VENCTO 10/02/2026",
        "ALUGUEL 10/01 a 09/02/2026",
        "ALMOCO INTEGRAL - 14 DIAS",
    ]


def test_a_coupon_that_is_subtracted_is_not_the_number_of_the_order() -> None:
    receipt = _read("""
Sabor da Vila Hamburgueria
Pedido nº 6640 • 11/10/2025 • 20:32
1 Batata rústica 400g           R$ 19,00
1 Refrigerante 2L               R$ 14,00
Subtotal                        R$ 33,00
Cupom QUERO15                 - R$ 15,00
Total                           R$ 18,00
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == "6640"
