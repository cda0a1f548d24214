"""Values in boxes and columns next to those of others; each layout was invented for its test."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest

from recibo.extract import pipeline
from recibo.extract.model import Line, Receipt
from tests.extract.typesetting import cnpj, nfe_key, text_page

ISSUER, CUSTOMER = cnpj("287714090001"), cnpj("053321180002")


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


LETTERHEAD = """
                     TAX INVOICE
                                            Invoice No.         Dated
 Konkan Cashew Works
                                            KCW/26-27/118       4-Mar-26
 Plot 9, Udyog Nagar, Ratnagiri 415612
 GSTIN: 27AAEPB8820K1ZL                     Buyer's Order No.   Dated
                                            PO/771              25-Feb-26
 Buyer (Bill to)
 Sahyadri Sweets
 Description                                    Quantity     Rate      Amount
 Cashew kernels W320                               10.00   800.00    8,000.00
 Total                                                               8,000.00
"""


def test_number_and_date_are_below_their_labels_past_rows_of_another_column() -> None:
    receipt = _read(LETTERHEAD)

    assert receipt.document_number is not None
    assert receipt.document_number.value == "KCW/26-27/118"
    assert receipt.issued_at is not None
    assert receipt.issued_at.value.date == dt.date(2026, 3, 4)


def test_a_bracket_behind_the_label_of_the_customer_is_no_name() -> None:
    customer = _read(LETTERHEAD).details.customer_name

    assert customer is not None
    assert customer.value == "Sahyadri Sweets"


def test_a_title_in_another_column_does_not_hide_the_number_above_it() -> None:
    receipt = _read("""
 Torneria Bellavista S.r.l.
 Via Roma 4, 52025 Montevarchi (AR)          P.IVA 03881200459
 Tipo documento         Numero documento     Data documento
 FATTURA DIFFERITA      1044/26              31/10/2026
 Descrizione                                 Importo
 Lavorazione                                  1.407,00
 Totale imponibile    Imposta                     Totale documento
          1.407,00     309,54                             1.716,54
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == "1044/26"


BOXES = """
 Distribuidora Vale Verde S.A.
 Rua das Palmeiras, 10 - Natal - RN         CNPJ {issuer}
 Nota Fiscal de Energia Elétrica            Emissão: 09/08/2026
 Conta mês           Vencimento                    Total a pagar
      08/2026                     26/08/2026            R$ 236,48
"""


def test_a_due_date_is_centered_in_the_box_of_its_label() -> None:
    due = _read(BOXES.format(issuer=ISSUER)).details.due_date

    assert due is not None
    assert due.value == dt.date(2026, 8, 26)


NOTE = """
                    PREFEITURA MUNICIPAL DE ITAPEMA
                    NOTA FISCAL DE SERVIÇO ELETRÔNICA - NFS-e        Nº 15.604
 PRESTADOR DE SERVIÇO
 Razão social: Oficina Maré Alta Ltda
 CNPJ: {issuer}
 TOMADOR DO SERVIÇO
{customer}
 Rua José Müller, 52, Centro, Itapema - SC, CEP: 88220-000
 DISCRIMINAÇÃO DOS SERVIÇOS
 Revisão do motor
 Valor dos serviços R$ 515,00     Valor do ISS R$ 10,35     Valor líquido R$ 515,00
 Data de vencimento do ISSQN desta NFS-e: 10/08/2026
"""


@pytest.mark.parametrize(
    "customer",
    [
        f" Beatriz Nunes Cordeiro\n CNPJ: {CUSTOMER}",
        f" CNPJ: {CUSTOMER}   Inscrição Municipal: 118\n Beatriz Nunes Cordeiro",
    ],
)
def test_the_customer_of_a_service_note_needs_no_label(customer: str) -> None:
    name = _read(NOTE.format(issuer=ISSUER, customer=customer)).details.customer_name

    assert name is not None
    assert name.value == "Beatriz Nunes Cordeiro"


def test_the_day_on_which_the_seller_pays_its_tax_is_not_the_due_date() -> None:
    details = _read(NOTE.format(issuer=ISSUER, customer=f" Ana Reis\n CNPJ: {CUSTOMER}")).details

    assert details.due_date is None


WATER = """
 Serviço Autônomo de Água e Esgoto de Serra Azul
 CNPJ: {issuer}
 Conta de Água e Esgoto   Nº 000.004.112 Série 1   Emissão: 04/02/2026
 Usuário                          CNPJ/CPF               Ligação
 Clube Lagoa Dourada              {customer}     00118-7
 Serviço                                                 Total
 Tarifa de água                                         602,80
 Total a pagar                                          602,80
"""

TICKET = """
 Viação Serra Dourada S.A.
 CNPJ: {issuer}
 DABPE - Documento Auxiliar do Bilhete de Passagem Eletrônico
 Tarifa R$                                              189,00
 Valor a Pagar R$                                       189,00
 {key}
 PASSAGEIRO CPF: 390.533.447-05 - Maurício Reis Fontana
 BP-e nº 55102 Série 9 18/12/2025 14:01:27
"""


def test_users_and_passengers_are_customers() -> None:
    water = _read(WATER.format(issuer=ISSUER, customer=CUSTOMER)).details
    bare = "".join(filter(str.isalnum, ISSUER))
    key = nfe_key(f"352512{bare}63009000055102102178907")
    ticket = _read(TICKET.format(issuer=ISSUER, key=key)).details

    assert water.customer_name is not None
    assert water.customer_name.value == "Clube Lagoa Dourada"
    assert water.customer_tax_id is not None
    assert water.customer_tax_id.value == "".join(filter(str.isalnum, CUSTOMER))
    assert ticket.customer_name is not None
    assert ticket.customer_name.value == "Maurício Reis Fontana"


def test_the_model_before_the_series_is_not_the_number() -> None:
    receipt = _read(f"""
 Nítido Telecom S.A. - CNPJ {ISSUER}
 Nº da fatura: 2026070112233             Emissão: 08/07/2026
 Total da fatura                                         94,90
 NOTA FISCAL DE SERVIÇO DE TELECOMUNICAÇÕES - MODELO 22 - SÉRIE B1
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == "2026070112233"


LETTER = """
 {head}
 Gerberstr. 14, 04105 Leipzig

 {lines}

 Rechnung Nr. 2026-118                       Leipzig, 03.03.2026
 Bezeichnung                                         Betrag EUR
 Wartung                                                 100,00
 Summe netto                                             100,00
 {taxes}
 Wir danken für Ihren Auftrag.
 Zahlbar ohne Abzug.
 Volksbank Leipzig
"""


@pytest.mark.parametrize(
    "lines",
    [
        "Mairie de Chalmazel\n Le Bourg\n 42920 Chalmazel",
        "Mr and Mrs Pemberton\n The Old Forge\n Church Stretton\n SY6 6DB",
        "Rijwielhandel Jansen\n Dorpsstraat 4\n 3732 HH De Rijp",
        "Exmo.(s) Sr.(s)\n Hotel Douro Velho\n Quinta do Ribeiro, 22\n 5100-428 Lamego",
    ],
)
def test_the_window_of_a_letter_shows_the_customer_without_a_street_too(lines: str) -> None:
    head = "Elektro Brandt GmbH"
    text = LETTER.format(head=head, lines=lines, taxes="19 % MwSt. 19,00   Gesamt 119,00")
    expected = lines.split("\n")[1 if lines.startswith("Exmo") else 0].strip()

    customer = _read(text).details.customer_name

    assert customer is not None
    assert customer.value == expected


@pytest.mark.parametrize("row", ["Anzahlung", "Retefuente 2,5%", "Ritenuta d'acconto 20%"])
def test_an_advance_or_a_tax_withheld_is_no_discount(row: str) -> None:
    taxes = f"19 % MwSt.                 19,00\n {row}          -20,00\n Zu zahlen          99,00"
    text = LETTER.format(head="Elektro Brandt GmbH", lines="", taxes=taxes)
    receipt = _read(text)

    assert receipt.details.discount is None
    assert receipt.subtotal is not None
    assert receipt.subtotal.value == Decimal("100.00")


def test_an_argentine_invoice_names_its_customer_and_when_it_is_due() -> None:
    details = _read("""
 Software del Sur S.R.L.                 FACTURA   Comp. Nro: 00001188
 CUIT: 30712204482                       Fecha de Emisión: 16/09/2026
 Fecha de Vto. para el pago: 16/10/2026
 CUIT: 30688112075        Apellido y Nombre / Razón Social: Aceros Rosario S.A.
 Abono mensual                                        310000,00
 Importe Total: $                                     310000,00
 CAE N°: 74381122090455                  Fecha de Vto. de CAE: 26/09/2026
""").details

    assert details.customer_name is not None
    assert details.customer_name.value == "Aceros Rosario S.A."
    assert details.due_date is not None
    assert details.due_date.value == dt.date(2026, 10, 16)


AGENCY = """
 Marlow & Finch Creative
 INVOICE                                    77 Beacon St Floor 3
                                            Boston, MA 02108
 BILL TO                      INVOICE #     DATE          DUE DATE
 Harborview Seafood           MF-2291       06/30/2026    07/30/2026
 Activity                                                     Amount
 Brand workshop                                             1,800.00
 TOTAL                                                     $1,800.00
"""


def test_labels_end_with_their_column() -> None:
    """`INVOICE #   DATE` has no invoice date, `DATE   DUE DATE` no date due."""
    receipt = _read(AGENCY)

    assert receipt.document_number is not None
    assert receipt.document_number.value == "MF-2291"
    assert receipt.details.due_date is not None
    assert receipt.details.due_date.value == dt.date(2026, 7, 30)


def test_a_form_of_address_of_several_persons_is_no_name() -> None:
    lines = "The Directors\n Corbridge Glazing\n Unit 3 Tyne Mills\n Hexham\n NE46 1XL"
    taxes = "19 % MwSt. 19,00   Gesamt 119,00"
    text = LETTER.format(head="Elektro Brandt GmbH", lines=lines, taxes=taxes)

    customer = _read(text).details.customer_name

    assert customer is not None
    assert customer.value == "Corbridge Glazing"


BILL = """
 Companhia Serrana de Gás S.A.
 CNPJ {issuer}
 NOTA FISCAL FATURA DE GÁS     Número 004.551.882 Série B    Emissão 14/11/2026

 Elisa Montenegro Dias          Código do usuário      Mês de referência
 Rua Caetés 1020 Ap 64          11882204               11/2026
 05016-081 São Paulo SP
 CPF 390.533.447-05
 Descrição                    Qtd     Valor unit.     Valor total
 Consumo de gás                 1           68,53           68,53
 Assistência                    1            5,13            5,13
                                  Valor total da nota       73,66
 Atendimento 0800 031 2200
 Leitura realizada em 12/11/2026
"""


def test_the_code_of_a_user_is_not_the_customer_and_a_column_not_the_total() -> None:
    receipt = _read(BILL.format(issuer=ISSUER))

    assert receipt.total is not None
    assert receipt.total.value == Decimal("73.66")
    assert receipt.details.customer_name is not None
    assert receipt.details.customer_name.value == "Elisa Montenegro Dias"
    assert receipt.details.customer_tax_id is not None
    assert receipt.details.customer_tax_id.value == "39053344705"


def test_the_day_of_a_direct_debit_is_the_due_date_and_a_number_may_have_groups() -> None:
    receipt = _read("""
 Opaline Mobile SA
 Facture n° 2026 03 8812044
 du 5 mars 2026
 Forfait 130 Go                                        19,99 €
 Total TTC à payer                                     19,99 €
 Montant prélevé le 17/03/2026 sur votre compte.
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == "2026 03 8812044"
    assert receipt.details.due_date is not None
    assert receipt.details.due_date.value == dt.date(2026, 3, 17)


def test_a_number_in_the_column_after_its_label_is_no_street() -> None:
    receipt = _read("""
 Kettner Hosting AG
 Uferweg 40, 63571 Gelnhausen
 Rechnungsnr.      30064443       Kundennr.      47774
 Rechnungsdatum    7. Mai 2026
 Grundgebühr                                      19,99
 Gesamtbetrag                                     19,99
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == "30064443"


def test_the_rest_of_an_address_below_its_street_is_no_customer() -> None:
    lines = "Polyhose India -Unit4\n 1/160, Kannivakkam\n Via Guduvancherry\n 603202 Tamil Nadu"
    taxes = "19 % MwSt. 19,00   Gesamt 119,00"
    text = LETTER.format(head="Elektro Brandt GmbH", lines=lines, taxes=taxes)

    assert _read(text).details.customer_name is None


def _items(receipt: Receipt) -> list[tuple[str, Decimal | None]]:
    return [(item.value.name, item.value.total) for item in receipt.line_items]


def test_the_tax_of_a_list_is_read_next_to_another_table() -> None:
    receipt = _read(f"""
 Luz do Vale S.A. - CNPJ {ISSUER}
 Conta de Energia Elétrica   Nº 7712055 Série 1   Emissão: 09/08/2026
 Total a pagar R$ 236,48
 Tributo     Base R$    Alíquota    Valor R$     Leitura    Anterior   Atual    kWh
 ICMS         216,15     18,00%       38,90      Energia    10/07      09/08    234
 COFINS       177,25      3,78%        6,70
""")

    assert receipt.tax is not None
    assert receipt.tax.value == Decimal("38.90")


def test_a_number_below_a_title_has_a_sign_and_a_prefix() -> None:
    receipt = _read("""
 Papeles Andinos S.A.S.
 NIT 900.811.204-0
 Señores: Colegio Los Cerezos Ltda         Factura electrónica de venta
 NIT: 860044120-5                          No. SETP 990001287
 Total a pagar                             $ 1.286.393,00
""")

    assert receipt.document_number is not None
    assert receipt.document_number.value == "990001287"


def test_services_of_a_note_need_neither_quantity_nor_price() -> None:
    services = """
 Código  Descrição do serviço        Sit. Trib.  Alíq. %  Base Cálc.   ISSQN     Total
 8.01    Mensalidade, junho          TI             2,01      420,00    8,44    420,00
 8.02    Material didático           TI             2,01       95,00    1,91     95,00
 Valor total da nota R$ 515,00"""
    note = NOTE.replace("\n DISCRIMINAÇÃO DOS SERVIÇOS\n Revisão do motor", services)
    receipt = _read(note.format(issuer=ISSUER, customer=f" Ana Reis\n CNPJ: {CUSTOMER}"))

    assert _items(receipt) == [
        ("Mensalidade, junho", Decimal("420.00")),
        ("Material didático", Decimal("95.00")),
    ]


def test_services_and_their_values_are_a_table() -> None:
    receipt = _read(f"""
 Nítido Telecom S.A. - CNPJ {ISSUER}
 NOTA FISCAL DE SERVIÇO DE TELECOMUNICAÇÕES     Nº 118.203   Emissão: 08/07/2026
 Ana Lima                               Vencimento     Valor a pagar
 Méier                                  25/07/2026         R$ 94,90
 Serviços                                            Valor R$
 Pós 50GB - linha (21) 98800-1122                       89,90
 Clube de Leitura                                        5,00
 Total da fatura                                        94,90
""")

    assert _items(receipt) == [
        ("Pós 50GB - linha (21) 98800-1122", Decimal("89.90")),
        ("Clube de Leitura", Decimal("5.00")),
    ]


@pytest.mark.parametrize("title", ["請求書", "領収書"])
def test_a_large_japanese_title_is_not_the_seller(title: str) -> None:
    page = text_page(f"""

                           {title}
 株式会社みなと商事 御中                     番号: INV-2026-0318
                                           発行日: 2026年3月31日
 ご請求金額  ¥132,000 (税込)
 品名                          数量        単価         金額
 ロゴデザイン制作                1       120,000      120,000
 消費税 (10%)                                          12,000
 合計                                                ¥132,000
""")
    first, *others = page.lines
    box = replace(first.box, y0=first.box.y0 - 2 * first.box.height)
    tall = Line(tuple(replace(word, box=box) for word in first.words), box)
    receipt = pipeline.understand([[replace(page, lines=(tall, *others))]])

    assert receipt.merchant_name is None or receipt.merchant_name.value != title


@pytest.mark.parametrize(
    "row",
    ["Receipt No:        004512 Cashier Ana", "Invoice No         10045 Page 1"],
)
def test_words_behind_a_number_far_from_its_label_are_no_street(row: str) -> None:
    number = _read(f" CORNER SHOP\n {row}\n Tea      4.50\n Total    4.50\n").document_number

    assert number is not None
    assert number.value in row
    assert number.value.isdigit()


@pytest.mark.parametrize(
    "row", ["Payment due on or before 12 May 2024", "Payment due: until 12 May 2024"]
)
def test_words_of_other_dates_may_be_between_a_due_date_and_its_label(row: str) -> None:
    invoice = f" Kettner Ltd\n Invoice 4471\n Date: 12 April 2024\n {row}\n Total    4.50\n"
    due = _read(invoice).details.due_date

    assert due is not None
    assert due.value == dt.date(2024, 5, 12)


def test_a_discount_for_a_payment_in_advance_is_a_discount() -> None:
    receipt = _read("""
 CORNER SHOP
 Subtotal                          100.00
 Advance payment discount          -10.00
 Total                              90.00
""")

    assert receipt.details.discount is not None
    assert receipt.details.discount.value == Decimal(10)


def test_the_name_of_a_passenger_is_not_what_follows_the_tax_id() -> None:
    receipt = _read(f"""
 Viação Serra Azul Ltda - CNPJ {ISSUER}
 Bilhete de Passagem Eletrônico  Nº 7712 Série 1  Emissão: 09/08/2026
 Passageiro: Elisa Montenegro Dias   CPF: 390.533.447-05   Poltrona: 12 Janela
 Tarifa                                            80,00
 Valor total do bilhete                            80,00
""")

    assert receipt.details.customer_name is not None
    assert receipt.details.customer_name.value == "Elisa Montenegro Dias"
