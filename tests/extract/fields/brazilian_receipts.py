"""Brazilian fiscal documents of several software makers, and the values printed on them."""

from recibo.extract.model import Extracted, Header, Moment
from tests.extract.fields import literals
from tests.extract.fields.literals import FIELDS, Truth
from tests.extract.typesetting import cnpj, nfe_key

CNPJ = cnpj("046413760001")
ISSUER = "".join(filter(str.isalnum, CNPJ))
NFCE_KEY = nfe_key(f"312403{ISSUER}65003000123456112345678")
NFE_KEY = nfe_key(f"412403{ISSUER}55001000045678187654321")
CFE_KEY = nfe_key(f"352109{ISSUER}59000123456000789123456")

_ALL = literals.documents("brazil")
NFCE, NFCE_TRUTH = _ALL["nfce"].text, _ALL["nfce"].truth
CFE, CFE_TRUTH = _ALL["cfe"].text, _ALL["cfe"].truth
ECF, ECF_TRUTH = _ALL["ecf"].text, _ALL["ecf"].truth
NFE, NFE_TRUTH = _ALL["nfe"].text, _ALL["nfe"].truth
LABEL, LABEL_TRUTH = _ALL["label"].text, _ALL["label"].truth
NFSE_BOXED, NFSE_BOXED_TRUTH = _ALL["nfse_boxed"].text, _ALL["nfse_boxed"].truth
NFSE_BARE, NFSE_BARE_TRUTH = _ALL["nfse_bare"].text, _ALL["nfse_bare"].truth
NFSE_NATIONAL, NFSE_NATIONAL_TRUTH = _ALL["nfse_national"].text, _ALL["nfse_national"].truth
NFSE_TABLE, NFSE_TABLE_TRUTH = _ALL["nfse_table"].text, _ALL["nfse_table"].truth
NFE_STUB, NFE_STUB_TRUTH = _ALL["nfe_stub"].text, _ALL["nfe_stub"].truth


def header_texts(fiscal: Header | None) -> Truth:
    """Return the values of a record as texts."""
    assert fiscal is not None
    return {field: _text(getattr(fiscal, field)) for field in FIELDS}


def _text(found: Extracted[object] | None) -> str | None:
    if found is None:
        return None
    assert found.text
    assert 0 < found.confidence <= 1
    return found.value.isoformat() if isinstance(found.value, Moment) else str(found.value)
