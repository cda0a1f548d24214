import random
import re

import pytest

from recibo.extract.fields import check_digits
from training.receipts import tax_ids

# Schemes to the rules that the reading library checks them by.
RULES = {
    "de": "de_ust",
    "at": "at_uid",
    "ch": "ch_uid",
    "fr": "fr_tva",
    "fr_siret": "luhn",
    "be": "be_vat",
    "it": "it_iva",
    "nl": "nl_btw",
    "es": "es_nif",
    "pt": "pt_nif",
    "gb": "gb_vat",
    "ca": "ca_bn",
    "au": "au_abn",
    "in": "in_gstin",
    "ar": "ar_cuit",
    "cl": "cl_rut",
}


@pytest.mark.parametrize(("scheme", "rule"), RULES.items())
def test_the_check_digits_of_a_number_hold(scheme: str, rule: str) -> None:
    rng = random.Random(scheme)  # noqa: S311 - chance that comes the same every time
    for _ in range(200):
        number = re.sub(r"\W", "", tax_ids.tax_id(rng, scheme))

        assert check_digits.passes(rule, number), number
