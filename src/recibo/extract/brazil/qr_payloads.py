"""Parses the QR codes of fiscal documents.

Sources: the technical manual of the NFC-e's QR code (versions 1 to 3), NT 2025.001, the SAT's
specification of the extract, NT 008/2026 of the national NFS-e.
"""

import datetime as dt
import re
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import unquote

from recibo.extract.brazil import access_keys, tax_ids
from recibo.extract.brazil.access_keys import AccessKey, Model

_KEY = re.compile(
    r"(?<![0-9A-Z])([0-9]{9}[0-9A-Z]{12}[0-9]{29}|[0-9]{6}[0-9A-Z]{12}[0-9]{26})(?![0-9A-Z])"
)
_PARAMETER = re.compile(r"[?&](\w+)=([^&]*)")
_AMOUNT = re.compile(r"[0-9]{1,13}(?:[.,][0-9]{1,2})?")
_SAT_TIME = re.compile(r"[0-9]{14}")
_DAY = re.compile(r"[0-9]{1,2}")
_TEST_ENVIRONMENT = "2"
#: An offline NFC-e has day and total between environment and digest: at least seven fields.
_OFFLINE_FIELDS = 7


@dataclass(frozen=True, slots=True)
class Payload:
    """The data of a QR code; None if this kind of code does not contain it."""

    key: AccessKey
    #: Local time of issue, with an offset only if the code has one (NFC-e version 1).
    issued_at: dt.datetime | None = None
    #: Day of the key's month, in an offline NFC-e.
    day: int | None = None
    total: Decimal | None = None
    #: The consumer's CPF or CNPJ.
    consumer: str | None = None
    #: Whether it is from the test environment, without fiscal value.
    is_test: bool = False


def parse(text: str) -> Payload | None:
    """Parse a code; None if it has no access key (a payment, a product, an advertisement)."""
    plain = unquote(text.strip())
    match = _KEY.search(plain.upper())
    key = access_keys.parse(match[1]) if match else None
    if key is None or match is None:
        return None
    fields = plain[match.end() :].split("|")[1:]
    if key.model is Model.CFE:
        return _sat(key, fields)
    if key.model is Model.NFCE:
        return _pipes(key, fields) if fields else _parameters(key, plain)
    return Payload(key)


def _sat(key: AccessKey, fields: list[str]) -> Payload:
    """Read `key|AAAAMMDDhhmmss|total|consumer|signature`."""
    stamp, amount, consumer = (*fields, "", "", "")[:3]
    issued_at = None
    if _SAT_TIME.fullmatch(stamp):
        issued_at = _time(f"{stamp[:8]}T{stamp[8:]}")
    return Payload(key, issued_at=issued_at, total=_amount(amount), consumer=_consumer(consumer))


def _pipes(key: AccessKey, fields: list[str]) -> Payload:
    """Read `p=key|version|environment|…`, versions 2 and 3."""
    is_test = len(fields) > 1 and fields[1] == _TEST_ENVIRONMENT
    if len(fields) + 1 < _OFFLINE_FIELDS or not _DAY.fullmatch(fields[2]):
        return Payload(key, is_test=is_test)
    day = int(fields[2])
    # Without decimals it is another field of a code in a wrong order.
    total = None if fields[3].isdigit() else _amount(fields[3])
    return Payload(key, day=day, total=total, is_test=is_test)


def _parameters(key: AccessKey, plain: str) -> Payload:
    """Read version 1: named parameters, the time of issue as the hexadecimal of its ASCII text."""
    parameters = {name.lower(): value for name, value in _PARAMETER.findall(plain)}
    return Payload(
        key,
        issued_at=_hexadecimal_time(parameters.get("dhemi", "")),
        total=_amount(parameters.get("vnf", "")),
        consumer=_consumer(parameters.get("cdest", "")),
        is_test=parameters.get("tpamb") == _TEST_ENVIRONMENT,
    )


def _consumer(text: str) -> str | None:
    """Return a CPF or CNPJ without separators; None if it is neither."""
    bare = re.sub(r"[^0-9A-Z]", "", text.upper())
    return bare if tax_ids.is_tax_id(bare) else None


def _hexadecimal_time(text: str) -> dt.datetime | None:
    try:
        return _time(bytes.fromhex(text).decode("ascii"))
    except ValueError:
        return None


def _time(text: str) -> dt.datetime | None:
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return None


def _amount(text: str) -> Decimal | None:
    return Decimal(text.replace(",", ".")) if _AMOUNT.fullmatch(text) else None
