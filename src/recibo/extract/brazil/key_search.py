"""Finds access keys in the text of a page.

A key is printed in eleven groups of four, or in one run, separated by spaces, dots or dashes; on
narrow receipts it takes two lines. OCR may join it to its label, split it or lose digits.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from recibo.extract.brazil import access_keys, qr_payloads, tax_ids
from recibo.extract.brazil.access_keys import AccessKey
from recibo.extract.brazil.qr_payloads import Payload
from recibo.extract.model import Code

#: A key is printed in eleven groups of four.
_GROUP = 4
_GROUPS = 11
#: A page full of numbers has very many groups, and each costs some hundred trials.
_MOST_REPAIRS = 50
#: The most runs of digits as long as a key that are tried; a page of 2,300 words has 400.
_MOST_CANDIDATES = 10_000
#: No printed line is longer; longer ones are data hidden in the page.
_LONGEST_LINE = 600
#: On a narrow receipt a key takes two lines, rarely three.
_MOST_LINES = 3

#: A key has at least this many digits, or letters that look like digits.
_FEWEST_DIGITS = 32

_BETWEEN = r"[\s.,\-\u2013/:|]{0,3}"
_DIGIT = "[0-9OQDILSBZ]"
#: The groups of a key in a line; the runs in which zeros may be lost, and the most of them.
_GROUP_OF_DIGITS = re.compile(r"(?<![0-9A-Z.,/-])[0-9]{4,}(?![0-9A-Z.,/-])")
_ZEROS = re.compile(r"0{4,}")
_MOST_ZEROS = 4
#: A SAT extract may print its key as two barcodes of 22 digits, one above the other.
_HALF = access_keys.NFE_LENGTH // 2
_BARS = frozenset({"Code128", "ITF", "Code39"})
#: An extract has two of them; at most this many per page are tried with each other.
_MOST_HALVES = 16
#: Symbologies that fiscal documents do not use for keys: they need a valid check digit.
_DOUBTFUL = frozenset({"ITF", "Code39"})


def _shape(parts: Iterable[tuple[str, int]]) -> re.Pattern[str]:
    """Return a pattern that finds a key at every position, with separators allowed inside."""
    letters = [unit for unit, count in parts for _ in range(count)]
    # With a lookahead, candidates may overlap, so an extra digit in front does no harm.
    return re.compile(f"(?=({_BETWEEN.join(letters)}))")


_ANY_DIGIT = re.compile(_DIGIT)
_LETTER = "[0-9A-Z]"
_NFE = _shape([(_DIGIT, 6), (_LETTER, 12), (_DIGIT, 26)])
_NFSE = _shape([(_DIGIT, 9), (_LETTER, 12), (_DIGIT, 29)])
_FIGURE = re.compile(
    r"(?<![0-9.,/-])[0-9]{1,3}(?:\.[0-9]{3}){1,2}(?![0-9.,/-])|(?<![0-9])[0-9]{1,9}(?![0-9])"
)
_NOT_KEY = re.compile(r"[^0-9A-Z]")
#: Digits that OCR reads for letters of an alphanumeric CNPJ.
_AS_LETTERS = {"0": "O", "1": "I"}
_AS_DIGITS = str.maketrans("OQDILSBZ", "00011582")


@dataclass(frozen=True, slots=True)
class PrintedKey:
    """A key found in the text."""

    key: AccessKey
    #: The text it was read from.
    text: str
    #: Its lines, as indices into the lines searched.
    lines: range
    #: Whether a character was corrected by means of check digits.
    is_repaired: bool = False


def find(lines: Sequence[str], *, known: Iterable[str] = ()) -> tuple[PrintedKey, ...]:
    """Find the keys in lines of text, those with a valid check digit first.

    Args:
        lines: The lines from top to bottom.
        known: Tax ids printed on the page; they decide which repair of a damaged key is right.
    """
    found: dict[str, PrintedKey] = {}
    digits = [len(_ANY_DIGIT.findall(line.upper())) for line in lines]
    spans = (
        span for span in _spans(lines) if sum(digits[span.start : span.stop]) >= _FEWEST_DIGITS
    )
    candidates = ((match, span) for span in spans for match in _candidates(lines, span))
    for match, span in itertools.islice(candidates, _MOST_CANDIDATES):
        if printed := _read(match, span):
            found.setdefault(printed.key.text, printed)
    issuers = frozenset(known)
    valid = [printed.key for printed in found.values() if printed.key.is_valid]
    # A valid key of another issuer is quoted, and that of the document may be damaged.
    if not valid or (issuers and not any(key.issuer in issuers for key in valid)):
        for printed in itertools.chain(_repaired(lines, issuers), _with_zeros(lines, issuers)):
            found.setdefault(printed.key.text, printed)
    return tuple(sorted(found.values(), key=lambda printed: not printed.key.is_valid))


def _spans(lines: Sequence[str]) -> Iterator[range]:
    """Return every run of up to three lines, single lines first."""
    for length in range(1, _MOST_LINES + 1):
        for first in range(len(lines) - length + 1):
            yield range(first, first + length)


def _candidates(lines: Sequence[str], span: range) -> Iterator[re.Match[str]]:
    """Yield candidates for keys that begin in the first line of the span and end in its last."""
    joined = "\n".join(lines[index] for index in span).upper()
    is_plain = joined.count("\n") == len(span) - 1
    if not is_plain or not access_keys.NFE_LENGTH <= len(joined) <= _LONGEST_LINE:
        return
    for match in itertools.chain(_NFSE.finditer(joined), _NFE.finditer(joined)):
        if match[1].count("\n") == len(span) - 1:
            yield match


def _read(match: re.Match[str], span: range) -> PrintedKey | None:
    keys = [
        key
        for bare in _readings(_NOT_KEY.sub("", match[1]))
        if (key := access_keys.parse(bare)) is not None
    ]
    valid = next((key for key in keys if key.is_valid), None)
    if valid or (keys and _is_separate(match.string, match)):
        return PrintedKey(valid or keys[0], match[1], span)
    return None


def _readings(bare: str) -> Iterator[str]:
    """Yield the key with misread letters made digits outside the issuer, then everywhere."""
    first = 6 if len(bare) == access_keys.NFE_LENGTH else 9
    head, issuer, tail = bare[:first], bare[first : first + 12], bare[first + 12 :]
    head, tail = head.translate(_AS_DIGITS), tail.translate(_AS_DIGITS)
    yield head + issuer + tail
    # An alphanumeric CNPJ may contain a real O or I, so its check digits must confirm the change.
    digits = issuer.translate(_AS_DIGITS)
    if digits != issuer and tax_ids.is_cnpj(digits + tail[:2]):
        yield head + digits + tail
    if not issuer.isdecimal():
        lettered = (each for each in _with_letters(issuer) if tax_ids.is_cnpj(each + tail[:2]))
        yield from (head + each + tail for each in lettered)


def _with_letters(issuer: str) -> Iterator[str]:
    """Yield an issuer with one or two of its digits replaced by letters that look like them."""
    places = [place for place, sign in enumerate(issuer) if sign in _AS_LETTERS]
    for count in (1, 2):
        for chosen in itertools.combinations(places, count):
            yield "".join(
                _AS_LETTERS[sign] if place in chosen else sign for place, sign in enumerate(issuer)
            )


def _is_separate(text: str, match: re.Match[str]) -> bool:
    """Return whether no digit touches the key on either side."""
    start, end = match.span(1)
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return not re.search(r"[0-9]", before + after)


def _repaired(lines: Sequence[str], known: frozenset[str]) -> Iterator[PrintedKey]:
    """Repair keys of eleven groups in which one digit is missing, doubled or wrong.

    A key is repaired only if check digits, printed tax ids and numbers leave a single result.
    """
    for window, span in itertools.islice(_damaged_keys(lines), _MOST_REPAIRS):
        valid = _valid_repairs(window, known)
        if len(valid) > 1:
            figures = _figures([*lines[: span.start], *lines[span.stop :]])
            valid = {key for key in valid if key.number in figures}
        if len(valid) == 1:
            yield PrintedKey(valid.pop(), " ".join(window), span, is_repaired=True)


def _with_zeros(lines: Sequence[str], known: frozenset[str]) -> Iterator[PrintedKey]:
    """Add the zeros that OCR lost in a long run of them, where check digits prove it."""
    for index, line in enumerate(lines):
        bare = "".join(_GROUP_OF_DIGITS.findall(line)) if len(line) <= _LONGEST_LINE else ""
        for length in (access_keys.NFE_LENGTH, access_keys.NFSE_LENGTH):
            missing = length - len(bare)
            if not 0 < missing <= _MOST_ZEROS:
                continue
            for run in _ZEROS.finditer(bare):
                text = bare[: run.start()] + "0" * missing + bare[run.start() :]
                key = access_keys.parse(text)
                if key is not None and key.is_valid and key.issuer in known:
                    yield PrintedKey(key, line, range(index, index + 1), is_repaired=True)


def _figures(lines: Iterable[str]) -> frozenset[str]:
    """Return the whole numbers in lines of text, written like the number in a key."""
    found = (_FIGURE.findall(line) for line in lines)
    return frozenset(each.replace(".", "").lstrip("0") for each in itertools.chain(*found))


def _damaged_keys(lines: Sequence[str]) -> Iterator[tuple[list[str], range]]:
    """Return the runs of eleven groups that may be a damaged key, with their lines."""
    for span in _spans(lines):
        groups = re.findall(r"[0-9A-Z]+", " ".join(lines[index] for index in span).upper())
        for first in range(len(groups) - _GROUPS + 1):
            window = groups[first : first + _GROUPS]
            if _is_damaged_key(window):
                yield window, span


def _is_damaged_key(groups: Sequence[str]) -> bool:
    """Return whether these are eleven groups, at most one of them not of four characters."""
    lengths = [len(group) for group in groups]
    odd = [length for length in lengths if length != _GROUP]
    return (
        len(groups) == _GROUPS
        and len(odd) <= 1
        and all(abs(length - _GROUP) == 1 for length in odd)
        and sum(letter.isdigit() for letter in "".join(groups)) >= _GROUP * 8
    )


def _valid_repairs(groups: Sequence[str], known: frozenset[str]) -> set[AccessKey]:
    """Return the keys, with one group repaired, that are valid and name an issuer on the page."""
    odd = [index for index, group in enumerate(groups) if len(group) != _GROUP]
    suspects = odd or range(len(groups))
    repairs: set[AccessKey] = set()
    for suspect in suspects:
        for variant in _variants(groups[suspect]):
            text = "".join([*groups[:suspect], variant, *groups[suspect + 1 :]])
            key = access_keys.parse(text)
            if key is not None and key.is_valid and key.issuer in known:
                repairs.add(key)
    return repairs


def _variants(group: str) -> Iterator[str]:
    """Yield the groups of four that OCR may have misread as this one."""
    digits = "0123456789"
    if len(group) == _GROUP - 1:
        for place, digit in itertools.product(range(_GROUP), digits):
            yield group[:place] + digit + group[place:]
    elif len(group) == _GROUP + 1:
        for place in range(len(group)):
            yield group[:place] + group[place + 1 :]
    else:
        for place, digit in itertools.product(range(_GROUP), digits):
            yield group[:place] + digit + group[place + 1 :]


@dataclass(frozen=True, slots=True)
class CodedKey:
    """An access key in a code on the page, with the other data of the code."""

    payload: Payload
    code: Code


def read(codes: Sequence[Code]) -> tuple[CodedKey, ...]:
    """Return the keys in the codes of a document, the most reliable first."""
    found = [*_whole(codes), *_halves(codes)]
    return tuple(sorted(found, key=lambda coded: -_weight(coded)))


def _weight(coded: CodedKey) -> int:
    """Rank a key: a valid check digit first, then a QR code, which is never of another document."""
    return 2 * coded.payload.key.is_valid + (coded.code.symbology not in _BARS)


def _whole(codes: Sequence[Code]) -> Iterator[CodedKey]:
    for code in codes:
        payload = qr_payloads.parse(code.text)
        if payload and (payload.key.is_valid or code.symbology not in _DOUBTFUL):
            yield CodedKey(payload, code)


def _halves(codes: Sequence[Code]) -> Iterator[CodedKey]:
    """Join two barcodes of 22 digits, the upper one first, if the check digit is valid."""
    halves = [code for code in codes if code.symbology in _BARS and len(code.text) == _HALF]
    halves.sort(key=lambda code: (code.page, code.box.y_center, code.box.x_center))
    for _, page in itertools.groupby(halves, key=lambda code: code.page):
        for upper, lower in itertools.permutations(itertools.islice(page, _MOST_HALVES), 2):
            key = access_keys.parse(upper.text + lower.text)
            if key is not None and key.is_valid:
                yield CodedKey(Payload(key), _joined(upper, lower))


def _joined(upper: Code, lower: Code) -> Code:
    return Code(upper.symbology, upper.text + lower.text, upper.box.union(lower.box), upper.page)
