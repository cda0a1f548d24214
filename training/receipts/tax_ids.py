"""Invented tax ids with valid check digits, as each country prints them."""

import random
from collections.abc import Callable, Sequence

from training.receipts.brazil import ids

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BASE_36 = "0123456789" + _LETTERS


def tax_id(rng: random.Random, scheme: str) -> str:
    """Return a number of the scheme as printed."""
    return _SCHEMES[scheme](rng)


def _digits(rng: random.Random, count: int) -> list[int]:
    return [rng.randint(1, 9), *(rng.randint(0, 9) for _ in range(count - 1))]


def _text(digits: Sequence[int]) -> str:
    return "".join(map(str, digits))


def _weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True))


def _luhn(digits: Sequence[int]) -> int:
    """Return the Luhn check digit."""
    doubled = (2 * digit if place % 2 == 0 else digit for place, digit in enumerate(digits[::-1]))
    return -sum(figure // 10 + figure % 10 for figure in doubled) % 10


def _with_digit(
    rng: random.Random, weights: Sequence[int], digit: Callable[[int], int]
) -> tuple[list[int], int]:
    """Return digits and their check digit; digits whose check digit would be 10 are drawn again."""
    while True:
        body = _digits(rng, len(weights))
        check = digit(_weighted(body, weights))
        if 0 <= check <= 9:
            return body, check


def _germany(rng: random.Random) -> str:
    body, product = _digits(rng, 8), 10
    for digit in body:
        product = 2 * ((digit + product) % 10 or 10) % 11
    return f"DE{_text(body)}{(11 - product) % 10}"


def _german_office(rng: random.Random) -> str:
    return f"{rng.randint(100, 399)}/{rng.randint(5000, 5999)}/{rng.randint(1000, 9999)}"


def _austria(rng: random.Random) -> str:
    body = _digits(rng, 7)
    crossed = (figure // 10 + figure % 10 for figure in (2 * digit for digit in body[1::2]))
    return f"ATU{_text(body)}{-(sum(body[::2]) + sum(crossed) + 4) % 10}"


def _switzerland(rng: random.Random) -> str:
    body, check = _with_digit(rng, (5, 4, 3, 2, 7, 6, 5, 4), lambda total: -total % 11)
    number = f"{_text(body)}{check}"
    ending = rng.choice((" MWST", " TVA", ""))
    return f"CHE-{number[:3]}.{number[3:6]}.{number[6:]}{ending}"


def _siren(rng: random.Random) -> str:
    body = _digits(rng, 8)
    return f"{_text(body)}{_luhn(body)}"


def _french_siret(rng: random.Random) -> str:
    body = [int(sign) for sign in _siren(rng)] + [0, 0, 0, rng.randint(1, 9)]
    number = f"{_text(body)}{_luhn(body)}"
    return (
        f"{number[:3]} {number[3:6]} {number[6:9]} {number[9:]}" if rng.random() < 0.5 else number
    )


def _france(rng: random.Random) -> str:
    siren = _siren(rng)
    return f"FR{(12 + 3 * (int(siren) % 97)) % 97:02d}{siren}"


def _belgium(rng: random.Random) -> str:
    body = f"0{_text(_digits(rng, 7))}"
    number = f"{body}{97 - int(body) % 97:02d}"
    return rng.choice((f"BE{number}", f"BE {number[:4]}.{number[4:7]}.{number[7:]}"))


def _italy(rng: random.Random) -> str:
    body = [0, *_digits(rng, 9)]
    return f"{_text(body)}{_luhn(body)}"


def _netherlands(rng: random.Random) -> str:
    body, check = _with_digit(rng, (9, 8, 7, 6, 5, 4, 3, 2), lambda total: total % 11)
    return f"NL{_text(body)}{check}B01"


def _spain(rng: random.Random) -> str:
    body = _digits(rng, 7)
    return f"{rng.choice('AB')}{_text(body)}{_luhn(body)}"


def _portugal(rng: random.Random) -> str:
    weights = (9, 8, 7, 6, 5, 4, 3, 2)
    body = [5, *_digits(rng, 7)]
    check = 11 - _weighted(body, weights) % 11
    number = f"{_text(body)}{check if check < 10 else 0}"
    return rng.choice((number, f"PT{number}"))


def _britain(rng: random.Random) -> str:
    body = _digits(rng, 7)
    number = f"{_text(body)}{97 - _weighted(body, (8, 7, 6, 5, 4, 3, 2)) % 97:02d}"
    return rng.choice((f"GB{number}", f"{number[:3]} {number[3:7]} {number[7:]}", f"GB {number}"))


def _ireland(rng: random.Random) -> str:
    body = _digits(rng, 7)
    letter = "WABCDEFGHIJKLMNOPQRSTUV"[_weighted(body, (8, 7, 6, 5, 4, 3, 2)) % 23]
    return f"IE{_text(body)}{letter}"


def _canada(rng: random.Random) -> str:
    body = _digits(rng, 8)
    return f"{_text(body)}{_luhn(body)} RT0001"


def _australia(rng: random.Random) -> str:
    body = _digits(rng, 9)
    # The first two digits make the weighted sum a multiple of 89, with the first digit less one.
    rest = _weighted(body, (3, 5, 7, 9, 11, 13, 15, 17, 19))
    front = next(
        front for front in range(10, 100) if ((front // 10 - 1) * 10 + front % 10 + rest) % 89 == 0
    )
    number = _text(body)
    return f"{front} {number[:3]} {number[3:6]} {number[6:]}"


def _india(rng: random.Random) -> str:
    letters = "".join(rng.choices(_LETTERS, k=3))
    pan = f"{letters}C{rng.choice(_LETTERS)}{rng.randint(1000, 9999)}{rng.choice(_LETTERS)}"
    body = f"{rng.choice((27, 29))}{pan}1Z"
    total = 0
    for place, sign in enumerate(body):
        product = _BASE_36.index(sign) * (1 + place % 2)
        total += product // 36 + product % 36
    return f"{body}{_BASE_36[-total % 36]}"


def _malaysia(rng: random.Random) -> str:
    return f"W10-{rng.randint(1801, 2309)}-{rng.randint(31000000, 32999999)}"


def _mexico(rng: random.Random) -> str:
    """Return an RFC: its check digit is modulus 11 over a special alphabet."""
    alphabet = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ"
    letters = "".join(rng.choices(_LETTERS, k=3))
    day = f"{rng.randint(1, 20):02d}{rng.randint(1, 12):02d}{rng.randint(1, 28):02d}"
    body = f"{letters}{day}{''.join(rng.choices(_BASE_36, k=2))}"
    values = [37, *(alphabet.index(sign) for sign in body)]
    check = 11 - _weighted(values, range(13, 1, -1)) % 11
    return f"{body}{ {10: 'A', 11: '0'}.get(check, check) }"


def _argentina(rng: random.Random) -> str:
    weights = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)
    while True:
        body = [3, 0, *_digits(rng, 8)]
        check = 11 - _weighted(body, weights) % 11
        if check != 10:
            break
    number = _text(body)
    return f"{number[:2]}-{number[2:]}-{check % 11}"


def _chile(rng: random.Random) -> str:
    body = [7, *_digits(rng, 7)]
    check = 11 - _weighted(body, (3, 2, 7, 6, 5, 4, 3, 2)) % 11
    number = _text(body)
    return f"{number[:2]}.{number[2:5]}.{number[5:]}-{ {10: 'K', 11: '0'}.get(check, check) }"


def _brazil(rng: random.Random) -> str:
    return ids.printed(ids.cnpj(rng))


_SCHEMES: dict[str, Callable[[random.Random], str]] = {
    "de": _germany,
    "de_office": _german_office,
    "at": _austria,
    "ch": _switzerland,
    "fr": _france,
    "fr_siret": _french_siret,
    "be": _belgium,
    "it": _italy,
    "nl": _netherlands,
    "es": _spain,
    "pt": _portugal,
    "gb": _britain,
    "ie": _ireland,
    "ca": _canada,
    "au": _australia,
    "in": _india,
    "my": _malaysia,
    "mx": _mexico,
    "ar": _argentina,
    "cl": _chile,
    "br": _brazil,
}
