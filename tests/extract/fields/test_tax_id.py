import pytest

from recibo.extract.fields.tax_id import countries, tax_ids
from recibo.extract.text import tables
from tests.extract.fields.foreign_receipts import GERMAN, MALAYSIAN, rows_of


def best(text: str, country: str | None = None) -> str | None:
    found = tax_ids(rows_of(text), tables.countries()[country] if country else None)
    return found[0].found.value if found else None


def likelihood(text: str, country: str) -> float:
    found = tax_ids(rows_of(text), tables.countries()[country])
    return found[0].found.confidence if found else 0.0


def test_a_tax_number_comes_before_the_company_number() -> None:
    assert best(MALAYSIAN, "MY") == "000123456789"


def test_a_company_number_alone_below_the_name_is_found() -> None:
    printed = "KEDAI AMAN SDN BHD\n(123456-A)\n" + "LINE\n" * 6

    assert best(printed, "MY") == "123456A"


@pytest.mark.parametrize(
    "text",
    [
        "GST ID: 0001 2345 6789",
        "GST ID : OO0123456789",
        "GST Reg No.\n000123456789",
    ],
)
def test_a_number_is_found_despite_groups_misread_zeros_and_a_line_break(text: str) -> None:
    assert best(text, "MY") == "000123456789"


def test_a_number_with_valid_check_digits_needs_no_label() -> None:
    assert best(GERMAN) == "DE812277765"
    assert best("Steuer-Nr.DE812277765") == "DE812277765"


def test_a_number_with_the_letters_of_its_country_needs_no_label() -> None:
    assert best("CORNER SHOP\nIE6388047V\nTOTAL 5.00") == "IE6388047V"
    assert best("CORNER SHOP\n6388047V\nTOTAL 5.00") is None


def test_a_label_with_a_misread_v_is_found() -> None:
    assert best("CORNER SHOP LTD\nUAT No. 343475355\nTOTAL £5.00", "GB") == "343475355"


def test_a_labelled_number_may_have_another_format() -> None:
    printed = "BAKKERIJ DE LINDE\nBTW Nummer 143/250/61734\nTOTAAL 5,00"

    assert best(printed, "NL") == "14325061734"


def test_amounts_next_to_each_other_are_not_a_number() -> None:
    assert best("VAT @ 17.5 84.54 14.79 99.33", "GB") is None


def test_digits_without_a_label_are_not_a_tax_number() -> None:
    assert best("397471822\nTOTAL 5.00", "FR") is None
    assert best("SIREN 397 471 822", "FR") == "397471822"


@pytest.mark.parametrize(
    "text",
    [
        "CNPJ: 60.746.948/0001-12",
        "CNPJ 60746948000112",
        "C.N.P.J. 60.746.948/0001-12 IE 123.456.789.110",
        "60.746.948/0001-12",
        "CNPJ 60.746.94810001-12",
    ],
)
def test_a_cnpj_is_found_by_its_label_or_its_punctuation(text: str) -> None:
    assert best(f"PADARIA AURORA\n{text}\nTOTAL R$ 42,59", "BR") == "60746948000112"


def test_a_cnpj_may_contain_letters() -> None:
    assert best("CNPJ 12.ABC.345/01DE-35", "BR") == "12ABC34501DE35"


def test_fourteen_digits_without_label_or_separators_are_not_a_cnpj() -> None:
    assert best("60746948000112", "BR") is None


def test_the_sellers_cnpj_comes_before_the_buyers() -> None:
    printed = "CNPJ 60.746.948/0001-12\nTOTAL 5,00\nCLIENTE CNPJ 11.222.333/0001-81"

    assert best(printed, "BR") == "60746948000112"


@pytest.mark.parametrize(
    ("text", "country", "number"),
    [
        ("登録番号 T7000012050002", "JP", "T7000012050002"),
        ("DIČ: CZ25596641  IČO: 25596641", "CZ", "CZ25596641"),
        ("TVA BE 0403.019.261", "BE", "BE0403019261"),
        ("RFC: SAT-970701-NN3", "MX", "SAT970701NN3"),
        # OCR read a letter as a zero.
        ("RFC CC0-860523-1N4", "MX", "CCO8605231N4"),
        ("사업자번호 120-81-47521", "KR", "1208147521"),
        ("Adószám: 12892312-2-42", "HU", "12892312242"),
        ("NIT 860.002.964-4", "CO", "8600029644"),
        ("V.D. BÜYÜK ÇINAR 4810273968", "TR", "4810273968"),
        ("BÜYÜK ÇINAR V.D. V.N. 4810273968", "TR", "4810273968"),
        ("TVA FR 40 303 265 045\nSIRET 303 265 045 00012", "FR", "FR40303265045"),
        (
            "SUPERMERCADOS EL OLIVO S.A.\nA-28161396\nAVDA. 40\nSEVILLA\nTOTAL 3,25",
            "ES",
            "A28161396",
        ),
    ],
)
def test_a_number_is_read_as_its_country_prints_it(text: str, country: str, number: str) -> None:
    assert best(text, country) == number


@pytest.mark.parametrize(
    ("buyer", "seller", "country"),
    [
        ("NIF Cliente: 503504564", "NIF: 503504564", "PT"),
        ("Cliente: Ana Reis\nRua 2\nNIF 503504564", "Ana Reis\nRua 2\nNIF 503504564", "PT"),
        ("Bill To:\nHarper Ltd\nVAT No 343475355", "Harper Ltd\nVAT No 343475355", "GB"),
    ],
)
def test_a_number_near_the_buyer_is_less_likely_the_sellers(
    buyer: str, seller: str, country: str
) -> None:
    assert likelihood(buyer, country) < likelihood(seller, country) - 0.05


def test_a_placeholder_for_a_buyer_without_a_number_is_ignored() -> None:
    assert best("RFC: XAXX010101000", "MX") is None


def test_the_sellers_number_ranks_first_wherever_the_buyers_is() -> None:
    printed = "Cliente: Ana\nNIF 503504564\nTOTAL 5,00\n\n\nCAFE LDA\nContribuinte 501964843"

    assert best(printed, "PT") == "501964843"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CHE-Nr.: CHE-116.281.710 MWST", "CH"),
        ("CUIT: 30-70308853-4", "AR"),
        ("VAT No: 343475355", None),
        ("CHE-Nr.: CHE-116.281.711 MWST", None),
        ("SIREN 397 471 822", None),
        ("RUT 73.020.270-9", None),
        ("OR No. 000123988", None),
    ],
)
def test_a_number_format_of_one_country_is_evidence_of_it(text: str, code: str | None) -> None:
    assert countries(rows_of(text)) == ((code,) if code else ())
