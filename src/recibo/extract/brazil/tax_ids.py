"""CNPJ and CPF, the tax ids of Brazilian companies and people: their shape and check digits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CNPJ = re.compile(r"[0-9A-Z]{12}[0-9]{2}")
_CPF = re.compile(r"[0-9]{11}")
_CPF_HEAVIEST = 11

#: A printed number may contain spaces: OCR splits at wide gaps.
_GAP = r"\s{0,2}"
# OCR reads the slash as 1, I, l, 7 or |, or not at all.
_PRINTED = re.compile(
    rf"(?<![0-9A-Z.])"
    rf"(?P<cnpj>[0-9A-Z]{{2}}{_GAP}[.,]{_GAP}[0-9A-Z]{{3}}{_GAP}[.,]{_GAP}[0-9A-Z]{{3}}"
    rf"{_GAP}[/|\\IL17]?{_GAP}[0-9A-Z]{{4}}{_GAP}[-\u2013.]?{_GAP}[0-9]{{2}})(?![0-9])"
    rf"|(?<![0-9.])(?P<cpf>[0-9]{{3}}{_GAP}[.,]{_GAP}[0-9]{{3}}{_GAP}[.,]{_GAP}[0-9]{{3}}"
    rf"{_GAP}[-\u2013.]{_GAP}[0-9]{{2}})(?![0-9])"
    rf"|(?<![0-9A-Z])(?P<bare>[0-9]{{14}}|[0-9]{{8}}/[0-9]{{4}}-?[0-9]{{2}})(?![0-9])"
    # Dots may be missing too; then the check digits must be valid.
    r"|(?<![0-9A-Z.])(?P<loose>[0-9]{2}[.,\s]?[0-9]{3}[.,\s]?[0-9]{3}\s?[/|\\IL17]?\s?[0-9]{4}"
    r"[-\u2013.\s]?[0-9]{2})(?![0-9])"
)
_CNPJ_LENGTH = 14
#: The length of the root, which precedes the slash.
_ROOT_LENGTH = 8
_NO_DIGIT = re.compile(r"[^0-9A-Z]")
# A letter among the check digits, or in a numeric CNPJ, is a misread digit.
_LETTERS_AS_DIGITS = str.maketrans("OQDILSBZG", "000115826")
_ZERO = ord("0")


@dataclass(frozen=True, slots=True)
class PrintedTaxId:
    """A tax id found in a text."""

    #: 14 letters and digits of a CNPJ or 11 digits of a CPF.
    text: str
    #: Whether the check digits are valid.
    is_valid: bool
    #: Its position in the text that was searched.
    start: int
    end: int
    #: Whether it is printed without separators, as product codes are too.
    is_bare: bool = False


def is_cnpj(text: str) -> bool:
    """Return whether 14 characters are a CNPJ with valid check digits; letters are allowed."""
    if not _CNPJ.fullmatch(text) or len(set(text)) == 1:
        return False
    first = check_digit(text[:12])
    return text[12:] == first + check_digit(text[:12] + first)


def is_cpf(text: str) -> bool:
    """Return whether 11 digits are a CPF with valid check digits."""
    if not _CPF.fullmatch(text) or len(set(text)) == 1:
        return False
    first = check_digit(text[:9], heaviest=_CPF_HEAVIEST)
    return text[9:] == first + check_digit(text[:9] + first, heaviest=_CPF_HEAVIEST)


def is_tax_id(text: str) -> bool:
    """Return whether the characters, without separators, are a CNPJ or a CPF."""
    return is_cnpj(text) or is_cpf(text)


def find(text: str) -> Iterator[PrintedTaxId]:
    """Find the tax ids printed in a text, from left to right, valid or not."""
    for match in _PRINTED.finditer(text.upper()):
        bare = _NO_DIGIT.sub("", match[0])
        if match["cpf"]:
            yield PrintedTaxId(bare, is_cpf(bare), match.start(), match.end())
            continue
        bare = _repaired_cnpj(bare)
        is_valid = is_cnpj(bare)
        if is_valid or not match["loose"]:
            is_bare = bool(match["bare"])
            yield PrintedTaxId(bare, is_valid, match.start(), match.end(), is_bare)


def _repaired_cnpj(bare: str) -> str:
    """Remove a slash that was read as a letter or digit, and letters in the check digits."""
    if len(bare) == _CNPJ_LENGTH + 1:
        bare = bare[:_ROOT_LENGTH] + bare[_ROOT_LENGTH + 1 :]
    if is_cnpj(bare):
        return bare
    # An O among digits is a misread zero only if the check digits are then valid.
    digits = bare.translate(_LETTERS_AS_DIGITS)
    return digits if is_cnpj(digits) else bare


def check_digit(body: str, *, heaviest: int = 9) -> str:
    """Return the digit that follows `body`.

    From the right, the weights run from 2 to `heaviest` and start again.
    """
    span = heaviest - 1
    weighed = sum(
        (ord(letter) - _ZERO) * (2 + place % span) for place, letter in enumerate(reversed(body))
    )
    # The difference to the next multiple of eleven; ten and eleven are written as zero.
    return str((11 - weighed % 11) % 11 % 10)


def has_valid_check_digit(text: str, *, heaviest: int = 9) -> bool:
    """Return whether the last character is the check digit of the others."""
    return len(text) > 1 and text[-1] == check_digit(text[:-1], heaviest=heaviest)
