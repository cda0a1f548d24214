from dataclasses import replace

import pytest

from recibo.extract.fields.merchant import merchants
from recibo.extract.layout.rows import rows
from tests.extract.fields.foreign_receipts import AMERICAN, GERMAN, MALAYSIAN, rows_of
from tests.extract.typesetting import text_page

REST = """
NO. 12, JALAN MAWAR 3, TAMAN SERI
43000 KAJANG, SELANGOR
TEL: 03-8733 1234
TAX INVOICE
Invoice No: CS00123      Date: 05/03/2018 14:31
TOTAL (RM)                         73.50
"""


def best(text: str) -> str | None:
    found = merchants(rows_of(text))
    return found[0].value if found else None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (MALAYSIAN, "KEDAI AMAN HARDWARE SDN BHD"),
        (AMERICAN, "BLUE HERON GRILL"),
        (GERMAN, "BACKHAUS LINDE GMBH"),
    ],
)
def test_the_name_is_found_in_the_head(text: str, name: str) -> None:
    assert best(text) == name


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("AMAN HUAT HARDWARE\nENTERPRISE (SETIA\nALAM) SDN BHD", None),
        ("AMAN HUAT TRADING (KAJANG\nUTAMA) SDN BHD", None),
        ("AMAN HUAT HARDWARE\nENTERPRISE (SETIA\nALAM).SDN BHD", None),
        ("PERUSAHAAN AMAN HUAT MAJU\nSDN BHD", None),
    ],
)
def test_a_wrapped_name_is_joined(head: str, name: str | None) -> None:
    assert best(f"{head}\n(822737-X){REST}") == (name or head.replace("\n", " "))


def test_a_shop_sign_above_a_whole_legal_name_is_not_joined() -> None:
    assert best(f"MILKY WAY\nAMAN MAJU VENTURE SDN BHD (1191015-W){REST}") == (
        "AMAN MAJU VENTURE SDN BHD"
    )


def test_a_note_above_the_name_is_skipped() -> None:
    assert best(f"tan ah kow\n\nAMAN MAJU SDN BHD\n(789417-W){REST}") == "AMAN MAJU SDN BHD"


def test_the_buyer_is_not_the_seller() -> None:
    document = f"AMAN MAJU TRADING\n(789417-W){REST}\nBill To:\nBUYER BERHAD SDN BHD"

    assert best(document) == "AMAN MAJU TRADING"


def test_the_name_of_a_place_is_not_the_seller() -> None:
    assert best("Subang Airport\nSelangor\n(822737-X)\nTEL: 03-8733 1234") == "Subang Airport"


def test_accents_are_removed_if_the_language_has_none() -> None:
    read = rows_of(f"Aman Restäurants Sdn Bhd\n(822737-X){REST}")

    assert merchants(read)[0].value == "Aman Restäurants Sdn Bhd"
    assert merchants(read, is_unaccented=True)[0].value == "Aman Restaurants Sdn Bhd"


def test_an_empty_page_has_no_seller() -> None:
    assert merchants(()) == ()


@pytest.mark.parametrize("last", ["STATIONERY SDN BHD", "RESTAURANT SDN BHD"])
def test_a_word_for_a_trade_is_not_a_whole_name(last: str) -> None:
    assert best(f"AMAN MAJU UTAMA\n{last}\n(822737-X){REST}") == f"AMAN MAJU UTAMA {last}"


AMERICAN_REST = "1 COFFEE 3.00\nTAX 0.20\nTOTAL $3.20\n12/07/2023 05:17 PM"


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (
            "GREEN VALLEY MARKET\nFresh Food - Low Prices\n1190 Elm Ave Springfield IL 62704",
            "GREEN VALLEY MARKET",
        ),
        (
            "HARLAN'S HARDWARE #12\n88 Route 9, Hadley MA 01035\n413-555-0101",
            "HARLAN'S HARDWARE #12",
        ),
        ("Save money. Live better.\nROUNDBARN SUPERCENTER\n2110 N 8TH ST", "ROUNDBARN SUPERCENTER"),
        ("Thank you for visiting\nTHE GARDEN TABLE\n1200 Oak Street, Suite 4", "THE GARDEN TABLE"),
        ("Merchant: Lakeside Marina & Fuel\nTerminal ID: 00231", "Lakeside Marina & Fuel"),
        ("TANKHOF NORD\nHamburger Chaussee 210\n24113 Kiel\nTel 0431-555012", "TANKHOF NORD"),
        ("Brauhaus am Markt\nInhaber: Peter Klein e.K.\nMarktstr. 3", "Brauhaus am Markt"),
        ("RIVERSIDE GRILL\nTOWN HALL\nLas Vegas NV 89109", "RIVERSIDE GRILL"),
        ("Registered office: Harbour Stores Ltd\n1 Quay St, Leeds", "Harbour Stores Ltd"),
    ],
)
def test_slogans_addresses_and_owners_are_not_part_of_the_name(head: str, name: str) -> None:
    assert best(f"{head}\n{AMERICAN_REST}") == name


@pytest.mark.parametrize(
    "name", ["SARL Menuiserie Dubois", "UAB Baltijos Duona", "SIA Rīgas Maize"]
)
def test_a_legal_form_may_be_before_the_name_and_a_numbered_title_is_none(name: str) -> None:
    head = f"FACTURE N° F2026-0457\n{name}\n14 rue des Artisans\n35000 Rennes"

    assert best(f"{head}\nDate : 22/06/2026\nPorte  620,00\nTotal TTC  620,00 €") == name


def test_a_name_in_two_rows_of_one_style_is_joined() -> None:
    assert best(f"MAPLE LEAF\nDINER\n2210 W 4th Street\nDuluth, MN 55806\n{AMERICAN_REST}") == (
        "MAPLE LEAF DINER"
    )


def test_a_buyer_in_the_next_column_is_not_part_of_the_sellers_name() -> None:
    document = """
Invoice
Invoice number   TW-2025-118823
Tidywork GmbH                             Bill to
548 Market St                             Northwind GmbH
San Francisco, California 94104           22 King Street
"""

    assert best(document) == "Tidywork GmbH"


@pytest.mark.parametrize("label", ["Dodavatel:", "Seller", "Fournisseur :"])
def test_the_name_below_the_sellers_label_ranks_before_the_buyers(label: str) -> None:
    document = f"""
Invoice 2231
{label}                              Odběratel:
Amberline dum                       Trefoil s.r.o.
Lipová 8                             Polní 31
301 00 Lomná                          405 01 Svitava
Total                                655.00
"""

    assert best(document) == "Amberline dum"


def test_the_name_in_the_mail_address_ranks_before_a_company_without_one() -> None:
    document = """
                                     7 Harbour Lane
NORTHLIGHT ENGINEERING               Port Ashby 40210
                                     northlightengineering@example.com
TAX INVOICE
To
OAKWOOD LTD
9 Quarry Road
Total                                412.00
"""

    assert best(document) == "NORTHLIGHT ENGINEERING"


@pytest.mark.parametrize("last", ["Print Cnt: 1", "CHANGE DUE", "Lindenweg 14"])
def test_a_label_or_a_street_below_the_name_is_not_the_seller(last: str) -> None:
    assert best(f"Fenwick\n{last}\n12/07/2023 05:17 PM\nTOTAL $3.20") == "Fenwick"


def test_the_account_holder_is_a_candidate_anywhere_on_the_page() -> None:
    lines = "\n".join(f"Ligne {index}      {index},00" for index in range(40))

    found = merchants(
        rows_of(f"Facture\n{lines}\nVirement - Titulaire du compte : ATELIER CORMORAN")
    )

    assert "ATELIER CORMORAN" in [name.value for name in found]


def test_the_confidences_of_all_candidates_sum_to_at_most_one() -> None:
    found = merchants(rows_of(MALAYSIAN))

    assert sum(name.confidence for name in found) < 1
    assert found[0].confidence == max(name.confidence for name in found)


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ("Fanwick\n12 Elm Street\nwww.fenwick.example.com", "Fenwick"),
        ("Gardan Fenwlck\n12 Elm Street\n12/07/2023 05:17 PM\nGARDEN FENWICK", "GARDEN FENWICK"),
    ],
)
def test_a_misread_name_is_corrected_by_another_mention(document: str, name: str) -> None:
    page = text_page(document, exact=False)
    unsure = tuple(replace(word, confidence=0.8) for word in page.lines[0].words)
    lines = (replace(page.lines[0], words=unsure), *page.lines[1:])

    assert merchants(rows([replace(page, lines=lines)]))[0].value == name
