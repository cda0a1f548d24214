import pytest

from recibo.extract.fields import company_names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("GARDEN BAKERY (KL) SDN BHD (139386 X)", "GARDEN BAKERY (KL) SDN BHD"),
        ("AMAN VENTURE SDN BHD (1191015-W)", "AMAN VENTURE SDN BHD"),
        ("LIM HENG STATION (Company No:001260452-W)", "LIM HENG STATION"),
        ("Linde AG - Uferweg 40-42", "Linde AG"),
        ("Sold By : Retail Services Pvt. Ltd.,", "Retail Services Pvt. Ltd"),
        ("WELCOME TO BLUE HERON", "BLUE HERON"),
        ("*** BLUE HERON ***", "BLUE HERON"),
        ("Store : BLUE HERON BOOKS", "BLUE HERON BOOKS"),
        ("SHOP: BLUE HERON", "BLUE HERON"),
        ("STORE BLUE HERON", "STORE BLUE HERON"),
        ("TQ FOR SHOPPING WITH BLUE HERON", "BLUE HERON"),
        ("(A Unit of Heron Foods Pvt Ltd)", "Heron Foods Pvt Ltd"),
        ("BLUE HERON PAYMENT RECEIPT", "BLUE HERON"),
        ("BLUE HERON - TAX INVOICE", "BLUE HERON"),
        ("B L U E  H E R O N", "BLUE  HERON"),
        ("SUPERMERCADOS EL OLIVO, S.A.", "SUPERMERCADOS EL OLIVO, S.A."),
        ("Hostinec U Lva s.r.o.", "Hostinec U Lva s.r.o."),
        ("De Groene Winkel B.V., Amsterdam", "De Groene Winkel B.V."),
    ],
)
def test_text_around_the_name_is_cut_off(text: str, name: str) -> None:
    assert company_names.clean(text) == name


@pytest.mark.parametrize("form", ["SDN 8HD", "SON BHD", "SDN BHO", "SIN BHD", "SDNBHD"])
def test_a_misread_legal_form_is_repaired(form: str) -> None:
    assert company_names.clean(f"AMAN HARDWARE {form}") == "AMAN HARDWARE SDN BHD"


@pytest.mark.parametrize("rest", ["SDN 3HD 28-05", "SON BHD.LL", "SDN BHO (139386 X)"])
def test_a_misread_legal_form_is_found_before_a_few_other_characters(rest: str) -> None:
    assert company_names.clean(f"AMAN HARDWARE {rest}") == "AMAN HARDWARE SDN BHD"


def test_a_similar_word_inside_a_name_is_not_repaired() -> None:
    assert company_names.clean("SUNBHD SEAFOOD HOUSE") == "SUNBHD SEAFOOD HOUSE"


def test_a_misread_word_for_a_trade_is_repaired() -> None:
    assert company_names.clean("AMAN HARDWAKE") == "AMAN HARDWARE"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("GARDEN1A BAKERIES", "GARDENIA BAKERIES"),
        ("G0LDEN GATE", "GOLDEN GATE"),
        ("HAI-0 RAYA", "HAI-O RAYA"),
        ("AMAN 8AKERIES & 5TATIONERY", "AMAN BAKERIES & STATIONERY"),
        ("Aman Hote1s & Hosp1tal", "Aman Hote1s & Hospital"),
        ("7-ELEVEN", "7-ELEVEN"),
        ("G2000", "G2000"),
        ("OLIVE9", "OLIVE9"),
    ],
)
def test_a_digit_within_a_word_is_a_letter(text: str, name: str) -> None:
    assert company_names.clean(text) == name


def test_several_legal_forms_are_not_a_name() -> None:
    assert company_names.is_form_alone("CO. (M) SDN BHD")
    assert not company_names.is_form_alone("AMAN CO. (M) SDN BHD")


def test_other_names_are_not_repaired() -> None:
    assert company_names.clean("HARDWICKE & SONS") == "HARDWICKE & SONS"


def test_an_open_bracket_or_a_joining_word_continues() -> None:
    assert company_names.continues("AMAN ENTERPRISE (SETIA")
    assert company_names.continues("AMAN HARDWARE &")
    assert not company_names.continues("AMAN HARDWARE SDN BHD")


def test_a_word_that_is_a_legal_form_with_a_letter_misread_may_begin_a_name() -> None:
    assert not company_names.begins_with_form("SRI KRISHNA SWEETS")
    assert company_names.begins_with_form("SRL KRISHNA SWEETS")
    assert company_names.begins_with_form("Enterprise of Heron")
