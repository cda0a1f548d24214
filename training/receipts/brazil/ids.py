"""Tax ids and access keys with valid check digits, and how documents print them.

Implemented independently of the reading library, so that each checks the other.
"""

import datetime as dt
import random
from dataclasses import dataclass

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_CNPJ_BODY = 12
_CPF_BODY = 9
_CPF_HEAVIEST = 11
_GROUP = 4
# Most companies have only one establishment.
_BRANCHES = ("0001", "0001", "0001", "0002", "0003", "0017", "0125")


@dataclass(frozen=True, slots=True)
class Numbering:
    """The parts of a key after its issuer: series, number, kind of emission, random code."""

    number: int
    series: int = 1
    #: 1 normal, 2 and 5 security form, 4 EPEC, 6 and 7 virtual contingency, 9 offline.
    emission: int = 1
    #: The random part, chosen by the issuer.
    noise: int | None = None


def check_digit(body: str, *, heaviest: int = 9) -> str:
    """Return the modulus 11 of a body; a letter counts as its ASCII code less 48."""
    span = heaviest - 1
    weighed = sum((ord(sign) - 48) * (2 + place % span) for place, sign in enumerate(body[::-1]))
    digit = 11 - weighed % 11
    return str(digit if digit < 10 else 0)


def cnpj(rng: random.Random, *, has_letters: bool = False) -> str:
    """Return a CNPJ, with letters as assigned since July 2026."""
    if has_letters:
        root = "".join(rng.choice(_LETTERS + "0123456789" * 2) for _ in range(8))
    else:
        root = f"{rng.randrange(1_000_000, 99_999_999):08d}"
    body = root + rng.choice(_BRANCHES)
    first = check_digit(body)
    return body + first + check_digit(body + first)


def cpf(rng: random.Random) -> str:
    """Return a CPF."""
    body = f"{rng.randrange(1_000_000, 999_999_999):09d}"
    first = check_digit(body, heaviest=_CPF_HEAVIEST)
    return body + first + check_digit(body + first, heaviest=_CPF_HEAVIEST)


def printed(number: str) -> str:
    """Return a CNPJ or a CPF with its dots, slash and dash."""
    if len(number) > _CPF_HEAVIEST:
        return f"{number[:2]}.{number[2:5]}.{number[5:8]}/{number[8:12]}-{number[12:]}"
    return f"{number[:3]}.{number[3:6]}.{number[6:9]}-{number[9:]}"


def access_key(
    *, state: int, at: dt.datetime, issuer: str, model: int, numbering: Numbering
) -> str:
    """Return the 44 characters of an NF-e or NFC-e key; a CPF is padded with zeros."""
    noise = numbering.number * 7 % 10**8 if numbering.noise is None else numbering.noise
    body = (
        f"{state:02d}{at:%y%m}{issuer:>014}{model:02d}{numbering.series:03d}"
        f"{numbering.number:09d}{numbering.emission}{noise:08d}"
    )
    return body + check_digit(body)


def coupon_key(*, state: int, at: dt.datetime, issuer: str, serial: int, number: int) -> str:
    """Return the 44 characters of a CF-e key, which contains the machine's serial number."""
    body = f"{state:02d}{at:%y%m}{issuer:>014}59{serial:09d}{number:06d}{number * 13 % 10**6:06d}"
    return body + check_digit(body)


def service_key(*, municipality: str, at: dt.datetime, issuer: str, number: int) -> str:
    """Return the 50 characters of a national NFS-e key."""
    kind = 2 if len(issuer) > _CPF_HEAVIEST else 1
    body = f"{municipality}2{kind}{issuer:>014}{number:013d}{at:%y%m}{number * 31 % 10**9:09d}"
    return body + check_digit(body)


def grouped(key: str, between: str = " ") -> str:
    """Return a key in groups of four, as most documents print it."""
    return between.join(key[start : start + _GROUP] for start in range(0, len(key), _GROUP))
