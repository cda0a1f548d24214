import random
import re

import pytest

from recibo.extract.fields import check_digits
from training.receipts import tax_ids

# The check digit rules of the reading library by scheme.
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
def test_generated_numbers_have_valid_check_digits(scheme: str, rule: str) -> None:
    rng = random.Random(scheme)
    for _ in range(200):
        number = re.sub(r"\W", "", tax_ids.tax_id(rng, scheme))

        assert check_digits.passes(rule, number), number
