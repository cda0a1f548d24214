"""Customers, numbers, credits and charges as invoices of many firms print them."""

from dataclasses import replace
from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.model import Extracted, Receipt, TextPage, around
from tests.extract.typesetting import text_page

INVOICE = """
Larkmoor Supplies Ltd                        Invoice no. 20417
Unit 4 Tanner Row, Leeds LS2 7AB             Date 12/03/2026
VAT No GB 337 9012 55  Tel 0113 496 0000

{customer}

Description                         Qty      Price      Amount
Copper pipe 15mm                      4      12.50       50.00
Radiator valve                        2      20.00       40.00
Total                                                    90.00
"""
TABLE = """
Brightwell Energy Supply Ltd                       Bill date 05/02/2026
Ferry Wharf, Bristol BS1 4RN

{rows}
VAT at 5%                                                          8.73
{label}                                                          {total}
"""


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


def _value(found: Extracted[str] | None) -> str | None:
    return found.value if found else None


def _customer(block: str) -> str | None:
    return _value(_read(INVOICE.format(customer=block)).details.customer_name)


def _number(title: str) -> str | None:
    text = f"""
Larkmoor Supplies Ltd
Unit 4 Tanner Row, Leeds LS2 7AB
{title}
Copper pipe                     50.00
Valve                           40.00
Total                           90.00
"""
    return _value(_read(text).document_number)


def _items(receipt: Receipt) -> list[tuple[str | None, Decimal | None, Decimal | None]]:
    return [(item.value.name, item.value.qty, item.value.total) for item in receipt.line_items]


@pytest.mark.parametrize(
    "label",
    [
        *("Invoice / deliver to", "Customer / Vehicle", "Account holder", "Hóspede", "Passageiro"),
        *("Faktureres til", "Factuur voor", "Nabywca / Odbiorca", "Cliente (cód. 00418)"),
    ],
)
def test_the_customer_is_below_a_label_of_one_or_two_words(label: str) -> None:
    assert _customer(f"{label}\nThe Oat Shed\n41 North Street\nBristol BS3 1EN") == "The Oat Shed"


def test_a_department_is_not_the_customer() -> None:
    block = "Facturé à\nÉditions du Lac SARL\nService comptabilité\n7 place Broglie\n67000 Colmar"

    assert _customer(block) == "Éditions du Lac SARL"


def test_the_heading_of_a_column_is_no_label_of_the_customer() -> None:
    block = """Passenger name     WALSH/SIOBHAN MS

Flight    From          To            Departure    Class
NA 0117   Dublin        Boston        21 Nov       Y"""

    assert _customer(block) == "WALSH/SIOBHAN MS"


def test_a_title_just_above_the_customer_is_not_part_of_the_block() -> None:
    block = (
        "DOCUMENTO AUXILIAR DA NOTA FISCAL\nJuliana Beck\nRua das Gaivotas, 417\n88058-500 Lages"
    )

    assert _customer(block) == "Juliana Beck"


def test_the_tax_number_with_the_sellers_registration_in_it_is_not_the_customers() -> None:
    text = """
Norrviken El & Larm AB                                  Faktura
Org.nr 559184-2074

                                         Brf Björkudden
                                         Strandvägen 14
                                         192 71 Sollentuna
Beskrivning                Antal      Belopp
Porttelefon                    1      800,00
Att betala                          1 000,00

Norrviken El & Larm AB   Momsreg.nr SE559184207401
"""
    assert _value(_read(text).details.customer_tax_id) is None


def test_the_sum_of_the_payments_below_the_total_is_no_subtotal() -> None:
    text = """
LIVRARIA CORUJA LTDA
CNPJ: 11.222.333/0001-81
CUPOM FISCAL
001 CADERNO UNIVERSITARIO       74,30
002 LIVRO                       39,90
TOTAL R$                       114,20
Dinheiro                       120,00
SOMA R$                        120,00
TROCO R$                         5,80
"""
    assert _read(text).subtotal is None


def test_a_name_may_end_at_the_right_edge_of_its_label() -> None:
    block = f"{'Bill to':>63}\n{'Foxglove Events LLC':>63}\n{'Portland OR 97211':>63}"

    assert _customer(block) == "Foxglove Events LLC"


@pytest.mark.parametrize(
    "sentence",
    [
        "Recebemos de PAULO SALGADO a importância de R$ 90,00",
        "Recibí de PAULO SALGADO la cantidad de 90,00",
        "Received from PAULO SALGADO",
        "Naam: PAULO SALGADO Datum: 24-9-2026",
        "Named insured: PAULO SALGADO",
        "PAGADOR\nPAULO SALGADO - CPF 187.720.441-28\nRua Sete de Abril 418, Niterói/RJ 24020-000",
    ],
)
def test_the_name_of_who_paid_ends_before_the_rest_of_the_sentence(sentence: str) -> None:
    assert _customer(sentence) == "PAULO SALGADO"


@pytest.mark.parametrize(
    ("block", "name"),
    [
        ("Ms. Priya Raman\nRoom 308", "Ms. Priya Raman"),
        ("Hotel Tayrona Real\nNIT 800.441.207-1", "Hotel Tayrona Real"),
        ("Thank you for your order\nof 10 March", None),
    ],
)
def test_a_customer_without_a_label_has_a_form_of_address_or_a_tax_number(
    block: str, name: str | None
) -> None:
    assert _customer(block) == name


@pytest.mark.parametrize(
    ("title", "number"),
    [
        ("Ticket number: 731 2204418803", "731 2204418803"),
        ("Fatura FT A/1188", "FT A/1188"),
        ("Fatura Simplificada FS 24A/10922", "FS 24A/10922"),
        ("Fatura-Recibo n.º 2026A/214", "2026A/214"),
        ("Faktura VAT FV/112/09/2026", "FV/112/09/2026"),
        ("Rechnungskorrektur GS-00418", "GS-00418"),
        ("INVOICE NO INV0048812", "INV0048812"),
        ("Kreditnotanr. 90217\nGjelder faktura 55108", "90217"),
    ],
)
def test_a_number_has_its_series_and_is_not_that_of_another_document(
    title: str, number: str
) -> None:
    assert _number(title) == number


def test_a_credit_note_is_negative_and_keeps_printed_signs() -> None:
    receipt = _read("""
VERNEBUA AS                                     Kreditnota
Strandgata 88, 2317 Hamar                       Dato 18.03.2026

Varenavn                      Antall Enhetspris    Beløp
Arbeidsbukse str. 52              -2    899,00   -1 798,00
Vernesko S3                       -1  1 349,00   -1 349,00
Sum eks. mva                                     -3 147,00
Mva 25 %                                           -786,75
Til gode NOK                                     -3 933,75
""")

    assert receipt.total is not None
    assert receipt.total.value == Decimal("-3933.75")
    assert _items(receipt) == [
        ("Arbeidsbukse str. 52", Decimal(-2), Decimal("-1798.00")),
        ("Vernesko S3", Decimal(-1), Decimal("-1349.00")),
    ]


@pytest.mark.parametrize("label", ["Soma das tarifas", "Energy before tax"])
def test_charges_are_found_by_the_amount_below_that_is_their_sum(label: str) -> None:
    rows = f"""
Energy used                                                      102.42
Standing charge                                                   19.11
Green tariff                                                      53.02
          {label}                                                174.55
""".strip("\n")
    receipt = _read(TABLE.format(rows=rows, label="Total", total="183.28"))

    assert [name for name, _, _ in _items(receipt)] == [
        "Energy used",
        "Standing charge",
        "Green tariff",
    ]


def test_amounts_of_a_slanted_page_belong_to_the_names_above_them() -> None:
    page = _slanted(
        text_page("""
TAVERNA THALASSINOS
AKTI KOUNTOURIOTI 22, CHANIA
AFM: 998104424
APODEIXI No 004127
TRAPEZI 11
26/11/2026 21:40
CHORIATIKI SALATA
                      1 x 9,50          9,50
OCHTAPODI SCHARAS
                      2 x 14,00        28,00
OUZO 200ML
                      1 x 8,00          8,00
SYNOLO                                 45,50
"""),
        slope=0.13,
    )

    receipt = pipeline.understand([[page]])

    assert [(name, str(total)) for name, _, total in _items(receipt)] == [
        ("CHORIATIKI SALATA", "9.50"),
        ("OCHTAPODI SCHARAS", "28.00"),
        ("OUZO 200ML", "8.00"),
    ]


def _slanted(page: TextPage, slope: float) -> TextPage:
    """Return a page whose rows fall to the right, by so many pixels per pixel."""
    lines = []
    for line in page.lines:
        words = tuple(
            replace(
                word,
                slope=slope,
                box=replace(
                    word.box,
                    y0=word.box.y0 + slope * word.box.x_center,
                    y1=word.box.y1 + slope * word.box.x_center,
                ),
            )
            for word in line.words
        )
        lines.append(replace(line, words=words, box=around([word.box for word in words])))
    return replace(page, lines=tuple(lines))


@pytest.mark.parametrize(
    ("row", "is_indian"), [("TRAN 0091-2287 09/27/2026", False), ("Tel 0091 22 2345 6789", True)]
)
def test_only_a_whole_telephone_number_shows_a_country(row: str, *, is_indian: bool) -> None:
    receipt = _read(f"""
INK & CARD
1180 Elm St
{row}
FOUNTAIN INK                   48.00
REFILL                         14.50
TOTAL                          62.50
""")

    assert (_value(receipt.currency) == "INR") is is_indian


def _taxed(rows: str, *, head: str = "12 High Street, Bristol BS1 4RN") -> Receipt:
    return _read(f"""
Corner Shop
{head}
12/05/2025 10:22
{rows}
""")


def test_one_row_lists_the_taxes_of_several_rates() -> None:
    receipt = _taxed("""
CREMA HIDRAT 400ML                 16,90
TERMOMETRO DIGITAL                  7,80
SUERO FISIOLOGICO                  12,40
TOTAL EUROS                        37,10
TARJETA                            37,10
IVA incluido: 4% 0,48 21% 4,29
""")

    assert receipt.tax
    assert receipt.tax.value == Decimal("4.77")
    taxes = {line.value.rate: line.value.amount for line in receipt.details.taxes}
    assert taxes == {Decimal(4): Decimal("0.48"), Decimal(21): Decimal("4.29")}


def test_the_tax_is_the_sum_of_different_taxes_if_no_sum_is_printed() -> None:
    receipt = _taxed(
        head="Av Juarez 118, 06010 Ciudad de Mexico  RFC SES010203AB1",
        rows="""
REFRESCO COLA 600ML                57.00
PAN DULCE SURTIDO                  50.00
JAMON PAVO 250G                   236.90
TOTAL M.N.                      $ 343.90
EFECTIVO                        $ 500.00
CAMBIO                          $ 156.10
IVA 16% $ 18.21      IEPS 8% $ 3.70
""",
    )

    assert receipt.tax
    assert receipt.tax.value == Decimal("21.91")


def test_a_tax_that_is_the_sum_of_the_others_stays() -> None:
    receipt = _taxed("""
Soup                                40.00
Roast                               60.00
VAT 5%                               2.00
VAT 20%                             12.00
Total VAT                           14.00
TOTAL                              114.00
""")

    assert receipt.tax
    assert receipt.tax.value == Decimal("14.00")


def test_the_amount_below_a_heading_is_no_tax_if_another_one_has_a_label() -> None:
    receipt = _taxed("""
DESCRIZIONE                 IVA    Prezzo
4 x 2,50
Coperto                     10%     10,00
2 x 13,00
Cacio e pepe                10%     26,00
Saltimbocca                 10%     74,00
TOTALE COMPLESSIVO                 110,00
di cui IVA                          10,00
Pagamento elettronico              110,00
""")

    assert receipt.tax
    assert receipt.tax.value == Decimal("10.00")


@pytest.mark.parametrize(("ride", "charge"), [("20.35", "2.00"), ("8.00", "14.35")])
def test_a_service_charge_is_not_most_of_the_total(ride: str, charge: str) -> None:
    receipt = _read(f"""
Harbor Cars
Ride downtown                   {ride}
Subtotal                        {ride}
Service charge                  {charge}
Total                           22.35
""")

    found = receipt.details.service_charge
    assert (found is not None) is (charge == "2.00")


def test_a_discount_may_name_its_own_amount() -> None:
    receipt = _read("""
Third Rail Coffee Bar
Oat Milk Latte                   $6.25
Cold Brew Growler               $19.00
Loyalty reward: $3 off          -$3.00
Subtotal                        $22.25
Sales Tax 8%                     $1.78
Total                           $24.03
""")

    assert receipt.details.discount is not None
    assert receipt.details.discount.value == Decimal("3.00")


LETTER = """
onda Telecomunicações S.A.                                     CNPJ 07.660.418/0001-74
Av. Rio Branco 418 - Centro - Rio de Janeiro/RJ - CEP 20090-003

{opening}
CLAUDIA REGINA FONTES                              Vencimento            Total a pagar
CPF 111.444.777-35                                 20/05/2026               R$ 104,59
Rua Barão de Mesquita, 2207 - Tijuca
20540-156 - Rio de Janeiro - RJ

Plano Celular 25GB                                                           104,59
TOTAL                                                                        104,59
"""


def test_who_is_greeted_in_a_letter_is_the_customer() -> None:
    details = _read(LETTER.format(opening="Olá,")).details

    assert _value(details.customer_name) == "CLAUDIA REGINA FONTES"
    assert _value(details.customer_tax_id) == "11144477735"


def test_who_paid_is_named_up_to_the_number_behind_the_name() -> None:
    details = _read("""
IMOBILIÁRIA PONTAL LTDA.                     CNPJ 07.660.418/0001-74
RECIBO DE ALUGUEL Nº 04418/2026
Recebemos do(a) Sr(a). MARCOS VINÍCIUS PAMPLONA, CPF nº 111.444.777-35, a importância de R$ 850,00
Aluguel 05/2026                              850,00
Total                                        850,00
""").details

    assert _value(details.customer_name) == "MARCOS VINÍCIUS PAMPLONA"


def test_a_firm_with_a_person_below_it_is_named_although_both_may_be_the_name() -> None:
    details = _read("""
Faktura – daňový doklad č. 2260118
Dodavatel                                    Odběratel
Penzion U Tří kavek s.r.o.                   Stavební projekce Olomouc a.s.
Horní náměstí 41                             Ing. Petr Hanák
381 01 Český Krumlov                         Tovární 22
DIČ: CZ27188426                              779 00 Olomouc
Snídaně                   6        200,00                1 200,00
Celkem k úhradě                                          1 200,00 Kč
""").details

    assert _value(details.customer_name) == "Stavební projekce Olomouc a.s."


def test_a_discount_is_named_in_its_own_column() -> None:
    receipt = pipeline.understand(
        [
            [
                text_page("""
Climas del Bajio S.A. de C.V.                                     FACTURA 3391
RFC: CRB140522KJ6                                        Fecha: 2025-05-06 13:22
Mantenimiento preventivo                                       $2,550.00
Gas refrigerante R410A                                           $840.00
Importe con letra: TRES MIL PESOS 40/100        Subtotal       $3,390.00
Forma de pago: 03 Transferencia electronica de fondos bancarios        Descuento        $150.00
Moneda: MXN Peso Mexicano                       IVA 16%          $518.40
                                                Total          $3,758.40
""")
            ]
        ]
    )

    discount = receipt.details.discount
    assert Decimal("150.00") == (discount and discount.value)


def test_a_sum_with_its_tax_below_the_items_is_no_item() -> None:
    receipt = pipeline.understand(
        [
            [
                text_page("""
Muebles Cantal, S.L.                                    NIF B47103882
FACTURA RECTIFICATIVA (ABONO)
Número: R-2025/044
Fecha: 2 de diciembre de 2025
Ref.      Concepto                      Uds.      Precio      Importe
SI-OSL    Silla Oslo roble                -2       89,00      -178,00
PORT      Portes de envío                 -1       15,00       -15,00
Base imponible      % IVA      Cuota IVA      Total
-193,00 €             21       -40,53 €       -233,53 €
Inscrita en el Registro Mercantil de Valladolid, tomo 0000, folio 00, hoja VA-00000.
""")
            ]
        ]
    )

    assert ["-178.00", "-15.00"] == [f"{one.value.total}" for one in receipt.line_items]
    number = receipt.document_number
    assert "R-2025/044" == (number and number.value)
