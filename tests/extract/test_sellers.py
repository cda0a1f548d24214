"""Who the seller is: senders of letters, titles, tax numbers."""

import pytest

from recibo.extract import pipeline
from recibo.extract.fields import sender_lines
from recibo.extract.model import Extracted, Receipt
from tests.extract.typesetting import text_page

LETTER = """
Holzbau Reiner KG - Am Bach 3 - 83022 Rosenheim

Autohaus Stein GmbH
Industriestr. 40
83059 Kolbermoor

                                                       Datum: 03.02.2026
RECHNUNG 88123

Leistung                         Anzahl   Preis EUR    Betrag EUR
Carport montieren                     1     1.450,00     1.450,00
Summe netto                                              1.450,00
zzgl. 19% USt                                              275,50
Gesamtbetrag                                             1.725,50

Holzbau Reiner KG   Steuer-Nr. 156/123/45678   IBAN DE44 7116 0000 0001 2345 67
"""
RECIPIENT = "Autohaus Stein GmbH\nIndustriestr. 40\n83059 Kolbermoor"
DOCTOR = """
Dr. med. Karla Winter, Praxis am Markt 5, 04109 Leipzig
Herrn
Peter Grau
Bachweg 17
04317 Leipzig                                          Leipzig, den 21.03.2026

Rechnung-Nr.: 5523/26

Beratung                                               10,72 EUR
Gesamtsumme                                            10,72 EUR
"""
FREELANCER = """
Blauwerk Kowalski                                          RECHNUNG
Inhaberin Anna Kowalski
Lindenallee 4, 10115 Berlin

Muster Bau GmbH
Herrn Peter Schulz                       Rechnungsnr.:  RE-2026-0118
Baustr. 99                               Datum:         03.09.2026
20095 Hamburg                            Kundennr.:     K-2207

Pos  Beschreibung                 Menge  Einheit  Einzelpreis   Gesamt
1    Konzept und Entwurf           12,0  Std.        85,00 €   1.020,00 €
2    Umsetzung                     24,5  Std.        85,00 €   2.082,50 €

                                    Nettobetrag               3.102,50 €
                                    zzgl. 19 % USt.             589,48 €
                                    Rechnungsbetrag           3.691,98 €
"""


def _read(text: str) -> Receipt:
    return pipeline.understand([[text_page(text)]])


def _value(found: Extracted[str] | None) -> str | None:
    return found.value if found else None


def test_the_sender_is_the_seller_and_the_recipient_the_customer() -> None:
    receipt = _read(LETTER)

    assert _value(receipt.merchant_name) == "Holzbau Reiner KG"
    assert _value(receipt.details.merchant_address) == "Am Bach 3, 83022 Rosenheim"
    assert _value(receipt.details.customer_name) == "Autohaus Stein GmbH"


@pytest.mark.parametrize("form", ["Herrn", "Familie", "Eheleute"])
def test_a_sender_may_be_a_person(form: str) -> None:
    receipt = _read(DOCTOR.replace("Herrn", form))

    assert _value(receipt.merchant_name) == "Dr. med. Karla Winter"
    assert _value(receipt.details.merchant_address) == "Praxis am Markt 5, 04109 Leipzig"
    assert _value(receipt.details.customer_name) == "Peter Grau"


def test_a_company_with_a_person_addressed_below_it_is_the_customer() -> None:
    receipt = _read(FREELANCER)

    assert _value(receipt.merchant_name) == "Blauwerk Kowalski"
    assert _value(receipt.details.customer_name) == "Muster Bau GmbH"


def test_a_recipient_abroad_needs_no_postcode() -> None:
    abroad = LETTER.replace("Industriestr. 40\n83059 Kolbermoor", "Unit 7, Harbour Road\nHong Kong")
    receipt = _read(abroad)

    assert _value(receipt.merchant_name) == "Holzbau Reiner KG"
    assert _value(receipt.details.customer_name) == "Autohaus Stein GmbH"


@pytest.mark.parametrize(
    "below",
    [
        "Tisch 5\nKellner Anna\nRechnung 123",
        "Inhaber Peter Maier\nMontag Ruhetag\nGarten vorhanden",
        "Ihr Partner am Bau\nMeisterbetrieb seit 1950\nZimmerei und Dachbau",
    ],
)
def test_lines_without_an_address_below_a_sender_are_no_recipient(below: str) -> None:
    text = LETTER.replace(RECIPIENT, below)
    receipt = _read(text)

    assert text != LETTER
    assert _value(receipt.merchant_name) == "Holzbau Reiner KG"
    assert _value(receipt.details.customer_name) is None


def test_a_slogan_may_be_above_the_recipient() -> None:
    slogan = "Ihr Partner am Bau\nZimmerei und Dachbau\nMeisterbetrieb\n\n"
    details = _read(LETTER.replace(RECIPIENT, slogan + RECIPIENT)).details

    assert _value(details.customer_name) == "Autohaus Stein GmbH"
    assert _value(details.merchant_address) == "Am Bach 3, 83022 Rosenheim"


def test_the_address_of_the_sender_below_its_line_is_not_the_recipient() -> None:
    own = "Holzbau Reiner KG\nAm Bach 3\n83022 Rosenheim"
    receipt = _read(LETTER.replace(RECIPIENT, own))

    assert _value(receipt.merchant_name) == "Holzbau Reiner KG"
    assert _value(receipt.details.customer_name) is None


def test_a_line_of_the_seller_at_the_foot_has_no_recipient_below_it() -> None:
    line, *others = LETTER.strip().splitlines()
    foot = f"\n\n{line}\nMax Reiner\nSparkasse Rosenheim\n83022 Rosenheim\n"
    receipt = _read("\n".join(others) + foot)

    assert _value(receipt.details.customer_name) != "Max Reiner"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Elektro - Huber GmbH - Am Bach 3 - 83022 Rosenheim", "Elektro - Huber GmbH"),
        ("Smith & Sons, Ltd. - Am Bach 3 - 83022 Rosenheim", "Smith & Sons, Ltd."),
        ("Acme Widgets, Inc., 12 Main Street, 90210 Beverly Hills", "Acme Widgets, Inc."),
        ("Serwis Morski, ul. Morska 77, 80-211 Gdynia", "Serwis Morski"),
        ("Reiner KG | Am Bach 3 | 83022 Rosenheim | Tel. 08031 12345", "Reiner KG"),
        ("Am Bach 3, 83022 Rosenheim", None),
        ("Cafe Linde - Kuchen - Torten", None),
        ("a" + " " * 50_000 + "-", None),
    ],
)
def test_the_name_is_all_before_the_street(line: str, name: str | None) -> None:
    assert sender_lines.sender_in(line) == name


def test_items_below_a_seller_on_one_line_are_no_recipient() -> None:
    receipt = _read("""
Cafe Linde, Lindenplatz 2, 71634 Ludwigsburg
Espresso                2,80
Apfelkuchen             3,90
Summe EUR               6,70
03.02.2026 15:10
""")

    assert _value(receipt.merchant_name) == "Cafe Linde"
    assert _value(receipt.details.customer_name) is None
    assert [item.value.name for item in receipt.line_items] == ["Espresso", "Apfelkuchen"]


BISTRO = """
NOTE
Le Bistrot de Paul
5 place du Marché
35000 RENNES
Table 7    2 couverts
12/05/2026 13:22
2 Plat du jour        31,00
1 Café                 2,20
TOTAL TTC             33,20
CB                    33,20
"""


def test_the_title_of_a_document_is_not_the_seller() -> None:
    receipt = _read(BISTRO)

    assert receipt.merchant_name
    assert receipt.merchant_name.value == "Le Bistrot de Paul"


KIOSK = """
Bahnhof Kiosk
8001 Zürich
MWST-Nr. CHE-116.111.222
Kaffee                 4.20
Total CHF              4.20
03.06.2026 08:12
"""


def test_a_tax_number_is_not_the_number_of_the_document() -> None:
    receipt = _read(KIOSK)

    assert receipt.merchant_tax_id
    assert receipt.merchant_tax_id.value == "CHE116111222"
    assert receipt.document_number is None


@pytest.mark.parametrize("label", ["Nome", "Emitente"])
def test_who_signs_a_receipt_below_the_payer_is_the_seller(label: str) -> None:
    receipt = _read(f"""
RECIBO N. 0142                    R$ 850,00
Recebi(emos) de Condomínio Jardim das Acácias
a importância de oitocentos e cinquenta reais
referente a pintura do hall
Belém, 04 de dezembro de 2025
{label}: JOSÉ RAIMUNDO FARIAS
""")

    assert _value(receipt.merchant_name) == "JOSÉ RAIMUNDO FARIAS"
    assert _value(receipt.details.customer_name) == "Condomínio Jardim das Acácias"


def test_the_company_below_the_name_of_its_shop_is_the_seller() -> None:
    receipt = _read("""
BULONERA EL TORNILLO
de MARCHETTI HNOS S.R.L.
C.U.I.T. Nro.: 30-71582264-0
TIQUE FACTURA "A" (Cod. 081)
Fecha 18/11/2025 Hora 10:42:07
METALURGICA DON TORCUATO S.A.
C.U.I.T. Nro.: 30-69417350-7
DISCO CORTE 115MM            16200,00
TOTAL                        16200,00
""")

    assert "MARCHETTI HNOS S.R.L" in str(_value(receipt.merchant_name))


def test_the_owner_of_the_program_below_a_receipt_is_not_the_seller() -> None:
    receipt = _read("""
Receipt from Third Rail Coffee Bar
Oat Milk Latte (16oz)              $6.25
Total                              $6.25
Third Rail Coffee Bar
418 Telegraph Ave, Oakland, CA 94609
© 2026 Squire, Inc. All rights reserved.
""")

    assert "Third Rail Coffee Bar" in str(_value(receipt.merchant_name))
