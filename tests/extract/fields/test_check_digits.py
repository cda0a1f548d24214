import pytest

from recibo.extract.fields.check_digits import passes

# Numbers published by authorities or their owners.
SOUND = {
    "ar_cuit": "20267565393",
    "at_uid": "ATU13585627",
    "au_abn": "51824753556",
    "be_vat": "0428759497",
    "ca_bn": "144920675RT0001",
    "ch_uid": "CHE100155212MWST",
    "cl_rut": "125319092",
    "de_ust": "DE812277765",
    "dk_cvr": "13585628",
    "es_nif": "B58378431",
    "fi_y": "20774740",
    "fr_tva": "FR40303265045",
    "gb_vat": "343475355",
    "in_gstin": "06AABCO6063D1ZQ",
    "it_iva": "00743110157",
    "lu_tva": "LU15027442",
    "nl_btw": "NL810433941B01",
    "no_org": "974760673MVA",
    "pl_nip": "8567346215",
    "pt_nif": "501964843",
    "se_org": "5560125790",
    "co_nit": "8600029644",
    "gr_afm": "094259216",
    "hr_oib": "33392005961",
    "ie_vat": "IE6388047V",
    "hu_ado": "12892312242",
    "jp_corporate": "T7000012050002",
    "kr_brn": "1208147521",
    "mx_rfc": "SAT970701NN3",
    "pe_ruc": "20100070970",
    "ro_cif": "RO18547290",
    "th_tin": "0107537000599",
    "tr_vkn": "4540536920",
    "tw_ubn": "22099131",
}


@pytest.mark.parametrize(("rule", "number"), SOUND.items())
def test_a_valid_number_passes(rule: str, number: str) -> None:
    assert passes(rule, number)


@pytest.mark.parametrize(("rule", "number"), SOUND.items())
def test_two_swapped_digits_are_detected(rule: str, number: str) -> None:
    swaps = [
        number[:index] + number[index + 1] + number[index] + number[index + 2 :]
        for index in range(2, len(number) - 1)
        if number[index : index + 2].isdigit() and number[index] != number[index + 1]
    ]

    caught = [swap for swap in swaps if not passes(rule, swap)]

    assert len(caught) >= len(swaps) - 4


@pytest.mark.parametrize(
    ("rule", "number"), [("cl_rut", "20347878K"), ("pt_nif", "500000000"), ("pt_nif", "500000050")]
)
def test_a_check_value_of_ten_is_handled(rule: str, number: str) -> None:
    """Chile writes ten as K, Portugal as 0."""
    assert passes(rule, number)
    assert not passes(rule, f"{number[:-1]}1")


@pytest.mark.parametrize("rule", SOUND)
def test_other_text_fails(rule: str) -> None:
    assert not passes(rule, "ABC")
