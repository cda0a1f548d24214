"""Access keys of electronic fiscal documents: 44 characters (NF-e family) or 50 (NFS-e)."""

import re
from dataclasses import dataclass
from enum import StrEnum

from recibo.extract.brazil import states, tax_ids
from recibo.extract.brazil.tax_ids import has_valid_check_digit

# The issuer's CNPJ may contain letters since 2026; all other characters are digits.
NFE_SHAPE = re.compile(r"[0-9]{6}[0-9A-Z]{12}[0-9]{26}")
NFSE_SHAPE = re.compile(r"[0-9]{9}[0-9A-Z]{12}[0-9]{29}")
NFE_LENGTH, NFSE_LENGTH = 44, 50

_FIRST_YEAR = 5  # the NF-e pilot
_LAST_YEAR = 60
_MONTHS = range(1, 13)


class Model(StrEnum):
    """The fiscal model of a document: characters 21 and 22 of its key."""

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
    """An access key and the fields that it encodes."""

    #: 44 or 50 letters and digits.
    text: str
    #: Whether the check digit is right; in anonymized samples it is wrong.
    is_valid: bool
    #: Two letters.
    state: str
    year: int
    month: int
    #: The issuer's CNPJ, or the CPF of a person.
    issuer: str
    #: None in the key of an NFS-e.
    model: Model | None
    #: Without leading zeros.
    number: str
    #: The IBGE code, seven digits; only in the key of an NFS-e.
    municipality: str | None = None


def parse(text: str) -> AccessKey | None:
    """Parse a key without separators; None if its shape, state, month or model is invalid."""
    match len(text):
        case 44:
            return _parse_nfe(text)
        case 50:
            return _parse_nfse(text)
        case _:
            return None


def _parse_nfe(text: str) -> AccessKey | None:
    if not NFE_SHAPE.fullmatch(text) or text[20:22] not in _MODELS:
        return None
    model = Model(text[20:22])
    # In a CF-e the device's serial number takes the place of series and number.
    number = text[31:37] if model is Model.CFE else text[25:34]
    return _dated(
        AccessKey(
            text=text,
            is_valid=has_valid_check_digit(text),
            state=states.by_code(text[:2]),
            year=2000 + int(text[2:4]),
            month=int(text[4:6]),
            issuer=_issuer(text[6:20]),
            model=model,
            number=number.lstrip("0"),
        )
    )


def _parse_nfse(text: str) -> AccessKey | None:
    if not NFSE_SHAPE.fullmatch(text) or text[7] not in "12" or text[8] not in "12":
        return None
    return _dated(
        AccessKey(
            text=text,
            is_valid=has_valid_check_digit(text),
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
    """Return the CNPJ, or the CPF of a rural producer, which follows three zeros."""
    is_person = field.startswith("000") and not tax_ids.is_cnpj(field) and tax_ids.is_cpf(field[3:])
    return field[3:] if is_person else field
