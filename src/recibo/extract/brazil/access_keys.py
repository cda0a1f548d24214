"""Access keys of electronic fiscal documents: 44 places (NF-e family) and 50 (national NFS-e)."""

import re
from dataclasses import dataclass
from enum import StrEnum

from recibo.extract.brazil import states, tax_ids
from recibo.extract.brazil.check_digits import ends_soundly

# The issuer's place may hold letters since 2026 (alphanumeric CNPJ); all others are digits.
GOODS_SHAPE = re.compile(r"[0-9]{6}[0-9A-Z]{12}[0-9]{26}")
SERVICE_SHAPE = re.compile(r"[0-9]{9}[0-9A-Z]{12}[0-9]{29}")
GOODS_LENGTH = 44
SERVICE_LENGTH = 50

_FIRST_YEAR = 5  # the pilot of the NF-e
_LAST_YEAR = 60
_MONTHS = range(1, 13)


class Model(StrEnum):
    """Places 21 and 22 of a key: the fiscal model, of those that this library reads or meets."""

    NFE = "55"
    CTE = "57"
    MDFE = "58"
    CFE = "59"
    NFCOM = "62"
    BPE = "63"
    NFCE = "65"
    NF3E = "66"
    CTE_OS = "67"


_MODELS = frozenset(Model)


@dataclass(frozen=True, slots=True)
class AccessKey:
    """A key and what it says of its document."""

    #: 44 or 50 letters and digits.
    text: str
    #: Whether the check digit is right. Anonymised samples carry wrong ones.
    is_sound: bool
    #: Two letters.
    state: str
    year: int
    month: int
    #: The issuer's CNPJ, or the CPF of a person.
    issuer: str
    #: None for a service key.
    model: Model | None
    #: Without leading zeros.
    number: str
    #: Seven digits of the IBGE; only in a service key.
    municipality: str | None = None


def parse(text: str) -> AccessKey | None:
    """Read a bare key; None if its shape, state, month or model is none that exists."""
    match len(text):
        case 44:
            return _parse_goods(text)
        case 50:
            return _parse_service(text)
        case _:
            return None


def _parse_goods(text: str) -> AccessKey | None:
    if not GOODS_SHAPE.fullmatch(text) or text[20:22] not in _MODELS:
        return None
    model = Model(text[20:22])
    # A CF-e has the machine's serial where the others have series and number.
    number = text[31:37] if model is Model.CFE else text[25:34]
    return _dated(
        AccessKey(
            text=text,
            is_sound=ends_soundly(text),
            state=states.by_code(text[:2]),
            year=2000 + int(text[2:4]),
            month=int(text[4:6]),
            issuer=_issuer(text[6:20]),
            model=model,
            number=number.lstrip("0"),
        )
    )


def _parse_service(text: str) -> AccessKey | None:
    if not SERVICE_SHAPE.fullmatch(text) or text[7] not in "12" or text[8] not in "12":
        return None
    return _dated(
        AccessKey(
            text=text,
            is_sound=ends_soundly(text),
            state=states.by_code(text[:2]),
            year=2000 + int(text[36:38]),
            month=int(text[38:40]),
            issuer=text[12:23] if text[8] == "1" else text[9:23],
            model=None,
            number=text[23:36].lstrip("0"),
            municipality=text[:7],
        )
    )


def _dated(key: AccessKey) -> AccessKey | None:
    is_real = key.state and key.month in _MONTHS and _FIRST_YEAR <= key.year % 100 <= _LAST_YEAR
    return key if is_real else None


def _issuer(field: str) -> str:
    """Return the CNPJ, or the CPF that notes of rural producers carry behind three zeros."""
    is_person = field.startswith("000") and not tax_ids.is_cnpj(field) and tax_ids.is_cpf(field[3:])
    return field[3:] if is_person else field
