"""CNPJ and CPF, the tax ids of Brazilian companies and people: their shape and check digits."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from recibo.extract.brazil.check_digits import check_digit

_CNPJ = re.compile(r"[0-9A-Z]{12}[0-9]{2}")
_CPF = re.compile(r"[0-9]{11}")
_CPF_HEAVIEST = 11

#: A blank or two may stand inside a printed number: readers split at wide gaps.
_GAP = r"\s{0,2}"
# The slash is the sign that readers lose: it comes back as 1, I, l, 7, | or not at all.
_PRINTED = re.compile(
    rf"(?<![0-9A-Z.])"
    rf"(?P<cnpj>[0-9A-Z]{{2}}{_GAP}[.,]{_GAP}[0-9A-Z]{{3}}{_GAP}[.,]{_GAP}[0-9A-Z]{{3}}"
    rf"{_GAP}[/|\\IL17]?{_GAP}[0-9A-Z]{{4}}{_GAP}[-\u2013.]?{_GAP}[0-9]{{2}})(?![0-9])"
    rf"|(?<![0-9.])(?P<cpf>[0-9]{{3}}{_GAP}[.,]{_GAP}[0-9]{{3}}{_GAP}[.,]{_GAP}[0-9]{{3}}"
    rf"{_GAP}[-\u2013.]{_GAP}[0-9]{{2}})(?![0-9])"
    rf"|(?<![0-9A-Z])(?P<bare>[0-9]{{14}}|[0-9]{{8}}/[0-9]{{4}}-?[0-9]{{2}})(?![0-9])"
    # Dots get lost too; then the check digits must be right.
    r"|(?<![0-9A-Z.])(?P<loose>[0-9]{2}[.,\s]?[0-9]{3}[.,\s]?[0-9]{3}\s?[/|\\IL17]?\s?[0-9]{4}"
    r"[-\u2013.\s]?[0-9]{2})(?![0-9])"
)
_CNPJ_LENGTH = 14
#: Where the slash stands between root and order.
_ROOT_LENGTH = 8
_NO_DIGIT = re.compile(r"[^0-9A-Z]")
# In a check digit's place, or in a numeric CNPJ, a letter can only be a misread digit.
_LETTERS_AS_DIGITS = str.maketrans("OQDILSBZG", "000115826")


@dataclass(frozen=True, slots=True)
class PrintedTaxId:
    """A tax id met in a text."""

    #: 14 letters and digits of a CNPJ or 11 digits of a CPF.
    text: str
    #: Whether the check digits are right.
    is_sound: bool
    #: Where it stands in the text that was searched.
    start: int
    end: int
    #: Whether it is a mere run of digits, as product codes are too.
    is_bare: bool = False


def is_cnpj(text: str) -> bool:
    """Tell whether 14 bare characters are a CNPJ with right check digits, letters allowed."""
    if not _CNPJ.fullmatch(text) or len(set(text)) == 1:
        return False
    first = check_digit(text[:12])
    return text[12:] == first + check_digit(text[:12] + first)


def is_cpf(text: str) -> bool:
    """Tell whether 11 bare digits are a CPF with right check digits."""
    if not _CPF.fullmatch(text) or len(set(text)) == 1:
        return False
    first = check_digit(text[:9], heaviest=_CPF_HEAVIEST)
    return text[9:] == first + check_digit(text[:9] + first, heaviest=_CPF_HEAVIEST)


def is_tax_id(text: str) -> bool:
    """Tell whether the bare characters are a CNPJ or a CPF."""
    return is_cnpj(text) or is_cpf(text)


def find(text: str) -> Iterator[PrintedTaxId]:
    """Find the tax ids printed in a text, from left to right, sound or not."""
    for match in _PRINTED.finditer(text.upper()):
        bare = _NO_DIGIT.sub("", match[0])
        if match["cpf"]:
            yield PrintedTaxId(bare, is_cpf(bare), match.start(), match.end())
            continue
        bare = _mended_cnpj(bare)
        is_sound = is_cnpj(bare)
        if is_sound or not match["loose"]:
            is_bare = bool(match["bare"])
            yield PrintedTaxId(bare, is_sound, match.start(), match.end(), is_bare)


def _mended_cnpj(bare: str) -> str:
    """Undo a slash that was read as a letter or digit, and letters in the check digits."""
    if len(bare) == _CNPJ_LENGTH + 1:
        bare = bare[:_ROOT_LENGTH] + bare[_ROOT_LENGTH + 1 :]
    if is_cnpj(bare):
        return bare
    # An O among digits is a misread zero only if the check digits then agree.
    digits = bare.translate(_LETTERS_AS_DIGITS)
    return digits if is_cnpj(digits) else bare
