import pytest

from recibo.extract.fields.merchant import merchants
from tests.extract.fields.papers_abroad import AMERICAN, GERMAN, MALAYSIAN, rows_of

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
def test_the_name_stands_in_the_head(text: str, name: str) -> None:
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


def test_a_note_above_the_name_is_passed_over() -> None:
    assert best(f"tan ah kow\n\nAMAN MAJU SDN BHD\n(789417-W){REST}") == "AMAN MAJU SDN BHD"


def test_the_buyer_is_not_the_seller() -> None:
    paper = f"AMAN MAJU TRADING\n(789417-W){REST}\nBill To:\nBUYER BERHAD SDN BHD"

    assert best(paper) == "AMAN MAJU TRADING"


def test_the_name_of_a_place_is_no_seller() -> None:
    assert best("Subang Airport\nSelangor\n(822737-X)\nTEL: 03-8733 1234") == "Subang Airport"


def test_accents_are_stains_where_the_language_has_none() -> None:
    rows = rows_of(f"Aman Restäurants Sdn Bhd\n(822737-X){REST}")

    assert merchants(rows)[0].value == "Aman Restäurants Sdn Bhd"
    assert merchants(rows, is_unaccented=True)[0].value == "Aman Restaurants Sdn Bhd"


def test_an_empty_page_has_no_seller() -> None:
    assert merchants(()) == ()


@pytest.mark.parametrize("last", ["STATIONERY SDN BHD", "RESTAURANT SDN BHD"])
def test_a_word_of_trades_alone_is_no_whole_name(last: str) -> None:
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
    ],
)
def test_slogans_addresses_and_owners_are_no_part_of_the_name(head: str, name: str) -> None:
    assert best(f"{head}\n{AMERICAN_REST}") == name


def test_a_sign_over_two_rows_in_one_style_is_one_name() -> None:
    assert best(f"MAPLE LEAF\nDINER\n2210 W 4th Street\nDuluth, MN 55806\n{AMERICAN_REST}") == (
        "MAPLE LEAF DINER"
    )


def test_who_is_billed_in_the_next_column_leaves_the_seller_its_name() -> None:
    paper = """
Invoice
Invoice number   TW-2025-118823
Tidywork GmbH                             Bill to
548 Market St                             Northwind GmbH
San Francisco, California 94104           22 King Street
"""

    assert best(paper) == "Tidywork GmbH"
