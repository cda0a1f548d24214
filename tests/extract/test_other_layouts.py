"""Receipts and invoices of several countries whose sums, parties or numbers were misread."""

from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.fields.labelled_amounts import entries
from recibo.extract.fields.payments import payment_candidates
from recibo.extract.model import Extracted, LineItem, Receipt
from tests.extract.fields.foreign_receipts import rows_of
from tests.extract.typesetting import text_page

_TABLE_OF_TWO = """
Cliente              Veiculo
Ana Prado            Mazda 2019
Rua Bela, 22         Km: 98 412
"""


def _read(text: str, *, exact: bool = False) -> Receipt:
    return pipeline.understand([[text_page(text, exact=exact)]])


def _value(found: Extracted[Decimal] | Extracted[str] | None) -> str | None:
    return str(found.value) if found else None


def _sums(receipt: Receipt) -> list[str | None]:
    return [_value(one) for one in (receipt.subtotal, receipt.tax, receipt.total)]


def _payments(receipt: Receipt) -> list[tuple[str, str]]:
    paid = (one.value for one in receipt.details.payments)
    return [(one.method.value, str(one.amount)) for one in paid]


def test_greek_capitals_are_known_by_the_latin_ones_that_look_like_them() -> None:
    receipt = _read("""
ANΘOΠΩΛEIO KHΠOΣ
EPMOY 12, AΘHNA 10563
AΦM: 094019245   ΔOY: A AΘHNΩN
AΠOΔEIΞH AIANIKHΣ
21/08/2026 11:25
TPIANTAΦYAAA    24%       12,40
KOPΔEAA         24%        3,10
ΣYNOAO          EUR       15,50
METPHTA                   20,00
PEΣTA                      4,50
""")

    assert _value(receipt.total) == "15.50"
    assert _payments(receipt) == [("cash", "15.50")]
    assert _value(receipt.merchant_tax_id) == "094019245"
    assert len(receipt.line_items) == len("ab")


def test_base_fare_is_no_subtotal_and_the_total_may_be_on_top() -> None:
    receipt = _read(
        """
Kolibri Mobilidade
15 de março de 2026
Total                                  R$ 20,90
Preço base da viagem                   R$ 18,40
Tempo de espera                         R$ 1,50
Pedágio                                 R$ 3,00
Subtotal                               R$ 22,90
Promoção                               -R$ 2,00
Pagamentos
Visa ••••2290                          R$ 20,90
""",
        exact=True,
    )

    assert _sums(receipt) == ["22.90", None, "20.90"]


def test_freight_with_a_discount_leads_to_the_total() -> None:
    receipt = _read("""
TINTAS BEIRA RIO LTDA
R BAHIA 4410, BLUMENAU - SC
20/08/2026 16:20
TINTA ACRILICA 18L          2 X 150,00    300,00
ROLO 23CM                   4 X  12,50     50,00
Valor total R$                            350,00
Desconto R$                                30,00
Frete R$                                   45,00
Valor a Pagar R$                          365,00
PIX                                       365,00
""")

    assert _value(receipt.details.discount) == "30.00"
    assert _value(receipt.total) == "365.00"


def test_withheld_tax_is_between_the_tax_table_and_the_amount_to_pay() -> None:
    receipt = _read(
        """
Arch. Bianca Forlani
Via San Vitale 41, 40125 Bologna (BO)
Partita IVA: IT02441882707
Parcella numero 27/2026 del 30-09-2026
Descrizione                          Quantità   Prezzo unitario   Prezzo totale
Progetto arredi                          1,00            900,00          900,00
Sopralluogo                              2,00             50,00          100,00
Riepilogo IVA              %IVA     Totale imponibile    Totale imposta
esigibilità immediata     22,00              1.000,00            220,00
Totale documento                          € 1.220,00
Ritenuta d'acconto (20% su 1.000,00)      € -200,00
Netto a pagare                            € 1.020,00
""",
        exact=True,
    )

    assert _sums(receipt)[:2] == ["1000.00", "220.00"]


def test_decimals_of_a_distance_say_nothing_about_amounts() -> None:
    receipt = _read("""
WARUNG PAK RAHMAT
Jl. Kaliurang Km 5,2 No. 17, Yogyakarta
19/07/2026 19:54
Nasi Goreng
2 x 38.000            76.000
Es Teh
3 x 8.000             24.000
Subtotal             100.000
PB1 10%               10.000
TOTAL Rp             110.000
QRIS                 110.000
""")

    assert _sums(receipt) == ["100000.00", "10000.00", "110000.00"]


def test_consumption_at_a_bar_is_the_subtotal() -> None:
    receipt = _read("""
BAR DO MERCADO
GOIANIA - GO   20/06/2026 22:31
QTD PRODUTO             V.UNIT       TOTAL
6 CHOPP 400ML            12,90       77,40
1 PICANHA P/2 148,00   148,00
CONSUMO                             225,40
SERVICO 10%                          22,54
TOTAL                               247,94
""")

    [_, picanha] = [item.value for item in receipt.line_items]

    assert _value(receipt.subtotal) == "225.40"
    assert picanha == LineItem("PICANHA P/2", Decimal(1), Decimal("148.00"), Decimal("148.00"))


def test_code_of_a_country_with_a_misread_letter_is_repaired() -> None:
    receipt = _read("""
CASA MESTERULUI SRL
STR. CALEA TURZII NR. 88, CLUJ-NAPOCA
COD IDENTIFICARE FISCALA: R01590082
11/05/2026 13:47
VOPSEA ALBA               189,99
TOTAL LEI                 189,99
CARD                      189,99
""")

    assert _value(receipt.merchant_tax_id) == "RO1590082"


def test_customer_is_behind_a_label_inside_the_row_below_the_heading() -> None:
    receipt = _read(
        """
TALLER LA BIELA SA DE CV                         FACTURA
RFC: TBI180412QX7                                Serie y folio: A 2207
Av. Vallarta 4418, Zapopan, Jalisco              2026-04-09
RECEPTOR
RFC: PAD150923HT4 Nombre: PANIFICADORA DON SEVERO
Uso CFDI: G03 Gastos en general
Cantidad   Descripción              Valor unitario       Importe
1.00       Afinación mayor                2,000.00      2,000.00
Subtotal                                                2,000.00
IVA 16%                                                   320.00
Total                                                   2,320.00
""",
        exact=True,
    )

    assert _value(receipt.details.customer_name) == "PANIFICADORA DON SEVERO"


def test_gap_behind_a_hyphen_does_not_end_a_number() -> None:
    receipt = _read(
        """
Driftwood Software, Inc.
2210 S Lamar Blvd, Austin, Texas 78704
Invoice number 7C41E0B8- 0023
Date of issue September 9, 2026
Team plan                14      $18.00      $252.00
Total                                        $252.00
""",
        exact=True,
    )

    assert _value(receipt.document_number) == "7C41E0B8-0023"


@pytest.mark.parametrize(
    "row",
    [
        "for the invoice at the time of check-out",
        "0-Por conta do Emit",
        "MD-5:A17C2C4BBD9F4E0F8189EE58CB2674E4",
        "Bangalore, Karnataka, Pin: 560002",
        "Paiement par CB totalement sécurisé",
        "Prélèvement à partir du 05 juillet 2026      29.99",
        "Vid försenad betalning debiteras 60 kr",
        "Total credit                160.68",
        "Free Haut Débit             29.99",
    ],
)
def test_words_that_contain_a_method_are_no_payment(row: str) -> None:
    rows = rows_of(f"TOTAL     29.99\n{row}")

    assert not payment_candidates(rows, entries(rows))


def test_last_word_of_a_name_reaches_into_the_next_column() -> None:
    receipt = _read("""
AUTO POSTO TREVO LTDA
CNPJ: 06.371.924/0001-80
09/03/2026 06:52
COD. DESCRICAO      QTD    UN    VL.UNIT      VL.TOTAL
000002 ETANOL HIDRATADO COMUM
                31,482 LT x 4,390               138,21
000317 ARLA FLEXX AGENTE 5L
                1,000 UN x 38,900                38,90
QTDE. TOTAL DE ITENS                                 2
VALOR TOTAL R$                                  177,11
Dinheiro                                        177,11
""")

    assert [item.value.name for item in receipt.line_items] == [
        "ETANOL HIDRATADO COMUM",
        "ARLA FLEXX AGENTE 5L",
    ]


def test_discount_on_a_condition_is_not_subtracted() -> None:
    receipt = _read("""
COLEGIO MONTE AZUL LTDA
CNPJ 04.252.011/0001-10
Emissao: 20/10/2026
Mensalidade 11/2026                       1.418,00
Total a pagar ate 05/11/2026:          R$ 1.418,00
Pagando ate 01/11/2026: desconto de pontualidade de R$ 42,54 (valor R$ 1.375,46)
""")

    assert _value(receipt.total) == "1418.00"


def test_fee_with_a_rate_is_no_tax() -> None:
    receipt = _read("""
PETIT BISTRO
2419 N LINCOLN AVE
CHICAGO, IL 60614
10/11/2026 11:58 AM
1 Duck Hash                   $19.00
2 Drip Coffee                  $9.00
Subtotal                      $28.00
Kitchen Appreciation (3%)      $0.84
Tax                            $2.96
Total                         $31.80
""")

    assert _sums(receipt) == ["28.00", "2.96", "31.80"]
    assert _value(receipt.details.service_charge) == "0.84"


def test_title_in_a_sentence_does_not_say_the_kind_of_a_document() -> None:
    receipt = _read("""
LOCATUDO LOCACAO DE MAQUINAS LTDA                FATURA DE LOCACAO
CNPJ 04.252.011/0001-10                          No 004418
Emissao 02/06/2026
Locatario: ENGEMAIS OBRAS E REFORMAS LTDA
CNPJ 33.000.167/0001-01
40 Andaime fachadeiro          14,50       580,00
12 Betoneira 400L              38,00       456,00
Subtotal                                 1.036,00
Desconto                                    36,00
VALOR TOTAL DA FATURA R$                 1.000,00
Locacao de bens moveis: dispensada a emissao de nota fiscal de servico.
""")

    assert receipt.type is not None
    assert receipt.type.value == "invoice"
    assert _value(receipt.total) == "1000.00"
    assert _value(receipt.details.customer_tax_id) == "33000167000101"


def test_invoice_in_a_foreign_currency_repeats_its_tax_at_home() -> None:
    receipt = _read("""
Merlion Systems Pte. Ltd.                        TAX INVOICE
71 Ayer Rajah Crescent #04-18, Singapore 139951  No: MS-77
GST Reg. No. 201844182K                          Issued 18 May 2026
Item                       Qty   Unit     Amount
Endpoint licence            45  32.40   1,458.00
Subtotal                            USD 1,458.00
GST 9%                                USD 131.22
Amount payable                      USD 1,589.22
For GST purposes only: total excluding GST SGD 1,913.48; GST payable 172.21; in all SGD 2,085.69
""")

    assert _value(receipt.currency) == "USD"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("CONSUMIDOR CPF: 111.444.777-35\nLUANA SCHRAMM", "LUANA SCHRAMM"),
        ("Cliente: Petek Charter Ltda, Rua Savska 118, 10000 Campinas", "Petek Charter Ltda"),
        (_TABLE_OF_TWO, "Ana Prado"),
    ],
    ids=["below a tax number", "before an address", "in a table of two"],
)
def test_customer_has_only_a_name(label: str, name: str) -> None:
    receipt = _read(f"""
MECANICA BOA VISTA LTDA
CNPJ 04.252.011/0001-10
11/07/2026 15:20
Troca de oleo              89,90
TOTAL R$                   89,90
Dinheiro                   89,90

{label}
""")

    assert _value(receipt.details.customer_name) == name


def test_sum_that_was_received_was_paid_by_the_method_above_it() -> None:
    receipt = _read("""
CORREIO POSTAL S.A.
CNPJ: 04.252.011/0001-10
18/06/2026 14:52
SEDEX CONTRATO                 38,42
PAC CONTRATO                   27,15
TOTAL(R$)                      65,57
PIX - QR DINAMICO              65,57
VALOR RECEBIDO(R$)=>           65,57
""")

    assert _payments(receipt) == [("pix", "65.57")]


def test_parties_of_an_argentinian_invoice_are_behind_their_labels() -> None:
    receipt = _read("""
TINTA SUELTA DISENO                       C   FACTURA
Razon Social: AGUERO MILAGROS             Comp. Nro: 00000418
Domicilio: Gral. Paz 418, Cordoba
CUIT: 27220718846                         Fecha: 07/08/2026
CUIT: 30718842200 Apellido y Nombre / Razon Social: DULCES SERRANOS S.R.L.
Condicion de venta: Contado
Producto                                  Subtotal
Diseno de etiquetas                     231.000,00
Importe Total: $                        231.000,00
""")

    assert _value(receipt.details.customer_name) == "DULCES SERRANOS S.R.L."
    assert _value(receipt.merchant_name) in {"TINTA SUELTA DISENO", "AGUERO MILAGROS"}


def test_instalment_is_not_what_was_paid() -> None:
    receipt = _read("""
VOASUL LINHAS AEREAS S.A.
CNPJ 04.252.011/0001-10
22/07/2026
Tarifa                        612,00
Total                     R$ 612,00
Forma de pagamento: Cartao de credito Visa final 0418, 3x de R$ 204,00 sem juros
""")

    assert ("credit_card", "204.00") not in _payments(receipt)
