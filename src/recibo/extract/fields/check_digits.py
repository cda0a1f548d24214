"""Checks the check digits of tax numbers, with one rule per country and number.

Each rule takes letters and digits in upper case, with or without the prefix of the country.
Sources: the publications of the countries, as collected in the European
Commission's list of VAT number structures and ISO 7064.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from recibo.extract.brazil import tax_ids

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NIF_LENGTH = 9


def passes(rule: str, number: str) -> bool:
    """Return whether `number` passes the rule of this name."""
    return _RULES[rule](number)


def _digits(number: str, length: int) -> list[int]:
    """Return the last `length` characters as digits, or nothing if they are not all digits."""
    tail = number[-length:]
    return [int(digit) for digit in tail] if len(tail) == length and tail.isdecimal() else []


def _weighted(digits: Iterable[int], weights: Iterable[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))


def _luhn(number: str) -> bool:
    digits = [int(digit) for digit in number if digit.isdecimal()]
    doubled = [digit if index % 2 == 0 else digit * 2 for index, digit in enumerate(digits[::-1])]
    return bool(digits) and sum(digit // 10 + digit % 10 for digit in doubled) % 10 == 0


def _iso_7064_mod_11_10(digits: list[int]) -> bool:
    product = 10
    for digit in digits[:-1]:
        total = (digit + product) % 10 or 10
        product = total * 2 % 11
    return bool(digits) and (11 - product) % 10 == digits[-1]


def _de_ust(number: str) -> bool:
    return _iso_7064_mod_11_10(_digits(number, 9))


def _hr_oib(number: str) -> bool:
    return _iso_7064_mod_11_10(_digits(number, 11))


def _at_uid(number: str) -> bool:
    digits = _digits(number, 8)
    spread = [
        digit if index % 2 == 0 else digit // 5 + digit * 2 % 10
        for index, digit in enumerate(digits[:7])
    ]
    return bool(digits) and (96 - sum(spread)) % 10 == digits[7]


def _ch_uid(number: str) -> bool:
    match = re.match(r"(?:CHE)?(\d{9})", number)
    digits = [int(digit) for digit in match.group(1)] if match else []
    check = (11 - _weighted(digits[:8], (5, 4, 3, 2, 7, 6, 5, 4)) % 11) % 11
    return bool(digits) and check == digits[8]


def _fr_tva(number: str) -> bool:
    key, siren = number[-11:-9], number[-9:]
    if not siren.isdecimal():
        return False
    # Keys with letters, of new companies, have another rule that is not published in full.
    return not key.isdecimal() or (int(siren) * 100 + 12) % 97 == int(key)


def _it_iva(number: str) -> bool:
    return bool(_digits(number, 11)) and _luhn(number[-11:])


def _es_nif(number: str) -> bool:
    # The letters of the company may be E and S too, so the length decides.
    plain = number.removeprefix("ES") if len(number) > _NIF_LENGTH else number
    if plain[:1] in "ABCDEFGHJNPQRSUVW":
        return _es_company(plain)
    person = plain.translate(str.maketrans("XYZ", "012"))
    return person[:8].isdecimal() and "TRWAGMYFPDXBNJZSQVHLCKE"[int(person[:8]) % 23] == plain[-1]


def _es_company(number: str) -> bool:
    if not number[1:8].isdecimal():
        return False
    digits = [int(digit) for digit in number[1:8]]
    odd = sum(digit * 2 // 10 + digit * 2 % 10 for digit in digits[::2])
    control = (10 - (odd + sum(digits[1::2])) % 10) % 10
    return number[-1] in (str(control), "JABCDEFGHI"[control])


def _pt_nif(number: str) -> bool:
    digits = _digits(number, 9)
    rest = _weighted(digits[:8], range(9, 1, -1)) % 11
    return bool(digits) and (11 - rest) % 11 % 10 == digits[8]


def _nl_btw(number: str) -> bool:
    # Numbers of companies end their first part with a check digit; those given to
    # sole traders since 2020 pass modulo 97 as a whole.
    digits = _digits(number[2:11], 9)
    spelled = "".join(str(_ALPHABET.index(letter)) for letter in number)
    is_old = bool(digits) and _weighted(digits[:8], range(9, 1, -1)) % 11 == digits[8]
    return is_old or int(spelled) % 97 == 1


def _be_vat(number: str) -> bool:
    digits = number[-10:]
    return digits.isdecimal() and 97 - int(digits[:8]) % 97 == int(digits[8:])


def _lu_tva(number: str) -> bool:
    digits = number[-8:]
    return digits.isdecimal() and int(digits[:6]) % 89 == int(digits[6:])


def _gb_vat(number: str) -> bool:
    digits = _digits(number.removeprefix("GB")[:9], 9)
    total = _weighted(digits[:7], range(8, 1, -1)) + (digits[7] * 10 + digits[8] if digits else 0)
    return bool(digits) and (total % 97 == 0 or (total + 55) % 97 == 0)


def _ie_vat(number: str) -> bool:
    match = re.fullmatch(r"(?:IE)?(\d{7})([A-W])([A-I]?)", number)
    if match is None:
        return False
    more = 9 * (ord(match.group(3)) - ord("A") + 1) if match.group(3) else 0
    remainder = (_weighted(map(int, match.group(1)), range(8, 1, -1)) + more) % 23
    return match.group(2) == "WABCDEFGHIJKLMNOPQRSTUV"[remainder]


def _dk_cvr(number: str) -> bool:
    digits = _digits(number, 8)
    return bool(digits) and _weighted(digits, (2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def _se_org(number: str) -> bool:
    match = re.fullmatch(r"(?:SE)?(\d{10})(?:01)?", number)
    return match is not None and _luhn(match.group(1))


def _no_org(number: str) -> bool:
    digits = _digits(number.removesuffix("MVA"), 9)
    return bool(digits) and _weighted(digits, (3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def _fi_y(number: str) -> bool:
    digits = _digits(number, 8)
    return bool(digits) and _weighted(digits, (7, 9, 10, 5, 8, 4, 2, 1)) % 11 == 0


def _pl_nip(number: str) -> bool:
    digits = _digits(number, 10)
    return bool(digits) and _weighted(digits[:9], (6, 5, 7, 2, 3, 4, 5, 6, 7)) % 11 == digits[9]


def _au_abn(number: str) -> bool:
    digits = _digits(number, 11)
    weights = (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)
    return bool(digits) and (_weighted(digits, weights) - 10) % 89 == 0


def _ca_bn(number: str) -> bool:
    match = re.match(r"R?(\d{9})", number)
    return match is not None and _luhn(match.group(1))


def _ar_cuit(number: str) -> bool:
    digits = _digits(number, 11)
    check = (11 - _weighted(digits[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11) % 11
    return bool(digits) and check == digits[10]


def _cl_rut(number: str) -> bool:
    body = number[:-1]
    if not body.isdecimal():
        return False
    weights = [2 + index % 6 for index in range(len(body))]
    rest = (11 - _weighted([int(digit) for digit in body[::-1]], weights) % 11) % 11
    return number[-1] == "0123456789K"[rest]


def _pe_ruc(number: str) -> bool:
    digits = _digits(number, 11)
    rest = 11 - _weighted(digits[:10], (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return bool(digits) and rest % 10 == digits[10]


def _co_nit(number: str) -> bool:
    digits = _digits(number, len(number))
    rest = _weighted(digits[-2::-1], (3, 7, 13, 17, 19, 23, 29, 37, 41)) % 11
    return bool(digits) and (rest if rest <= 1 else 11 - rest) == digits[-1]


def _mx_rfc(number: str) -> bool:
    # The number begins with three letters for a company, four for a person.
    signs = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ"
    padded = number.rjust(13)
    total = sum(signs.index(sign) * (13 - index) for index, sign in enumerate(padded[:12]))
    return padded[-1] == "0123456789A0"[(11 - total % 11) % 11]


def _tr_vkn(number: str) -> bool:
    digits, total = _digits(number, 10), 0
    for index, digit in enumerate(digits[:9]):
        moved = (digit + 9 - index) % 10
        # The digital root of a multiple of nine is nine, that of zero is zero.
        total += moved and (moved * 2 ** (9 - index) % 9 or 9)
    return bool(digits) and (10 - total % 10) % 10 == digits[9]


def _ro_cif(number: str) -> bool:
    digits = _digits(number.removeprefix("RO"), len(number.removeprefix("RO")))
    total = _weighted(digits[-2::-1], (2, 3, 5, 7, 1, 2, 3, 5, 7))
    return bool(digits) and total * 10 % 11 % 10 == digits[-1]


def _gr_afm(number: str) -> bool:
    digits = _digits(number, 9)
    total = _weighted(digits[:8], (256, 128, 64, 32, 16, 8, 4, 2))
    return bool(digits) and total % 11 % 10 == digits[8]


def _hu_ado(number: str) -> bool:
    digits = _digits(number[:8], 8)
    return (
        bool(digits) and (10 - _weighted(digits[:7], (9, 7, 3, 1, 9, 7, 3)) % 10) % 10 == digits[7]
    )


def _th_tin(number: str) -> bool:
    digits = _digits(number, 13)
    return bool(digits) and (11 - _weighted(digits[:12], range(13, 1, -1)) % 11) % 10 == digits[12]


def _jp_corporate(number: str) -> bool:
    # The check digit comes first.
    digits = _digits(number, 13)
    weights = (1, 2) * 6
    return bool(digits) and 9 - _weighted(digits[:0:-1], weights) % 9 == digits[0]


def _kr_brn(number: str) -> bool:
    digits = _digits(number, 10)
    if not digits:
        return False
    total = _weighted(digits[:9], (1, 3, 7, 1, 3, 7, 1, 3, 5)) + digits[8] * 5 // 10
    return (10 - total % 10) % 10 == digits[9]


def _tw_ubn(number: str) -> bool:
    digits = _digits(number, 8)
    products = [
        digit * weight for digit, weight in zip(digits, (1, 2, 1, 2, 1, 2, 4, 1), strict=False)
    ]
    total = sum(product // 10 + product % 10 for product in products)
    # Since 2023 a multiple of five is enough; a seventh digit of 7 may count one more.
    is_seven = tuple(digits[6:7]) == (7,)
    return bool(digits) and (total % 5 == 0 or (is_seven and (total + 1) % 5 == 0))


def _in_gstin(number: str) -> bool:
    total = 0
    for index, letter in enumerate(number[:14]):
        product = _ALPHABET.index(letter) * (1 + index % 2)
        total += product // 36 + product % 36
    return _ALPHABET[(36 - total % 36) % 36] == number[14:]


_RULES: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        "luhn": _luhn,
        "ar_cuit": _ar_cuit,
        "at_uid": _at_uid,
        "au_abn": _au_abn,
        "be_vat": _be_vat,
        "br_cnpj": tax_ids.is_cnpj,
        "br_cpf": tax_ids.is_cpf,
        "ca_bn": _ca_bn,
        "ch_uid": _ch_uid,
        "cl_rut": _cl_rut,
        "de_ust": _de_ust,
        "dk_cvr": _dk_cvr,
        "es_nif": _es_nif,
        "fi_y": _fi_y,
        "fr_tva": _fr_tva,
        "gb_vat": _gb_vat,
        "hr_oib": _hr_oib,
        "ie_vat": _ie_vat,
        "pe_ruc": _pe_ruc,
        "co_nit": _co_nit,
        "mx_rfc": _mx_rfc,
        "tr_vkn": _tr_vkn,
        "ro_cif": _ro_cif,
        "gr_afm": _gr_afm,
        "hu_ado": _hu_ado,
        "th_tin": _th_tin,
        "jp_corporate": _jp_corporate,
        "kr_brn": _kr_brn,
        "tw_ubn": _tw_ubn,
        "in_gstin": _in_gstin,
        "it_iva": _it_iva,
        "lu_tva": _lu_tva,
        "nl_btw": _nl_btw,
        "no_org": _no_org,
        "pl_nip": _pl_nip,
        "pt_nif": _pt_nif,
        "se_org": _se_org,
    }
)
