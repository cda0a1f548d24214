"""The parties and the due date of whole documents."""

import datetime as dt
import re

import pytest

from recibo.extract import pipeline
from recibo.extract.model import Details, Receipt
from tests.extract.typesetting import cnpj, nfe_key, text_page

SELLER, BUYER = cnpj("112223330001"), cnpj("445556660001")

MALAYSIAN = """
        KEDAI AMAN SDN BHD
           (123456-A)
     NO 12, JALAN MAWAR 3/5,
         TAMAN MELATI,
     53100 KUALA LUMPUR
  TEL: 03-4107 1234 FAX: 03-4107 1235
      GST ID: 000123456789
          TAX INVOICE
Date: 12/03/2018 14:20
Nasi Lemak                 8.50
Teh Tarik                  2.80
Total                     11.30
"""
GERMAN = """
      Bäckerei Sonnenschein
      Lindenstraße 12
      50674 Köln
      Tel. 0221 123456
Brot                       3,20 A
Brezel                     0,80 A
Summe EUR                  4,00
MwSt 7%                    0,26
03.02.2024  08:15
"""
AMERICAN = """
           Corner Diner
        250 N Coast Hwy 101
        Encinitas, CA 92024
          (760) 555-0110
Server: Ann        Table 6
Soup                     $7.00
Pie                      $5.00
Total                   $12.00
09/28/2023 7:50 PM
"""
INVOICE = """
Sunrise Trading Ltd
14 Mill Lane
Oxford OX1 2AB
VAT No: GB 123 4567 82

INVOICE                                Invoice No: 1042
Invoice Date: 02 May 2024
Due Date: 01 June 2024

Bill to:
Harbour Books Limited
7 Quay Street
Bristol BS1 4DJ

Description             Qty     Price      Number
Paper                     2     10.00       20.00
Ink                       1     30.00       30.00
Subtotal                                    50.00
VAT 20%                                     10.00
Total                                      £60.00
"""


def read(text: str, *, exact: bool = True) -> Receipt:
    return pipeline.understand([[text_page(text, exact=exact)]])


def spelled(details: Details) -> dict[str, str | None]:
    found = {
        "address": details.merchant_address,
        "name": details.customer_name,
        "tax_id": details.customer_tax_id,
    }
    return {field: None if one is None else one.value for field, one in found.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MALAYSIAN, "NO 12, JALAN MAWAR 3/5, TAMAN MELATI, 53100 KUALA LUMPUR"),
        (GERMAN, "Lindenstraße 12, 50674 Köln"),
        (GERMAN.replace(" 50674", ",50674"), "Lindenstraße 12, 50674 Köln"),
        # With a telephone number; its label may be misread.
        (GERMAN.replace("12", "12 Tel. 0221 4455667", 1), "Lindenstraße 12, 50674 Köln"),
        (
            "HARBOUR MARKET\nLEVEL 2, 18 KINGS ROAD, NEWTOWN\nFH: 09-3141592\nMilk  4.20",
            "LEVEL 2, 18 KINGS ROAD, NEWTOWN",
        ),
        (AMERICAN, "250 N Coast Hwy 101, Encinitas, CA 92024"),
        (INVOICE, "14 Mill Lane, Oxford OX1 2AB"),
    ],
)
def test_the_address_is_on_one_line(text: str, expected: str) -> None:
    assert expected == spelled(read(text).details)["address"]


def test_the_address_keeps_its_evidence() -> None:
    found = read(GERMAN).details.merchant_address

    assert found is not None
    assert found.text == "Lindenstraße 12\n50674 Köln"
    assert found.page == 1
    assert found.box is not None
    assert found.box.height > text_page(GERMAN).lines[1].box.height
    assert 0.5 < found.confidence <= 1


def test_a_receipt_without_address_or_customer_has_none() -> None:
    details = read("CORNER SHOP\nMilk   1.20\nBread  2.30\nTotal  3.50\n12/03/2024 10:15").details

    assert spelled(details) == {"address": None, "name": None, "tax_id": None}
    assert details.due_date is None


def test_the_customer_and_the_due_date_of_an_invoice_are_read() -> None:
    details = read(INVOICE).details

    assert spelled(details)["name"] == "Harbour Books Limited"
    assert details.due_date is not None
    assert details.due_date.value == dt.date(2024, 6, 1)


@pytest.mark.parametrize(
    ("label", "day"),
    [
        ("Zahlbar bis 15.03.2024", dt.date(2024, 3, 15)),
        ("Zahlbar innerhalb von 14 Tagen ohne Abzug (bis 15.03.2024).", dt.date(2024, 3, 15)),
        ("Fällig am: 15.03.2024", dt.date(2024, 3, 15)),
        ("Rechnungsdatum  Fälligkeit\n01.03.2024      15.03.2024", dt.date(2024, 3, 15)),
        ("Lieferdatum: 15.03.2024", None),
        ("CAE 90260418827 Vto 15.03.2025", None),
    ],
)
def test_a_due_date_is_next_to_its_label_or_below_it(label: str, day: dt.date | None) -> None:
    text = f"Muster GmbH\nRechnung Nr. 17\nDatum: 01.03.2024\n{label}\nSumme EUR  119,00\n"
    found = read(text).details.due_date

    assert day == (found.value if found else None)


def test_the_number_of_the_buyer_is_not_the_sellers() -> None:
    text = f"""
ALFA COMERCIO LTDA
CNPJ: {SELLER}
RUA DAS FLORES, 10 - CENTRO
CAMPINAS - SP
DANFE NFC-e Documento Auxiliar da Nota Fiscal de Consumidor Eletronica
001 CAFE 500G           1 UN  21,98   21,98
VALOR TOTAL R$                        21,98
CONSUMIDOR - CNPJ {BUYER} - BETA SERVICOS LTDA
NFC-e 123 Serie 1 02/05/2024 10:11:12
"""
    receipt = read(text)

    assert receipt.merchant_tax_id is not None
    assert receipt.merchant_tax_id.value == "11222333000181"
    assert spelled(receipt.details)["tax_id"] == "44555666000100"[:12] + BUYER[-2:]
    assert spelled(receipt.details)["name"] == "BETA SERVICOS LTDA"
    assert spelled(receipt.details)["address"] == "RUA DAS FLORES, 10 - CENTRO, CAMPINAS - SP"


@pytest.mark.parametrize(
    ("consumer", "name"),
    [
        ("Consumidor: Ana Lima - CPF 529.982.247-25 - Rua das Flores, 55", "Ana Lima"),
        (f"CONSUMIDOR: CNPJ {BUYER}\nBETA SERVICOS LTDA", "BETA SERVICOS LTDA"),
        (f"CONSUMIDOR: CNPJ {BUYER}\nRazao Social: BETA SERVICOS LTDA", "BETA SERVICOS LTDA"),
        ("CONSUMIDOR CPF 529.982.247-25\nANA PEREIRA LIMA", "ANA PEREIRA LIMA"),
        ("CONSUMIDOR NAO IDENTIFICADO", None),
    ],
)
def test_the_consumer_is_before_or_below_the_tax_id(consumer: str, name: str | None) -> None:
    text = f"""
ALFA COMERCIO LTDA
CNPJ: {SELLER}
DANFE NFC-e Documento Auxiliar da Nota Fiscal de Consumidor Eletronica
001 CAFE 500G           1 UN  21,98   21,98
VALOR TOTAL R$                        21,98
{consumer}
NFC-e 123 Serie 1 02/05/2024 10:11:12
"""
    details = read(text).details

    assert spelled(details)["name"] == name
    assert (spelled(details)["tax_id"] is None) == (name is None)


def test_the_recipient_and_the_installments_of_a_danfe_are_read() -> None:
    key = nfe_key("3524051122233300018155001000000123100000123")[:54]
    text = f"""
RECEBEMOS DE ALFA COMERCIO LTDA OS PRODUTOS CONSTANTES DA NOTA FISCAL
IDENTIFICACAO DO EMITENTE                  DANFE
ALFA COMERCIO LTDA                         Documento Auxiliar da Nota
RUA DAS FLORES, 10                         CHAVE DE ACESSO
CENTRO - 13010-100                         {key}
CAMPINAS - SP
NATUREZA DA OPERACAO
VENDA
CNPJ
{SELLER}
DESTINATARIO / REMETENTE
NOME / RAZAO SOCIAL                  CNPJ / CPF               DATA DA EMISSAO
BETA SERVICOS LTDA                   {BUYER}       02/05/2024
ENDERECO                             BAIRRO / DISTRITO        CEP
AVENIDA BRASIL, 99                   CENTRO                   01310-200
FATURA / DUPLICATAS
001     03/06/2024     60,00
002     03/07/2024     60,00
CALCULO DO IMPOSTO
BASE DE CALCULO DO ICMS     VALOR DO ICMS     VALOR TOTAL DA NOTA
120,00                      21,60             120,00
"""
    details = read(text).details

    assert spelled(details)["name"] == "BETA SERVICOS LTDA"
    assert spelled(details)["tax_id"] == BUYER.replace(".", "").replace("/", "").replace("-", "")
    assert spelled(details)["address"] == "RUA DAS FLORES, 10, CENTRO - 13010-100, CAMPINAS - SP"
    assert details.due_date is not None
    assert details.due_date.value == dt.date(2024, 6, 3)


def test_the_parts_of_an_address_with_labels_are_joined() -> None:
    text = f"""
PREFEITURA MUNICIPAL DE CAMPINAS
NOTA FISCAL DE SERVICOS ELETRONICA - NFS-e
Numero da Nota: 371    Emitida em: 05/05/2023 15:46:23
PRESTADOR DE SERVICOS
Nome/Razao Social: ALFA SERVICOS LTDA
CPF/CNPJ: {SELLER}
Endereco: RUA DAS FLORES, 10    Bairro: CENTRO    CEP: 13010-100
Municipio: CAMPINAS    UF: SP
TOMADOR DE SERVICOS
Nome/Razao Social: BETA COMERCIO LTDA
CPF/CNPJ: {BUYER}
Endereco: AVENIDA BRASIL, 99
DISCRIMINACAO DOS SERVICOS
Manutencao de computadores
VALOR TOTAL DA NOTA: R$ 240,00
"""
    details = read(text).details

    address = spelled(details)["address"]
    assert address is not None
    assert {"RUA DAS FLORES", "10", "CENTRO", "CAMPINAS", "SP", "13010-100"} == set(
        address.split(", ")
    )
    assert spelled(details)["name"] == "BETA COMERCIO LTDA"
    assert spelled(details)["tax_id"] == BUYER.replace(".", "").replace("/", "").replace("-", "")


def test_doubtful_values_have_alternatives() -> None:
    details = read(MALAYSIAN).details

    assert details.merchant_address is not None
    assert details.merchant_address.alternatives


def test_a_value_and_an_alternative_are_together_at_most_certain() -> None:
    printed = "CORNER STORE\nSUBTOTAL 31.02\nROUNDING -0.02\nTOTAL 31.02\nTOTAL ROUNDED 31.00"
    total = pipeline.understand([[text_page(printed)]]).total

    assert total is not None
    assert total.alternatives
    assert all(total.confidence + one.confidence <= 1 for one in total.alternatives)


def test_alternatives_of_a_name_are_no_headings_or_labels() -> None:
    receipt = read(
        """
        KEDAI AMAN
         TAX INVOICE
                   Amt (RM)
Nasi Lemak             8.50
Teh Tarik              2.80
Total                 11.30
12/03/2018 14:20
"""
    )

    assert receipt.merchant_name is not None
    others = [one.value for one in receipt.merchant_name.alternatives]
    assert others
    assert {"Amt (RM)", "TAX INVOICE"}.isdisjoint(others)


def test_alternatives_of_a_name_are_no_line_items() -> None:
    receipt = read(
        """
        KEDAI AMAN
   NO 12 JALAN SATU 43000 KAJANG
                   Amt (RM)
Nasi Lemak             8.50
Teh Tarik              2.80
Mee Goreng             5.00
Total                 16.30
12/03/2018 14:20
"""
    )

    assert ["Nasi Lemak", "Teh Tarik", "Mee Goreng"] == [
        one.value.name for one in receipt.line_items
    ]
    assert receipt.merchant_name is not None
    others = [one.value for one in receipt.merchant_name.alternatives]
    assert [] == [one for one in others if re.search("Nasi|Teh|Mee", one)]


def test_a_contact_below_a_company_does_not_end_its_address() -> None:
    letter = """
                                         FAKTURA
Fjordlys Treningssenter                  Fakturanr.:       20418
Att: Ragnhild Solberg                    Fakturadato:      15.10.2025
Strandgata 9                             Forfallsdato:     29.10.2025
6004 ÅLESUND

Beskrivelse                              Ant.  Enhetspris    Beløp
Service, årlig                                4   245,00     980,00
MVA 25 %                                                     245,00
Å betale NOK                                               1 225,00

FJELLVERK SERVICE AS       Moloveien 31, 6005 Ålesund     NO 923 609 016 MVA
"""
    details = read(letter).details

    assert details.customer_name is not None
    assert details.customer_name.value == "Fjordlys Treningssenter"


LETTER = """
Zimmerei Holzer AG
Sägeweg 4
3550 Langnau i. E.
CHE-114.882.034 MWST


                                         Herr und Frau
                                         Reto und Anna Wenger
                                         Dorfberg 41
                                         3550 Langnau i. E.

Rechnung 2025-0417                       12. September 2025

Bezeichnung                 Menge      Ansatz      Betrag CHF
Geländer nachziehen, Regie      2      300.00          600.00
Rechnungsbetrag CHF                                    600.00
"""
FATTURA = """
Cedente/prestatore (fornitore)                          Cessionario/committente (cliente)
Identificativo fiscale: IT02664180276                   Identificativo fiscale: IT03711882401
Denominazione: Officine Grafiche Bassi S.p.A.           Denominazione: Cantine del Colle S.r.l.
Indirizzo: Via Emilia Ovest 188                         Indirizzo: Strada Provinciale 14
Comune: Modena                                          Comune: Castelvetro

Numero documento    Data documento
1127/PA-25          31-10-2025
Descrizione               Quantità   Prezzo unitario   %IVA   Prezzo totale
Etichetta adesiva           100,00              1,00     22          100,00
Totale documento                                                     122,00
"""


@pytest.mark.parametrize(
    ("document", "customer"),
    [
        (LETTER, "Reto und Anna Wenger"),
        (FATTURA, "Cantine del Colle S.r.l."),
    ],
)
def test_a_customer_is_named_below_a_form_of_address_or_behind_a_label(
    document: str, customer: str
) -> None:
    found = read(document).details.customer_name

    assert found is not None
    assert found.value == customer


def test_a_name_of_short_words_is_no_form_of_address() -> None:
    printed = [line for line in LETTER.splitlines() if "Herr und Frau" not in line]
    letter = "\n".join(printed).replace("Reto und Anna Wenger", "Bo Li")
    found = read(letter).details.customer_name

    assert found is not None
    assert found.value == "Bo Li"


@pytest.mark.parametrize("label", ["C.F.", "Cod. Fisc. cliente:"])
def test_a_personal_code_is_the_customers_only_if_its_label_says_so(label: str) -> None:
    receipt = read(
        f"""
        PARAFARMACIA AL PONTE
        di Bortolin Silvia & C. S.a.s.
        Via Garibaldi 44 - 31100 TREVISO
        P.IVA 01533030480
        DOCUMENTO COMMERCIALE
DESCRIZIONE          IVA%   Prezzo(€)
SHAMPOO DELICATO      22%       12,90
TOTALE COMPLESSIVO              12,90
Pagamento contante              12,90
28/02/2026 11:05
{label} RSSLCU85T10L407V
""",
        exact=False,
    )

    assert receipt.merchant_tax_id is not None
    assert receipt.merchant_tax_id.value == "01533030480"
    customer = receipt.details.customer_tax_id
    assert (customer.value if customer else None) == (
        "RSSLCU85T10L407V" if "cliente" in label else None
    )


def test_a_tax_number_below_the_country_of_a_letter_is_the_recipients() -> None:
    letter = """
                                                        Lena Brandt
                                                        UX Research
                                                        Oranienstraße 118 · 10969 Berlin

Lena Brandt · Oranienstraße 118 · 10969 Berlin
Donaublick Versicherungs-Service AG
z. Hd. Mag. Peter Schramm
Untere Donaustraße 21
1020 Wien
Österreich
UID: ATU71844203

Rechnung Nr. 2026-07                          Berlin, 2. April 2026

Leistung                           Menge     Einzelpreis     Betrag
Remote-Interviews                  12,00           96,00   1.152,00 €
Rechnungsbetrag                                            1.152,00 €

USt-IdNr. DE299184277
"""
    receipt = read(letter)

    assert receipt.merchant_tax_id is not None
    assert receipt.details.customer_tax_id is not None
    assert receipt.merchant_tax_id.value == "DE299184277"
    assert receipt.details.customer_tax_id.value == "ATU71844203"


def test_initials_are_not_the_label_of_a_customer() -> None:
    initials = read("M S KOBAYASHI MERCEARIA\nAV CENTRAL 22 SAO PAULO\nTOTAL R$ 70,00", exact=False)
    label = read("PAPER SHOP\nM/s Kobayashi Stores\nTOTAL Rs. 70.00", exact=False)

    assert initials.details.customer_name is None
    assert label.details.customer_name is not None
    assert label.details.customer_name.value == "Kobayashi Stores"


def test_a_greeting_is_not_the_seller() -> None:
    printed = """
Vamo Viajes
¡Gracias por viajar con nosotros, Irene!
Gran Vía 41, 28013 Madrid
NIF B88441829
Tarifa del viaje           11,76 €
Tasa de reserva             0,90 €
Total                      12,66 €
02/05/2026 0:12
"""
    merchant = read(printed).merchant_name

    assert merchant is not None
    assert merchant.value == "Vamo Viajes"
