"""Words that are no names or amounts: greetings, trades, headings, dots, blanks, days."""

from decimal import Decimal

from recibo.extract import pipeline
from recibo.extract.model import Receipt
from tests.extract.typesetting import text_page


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


def _merchant(text: str) -> str | None:
    found = _read(text).merchant_name
    return found.value if found else None


def _customer(text: str) -> str | None:
    found = _read(text).details.customer_name
    return found.value if found else None


def test_what_is_sold_is_not_the_name_of_the_shop() -> None:
    assert (
        _merchant("""
Au Grain de Folie
Boulangerie - Pâtisserie - Salon de thé
SARL Pétrin & Cie
12 place du Lavoir 35999 Bréville
Kouign-amann                3,90€
Tarte citron                5,20€
TOTAL TTC                   9,10€
""")
        == "Au Grain de Folie"
    )


def test_a_greeting_is_not_the_seller() -> None:
    assert (
        _merchant("""
          Obrigado pela viagem, Célio
sáb., 13 de set. de 2025 · 21:38
Total                    R$ 34,62
Preço base               R$ 6,00
Distância                R$ 28,62
Motorista: Josenildo
""")
        is None
    )


def test_an_amount_written_on_a_blank_has_the_currency_in_front_of_it() -> None:
    receipt = _read("""
RECIBO DE TÁXI            N° 03317
Recebi de Otávio Linhares
a importância de R$_ 58,50 referente a corrida de táxi
de Aeroporto para Hotel Sereia
""")

    assert receipt.merchant_name is None
    assert receipt.total is not None
    assert (receipt.total.value, receipt.currency and receipt.currency.value) == (
        Decimal("58.50"),
        "BRL",
    )


def test_dots_lead_from_a_name_to_its_amount() -> None:
    receipt = _read("""
PARE E SIGA ESTAC. LTDA
CNPJ 19.077.221/0006-09
ESTADIA ...........R$ 24,00
SEGURO VEICULO ....R$ 3,00
TOTAL PAGO R$ 27,00
Forma: DEBITO ELO fim 0917
""")

    assert [item.value.name for item in receipt.line_items] == ["ESTADIA", "SEGURO VEICULO"]
    assert [one.value.last4 for one in receipt.details.payments] == ["0917"]


def test_a_service_charge_with_its_rate_is_no_tax() -> None:
    receipt = _read("""
BRASA CHURRASCARIA LTDA
CNPJ: 08.441.773/0001-15
RODIZIO ADULTO      3 X 100,00      300,00
SUCO JARRA          4 X  25,00      100,00
Valor dos produtos R$               400,00
Outras despesas (taxa serv. 10%) R$  40,00
Valor Total R$                      440,00
""")

    assert receipt.details.service_charge is not None
    assert receipt.details.service_charge.value == Decimal("40.00")
    assert receipt.tax is None


def test_a_word_of_an_item_is_no_rounding() -> None:
    receipt = _read("""
Isobel Trathwick
Invoice                          IT/25/061
What                             Days    Rate £       Net £
Cereal carton artwork             6.5    340.00    2,210.00
Second round of amends            0.5    340.00      170.00
Net                                                2,380.00
VAT at 20%                                           476.00
Please pay £2,856.00
""")

    assert receipt.details.rounding is None


def test_a_number_in_the_row_of_a_charge_is_not_that_of_the_invoice() -> None:
    receipt = _read("""
HOTEL ZUM SILBERNEN REIHER
Frau                                Rechnungs-Nr.      R-2025/04418
Rechnung                            11.08.2025 09:52
Datum    Leistung                            Menge    Einzel    Belastung
08.08.   Übernachtung DZ Seeblick                1    124,00       124,00
09.08.   Restaurant Reiherstube Beleg 3318       1     47,80        47,80
Summe                                                              171,80
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == "R-2025/04418"


def test_a_sum_says_where_payments_begin_if_no_row_is_called_total() -> None:
    receipt = _read("""
SRI VINAYAKA TIFFIN HOUSE
Bill No: A-5582      Dt: 28-Jan-2025
Masala Dosa            2   95.00   190.00
Filter Coffee          3   35.00   105.00
NET AMOUNT Rs.                     295.00
Paid by: UPI Ref 502814771209
""")

    assert [one.value.amount for one in receipt.details.payments] == [Decimal("295.00")]


def test_a_heading_of_items_is_not_the_customer() -> None:
    assert (
        _customer("""
PADARIA TRIGO DE OURO LTDA
CNPJ 51.077.284/0001-55
CUPOM FISCAL ELETRONICO - SAT
CPF/CNPJ do Consumidor: 302.194.408-67
Razao Social/Nome:
#ICODIDESCIQTDIUNIVL UN R$I(VL TR R$)*IVL
ITEM R$
001 000412 PUDIM FATIA
1 UN X 11,00 (1,77)            11,00
TOTAL R$                       11,00
""")
        is None
    )


def test_a_passenger_above_the_headings_of_flights() -> None:
    assert (
        _customer("""
NORRSKEN AIR                   E-ticket receipt & itinerary
Booking reference              E-ticket number        Issued
Q4ZTM8                         999-2204417730         19 MAR 2025 21:06
Passenger                      Frequent flyer
HALVORSEN/SIGNE MRS            NS 4471 0092
Flight      From              To               Date      Dep      Arr     Class
NS 418      Stockholm (ARN)   Kiruna (KRN)     28 MAR    07:15    08:50   Q Light
Fare                                              SEK 1 486,00
Total paid                                        SEK 1 486,00
""")
        == "HALVORSEN/SIGNE MRS"
    )


def test_a_customer_above_a_masked_number_is_not_the_seller_by_its_longer_name() -> None:
    assert (
        _customer("""
VALE VERDE ENERGIA                      NOTA FISCAL Nº 015.880.417
Companhia Energética Vale Verde S.A.    CNPJ 06.821.493/0001-07
Rua das Usinas, 1 - Bagé do Norte - RS
96400-970 Bagé do Norte RS

ODILON BARRETO SEIXAS
CPF: 402.***.***-89
RUA DO SALSO 1448 - INTERIOR
96400-970 BAGÉ DO NORTE RS

Consumo em kWh - Fio               287     0,44210        126,88
Consumo em kWh - Tar               287     0,36515        104,80
TOTAL A PAGAR R$                                          231,68
""")
        == "ODILON BARRETO SEIXAS"
    )
