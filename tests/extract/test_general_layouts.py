"""Layouts that many sellers share, read as whole documents; each was invented for its test."""

import datetime as dt
from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.model import PaymentMethod, Receipt
from recibo.extract.text import dates, numbers
from tests.extract.typesetting import cnpj, nfe_key, text_page

ISSUER, CUSTOMER = cnpj("287714090001"), cnpj("053321180002")


def _read(*texts: str, exact: bool = True) -> Receipt:
    pages = [
        text_page(text, number=number, exact=exact) for number, text in enumerate(texts, start=1)
    ]
    return pipeline.understand([[page] for page in pages])


def _items(receipt: Receipt) -> list[tuple[str, Decimal | None]]:
    return [(item.value.name, item.value.total) for item in receipt.line_items]


PAGE = """
Pinheiro Tools Ltd                          Invoice 118{number}
                                            Date: 12/03/2026
Description                 Qty    Unit price      Amount
{rows}
{sums}
"""


def test_items_of_a_second_page_with_headings_are_read_once() -> None:
    first = PAGE.format(
        number="", rows="Cordless drill               2        40.00       80.00", sums=""
    )
    second = PAGE.format(
        number="",
        rows="Chisel                       1        12.50       12.50",
        sums="Total                                               92.50",
    )
    assert _items(_read(first, second)) == [
        ("Cordless drill", Decimal("80.00")),
        ("Chisel", Decimal("12.50")),
    ]


INDIAN_INVOICE = """
                        TAX INVOICE
 KAVERI STEEL DEPOT                         Invoice No.   KSD/26-27/0417
 Shop 14, Nehru Market, Nagpur 440018       Dated         11-Oct-2026
 GSTIN/UIN: 27AAEPB8820K1ZL                 Delivery Note
 State Name : Maharashtra, Code : 27        Mode/Terms of Payment  30 Days
 Buyer (Bill to)
 Deccan Builders
 GSTIN/UIN : 27AACCV1182M1Z8
 Sl  Description            HSN/SAC  Quantity   Rate   per   Amount
 1   Cement 53 50kg         252329   40 BAG    365.00  BAG  14,600.00
 2   Steel Bar 12mm         721420   0.500 MT 58,200.00 MT  29,100.00
                                    CGST                     3,933.00
                                    SGST                     3,933.00
                 Total                                    ₹ 51,566.00
"""


def test_both_taxes_and_the_seller_s_number_of_an_indian_invoice_are_read() -> None:
    receipt = _read(INDIAN_INVOICE)

    assert receipt.merchant_tax_id
    assert receipt.merchant_tax_id.value == "27AAEPB8820K1ZL"
    assert receipt.tax
    assert receipt.tax.value == Decimal("7866.00")


LETTER = """
                                                    Holzwerk Brandt GmbH
Holzwerk Brandt GmbH · Am Bach 7 · 33803 Steinhagen
Wohnbau Teuto eG
Frau Ahlers
Detmolder Str. 210
33605 Bielefeld

Rechnung R-2026-0183           Datum 27.02.2026
Montage                                             1.305,00 EUR
Umsatzsteuer 19 %                                     247,95 EUR
Rechnungsbetrag                                     1.552,95 EUR
"""


def test_the_recipient_of_a_letter_is_below_the_line_of_the_sender() -> None:
    customer = _read(LETTER).details.customer_name
    assert customer is not None
    assert customer.value == "Wohnbau Teuto eG"


def test_a_street_like_a_postcode_does_not_end_the_recipient() -> None:
    text = LETTER.replace("Detmolder Str. 210", "1822 SW Juniper Ln").replace(
        "33605 Bielefeld", "Cedar Falls OR 97998-1104"
    )
    customer = _read(text).details.customer_name
    assert customer is not None
    assert customer.value == "Wohnbau Teuto eG"


POLISH = """
Serwis Bałtyk sp. z o.o.              Faktura FV/118/2026
ul. Morska 77, 80-211 Gdańsk          Data wystawienia: 2026-03-12
NIP: 5842718804
Przegląd klimatyzacji                                1 163,76 PLN
Sposób płatności: przelew   Termin płatności: 2026-03-26
Do zapłaty: 1 163,76 PLN
"""


def test_labels_with_crossed_letters_are_known() -> None:
    details = _read(POLISH).details
    assert details.due_date is not None
    assert details.due_date.value == dt.date(2026, 3, 26)


def test_the_code_of_a_currency_is_no_payment() -> None:
    assert _read(POLISH).details.payments == ()


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("January 1 - January 31, 2026", [dt.date(2026, 1, 31)]),
        ("12 Jan - 11 Feb", []),
        ("12 Jan 26", [dt.date(2026, 1, 12)]),
    ],
)
def test_the_day_of_a_second_date_is_no_year(text: str, days: list[dt.date]) -> None:
    assert [day.date for day in dates.days(text)] == days


def test_the_end_of_a_masked_number_is_no_amount() -> None:
    assert numbers.amounts("IBAN DE12 **** **** **44 18") == ()
    assert [amount.value for amount in numbers.amounts("TOTAL **44.18")] == [Decimal("44.18")]


DINER = """
        KUSINA NI NENA
    VAT REG TIN: 009-412-887-00002
OR# 000118220            POS: 01
04/18/2026 12:55 PM
 1 Sinigang na Baboy           365.00
 1 Halo-halo Special           345.00
 Subtotal                      710.00
 Service Charge                 31.70
 TOTAL DUE                     741.70
 CASH                        1,000.00
 CHANGE                        258.30
 VATable Sales                 633.93
 VAT Amount (12%)               76.07
"""


def test_the_subtotal_of_the_items_precedes_the_net_amount_of_a_tax_table() -> None:
    subtotal = _read(DINER).subtotal
    assert subtotal is not None
    assert subtotal.value == Decimal("710.00")


@pytest.mark.parametrize("label", ["OR#", "SI #"])
def test_an_abbreviation_before_a_number_sign_is_a_label(label: str) -> None:
    number = _read(DINER.replace("OR#", label)).document_number
    assert number is not None
    assert number.value == "000118220"


FOLIO = """
                 The Larkspur Hotel
        1401 Pike Place, Seattle WA 98101
Room 0812                           Folio No. 331907
Date        Description                  Charges USD
02-08-26    Room Charge                       219.00
02-09-26    Bar & Grill Check# 5512            46.20
02-09-26    Room Charge                       219.00
            Total                             484.20
"""


def test_the_number_of_a_dated_item_is_not_that_of_the_document() -> None:
    number = _read(FOLIO).document_number
    assert number is not None
    assert number.value == "331907"


def test_digits_in_groups_are_one_number() -> None:
    number = _read(LETTER.replace("R-2026-0183", "Nr. 88 4410 2277 1").replace("Datum", "\nDatum"))
    assert number.document_number is not None
    assert number.document_number.value == "88 4410 2277 1"


HUNGARIAN = """
        KÉKFÉNY ELEKTRO KFT.
     1138 BUDAPEST, VÁCI ÚT
C00 USB-C KÁBEL 2M          4 990
C00 ELEM AA 8DB             3 290
C00 LED IZZÓ E27            4 710
ÖSSZESEN:               12 990 Ft
KÉSZPÉNZ:               15 000 Ft
VISSZAJÁRÓ:              2 010 Ft
NYUGTASZÁM: 0412/00087
2025.09.30. 16:12
"""


def test_spaces_group_the_amounts_of_items_as_those_of_the_total() -> None:
    assert _items(_read(HUNGARIAN)) == [
        ("USB-C KÁBEL 2M", Decimal("4990.00")),
        ("ELEM AA 8DB", Decimal("3290.00")),
        ("LED IZZÓ E27", Decimal("4710.00")),
    ]


BRANCH = """
        BRASSERIE LE PORT
     SARL LVP RESTAURATION
   22 quai Durand 34200 SETE
le 15/08/2025 à 14h06
 2 Menu du midi         39,80
TOTAL TTC      EUR      39,80
CB                      39,80
"""


def test_a_company_with_its_form_first_does_not_continue_the_name_above() -> None:
    name = _read(BRANCH).merchant_name
    assert name is not None
    assert name.value == "BRASSERIE LE PORT"


SLIP = """
          GetNet
   VISA CREDITO A VISTA
   ************4402
   VIA DO CLIENTE
PET SHOP AMIGO LEAL
CNPJ {issuer}
R GOIAS 900 LONDRINA PR
DOC: 220914    AUT: 551872
03/06/2025   15:44:10   ONLINE
VALOR TOTAL:        R$ 138,70
"""


def test_the_shop_of_a_card_slip_is_neither_the_acquirer_nor_the_card() -> None:
    name = _read(SLIP.format(issuer=ISSUER)).merchant_name
    assert name is not None
    assert name.value == "PET SHOP AMIGO LEAL"


SERVICE_NOTE = """
PREFEITURA MUNICIPAL DE SAO BENTO
NOTA FISCAL DE SERVICOS ELETRONICA - NFS-e
Numero da Nota: 2318   Data e Hora de Emissao: 11/03/2026 16:20:44
PRESTADOR DE SERVICOS
CPF/CNPJ: {issuer}
Nome/Razao Social: ALFA CONSULTORIA EM ENGENHARIA E MEIO AMBIENTE
LTDA - EPP
Endereco: RUA PRINCIPAL 12
TOMADOR DE SERVICOS
Nome/Razao Social: EOLICA VENTOS DO LITORAL S.A.
CPF/CNPJ: {customer}
DISCRIMINACAO DOS SERVICOS
Monitoramento de fauna
VALOR TOTAL DA NOTA = R$ 18.400,00
"""


def test_a_labelled_name_continues_in_a_row_with_its_legal_form() -> None:
    receipt = _read(SERVICE_NOTE.format(issuer=ISSUER, customer=CUSTOMER))
    assert receipt.merchant_name is not None
    assert receipt.merchant_name.value == (
        "ALFA CONSULTORIA EM ENGENHARIA E MEIO AMBIENTE LTDA - EPP"
    )


def _energy_key() -> str:
    digits = "".join(filter(str.isdigit, ISSUER))
    return nfe_key(f"532601{digits}66000012884120112345678")


ENERGY = """
ENERGIA DO                    DOCUMENTO AUXILIAR DA NOTA FISCAL
PLANALTO S.A.                 DE ENERGIA ELETRICA ELETRONICA
SIA Trecho 4, Brasilia - DF
CNPJ {issuer}
MERCEARIA DO JOAO LTDA ME     NOTA FISCAL N 012.884.120 - SERIE 000
CNPJ: {customer}              DATA DE EMISSAO: 14/01/2026
{key}
Vencimento   Total a Pagar
28/01/2026   R$ 1.104,62
Tributo      Base de Calculo     Aliquota     Valor
PIS          838,21              0,8990       7,54
ICMS         1.047,76            20,00        209,55
"""


def test_an_energy_bill_lists_its_tax_and_its_customer() -> None:
    text = ENERGY.format(issuer=ISSUER, customer=CUSTOMER, key=_energy_key())
    receipt = _read(text)
    assert receipt.merchant_name is not None
    assert receipt.merchant_name.value == "ENERGIA DO PLANALTO S.A."
    assert receipt.tax is not None
    assert receipt.tax.value == Decimal("209.55")
    assert receipt.details.customer_tax_id is not None
    assert receipt.details.customer_tax_id.value == "".join(filter(str.isdigit, CUSTOMER))


SPLIT = """
        CANTINA DO NONNO
   RUA DAS LARANJEIRAS, 302 - RIO DE JANEIRO - RJ
FETTUCCINE AL RAGU            300,00
Acrescimo (Taxa Servico 10%)   30,00
TOTAL R$                      330,00
CARTAO CREDITO                165,00
CARTAO DEBITO                 165,00
30/01/2026 22:47:59
"""


def test_two_cards_with_half_of_the_total_each_are_two_payments() -> None:
    paid = _read(SPLIT).details.payments
    assert [(one.value.method, one.value.amount) for one in paid] == [
        (PaymentMethod.CREDIT_CARD, Decimal("165.00")),
        (PaymentMethod.DEBIT_CARD, Decimal("165.00")),
    ]


def test_portuguese_with_a_brazilian_state_is_paid_in_reais() -> None:
    currency = _read(SPLIT.replace("R$", "  ")).currency
    assert currency is not None
    assert currency.value == "BRL"


def test_a_time_has_the_seconds_that_are_printed_elsewhere() -> None:
    text = BRANCH.replace("le 15/08/2025 à 14h06", "Heure: 14:06:31\n\n\n\n15/08/2025 14:06")
    issued = _read(text).issued_at
    assert issued is not None
    assert issued.value.time == dt.time(14, 6, 31)


CODED = """
MODAS VILA NOVA LTDA
Item    Descricao            Qtd      Unit      Total
1044.22.M BLUSA TRICOT         1     99,90      99,90
2210.40 CALCA JEANS RETA       1    179,90     179,90
9001.UN MEIA SOQUETE           2     25,00      50,00
TOTAL R$                                       329,80
"""


def test_codes_before_all_names_are_no_part_of_them() -> None:
    assert [name for name, _ in _items(_read(CODED))] == [
        "BLUSA TRICOT",
        "CALCA JEANS RETA",
        "MEIA SOQUETE",
    ]


TITLED = """
       CASA DO PARAFUSO LTDA
   DANFE NFC-e Documento Auxiliar
    da Nota Fiscal Eletronica para
         Consumidor Final
    Nao permite aproveitamento de
          credito de ICMS
BROCA VIDEA 8MM             14,90
Valor Total R$              14,90
"""


def test_the_title_for_consumers_is_no_customer() -> None:
    assert _read(TITLED).details.customer_name is None


BILL = """
Brightwave                                     Bill date: 12 January 2026
Bill number: BW00771204
Service                          Period                    Cost (ex VAT)
Business Fibre 300               January                          £42.00
Digital line rental              January                          £24.00
VAT at 20%                                                        £13.20
Total to pay                                                      £79.20
"""


def test_a_price_without_quantities_is_the_amount() -> None:
    assert _items(_read(BILL)) == [
        ("Business Fibre 300", Decimal("42.00")),
        ("Digital line rental", Decimal("24.00")),
    ]


CUT_OFF = """
OAT BISCUITS                    2.49
RYE BREAD                       3.10
GREEN BEANS                     1.99
Balance to pay                  7.58
Visa Debit                      7.58
"""


def test_an_item_is_not_the_seller_of_a_receipt_whose_head_is_cut_off() -> None:
    read = _read(CUT_OFF, exact=False)
    assert read.merchant_name is None
    assert read.total is not None
    assert read.total.value == Decimal("7.58")


def test_a_street_is_not_the_seller() -> None:
    text = """
SOL%
CL TOLEDO, 22
FACTURA SIMPLIFICADA
30-06-2026 13:31
ACEITE                       2,99
TOTAL A PAGAR                2,99
"""
    name = _read(text, exact=False).merchant_name
    assert name is not None
    assert name.value == "SOL%"


def test_the_seller_may_be_next_to_the_total() -> None:
    text = """
Brightwave Ltd                      Total         79.20
14 Mill Lane, Leeds                 Due date      12/02/2026
Service                                           66.00
VAT 20%                                           13.20
Total                                             79.20
"""
    name = _read(text).merchant_name
    assert name is not None
    assert name.value == "Brightwave Ltd"


SHOP = """
Corner Store
12 High Street
Bagel                  3.50
Service Bell           2.25
Tip Top Bread          1.95
Coffee                 1.80
Total                  9.50
Cash                  10.00
"""


def test_items_called_like_a_charge_are_items() -> None:
    receipt = _read(SHOP)

    assert len(receipt.line_items) == 4
    assert receipt.details.service_charge is None
    assert receipt.details.tip is None


def test_a_charge_among_items_is_a_charge() -> None:
    receipt = _read(SHOP.replace("Service Bell", "Service charge 10%"))

    assert receipt.details.service_charge
    assert receipt.details.service_charge.value == Decimal("2.25")
