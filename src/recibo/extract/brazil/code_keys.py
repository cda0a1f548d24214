"""Finds access keys in the barcodes and QR codes of a page.

Other codes are not mistaken for a key: the 44 digits of a boleto (ITF), the QR codes of PIX and
advertising, the EAN of products. State, month and model must exist, and an ITF code needs a valid
check digit.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recibo.extract.brazil import access_keys, qr_payloads
from recibo.extract.brazil.qr_payloads import Payload
from recibo.extract.model import Code

#: A SAT extract may print its key as two barcodes of 22 digits, one above the other.
_HALF = access_keys.NFE_LENGTH // 2
_BARS = frozenset({"Code128", "ITF", "Code39"})
#: An extract has two of them; at most this many per page are tried with each other.
_MOST_HALVES = 16
#: Symbologies that fiscal documents do not use for keys: they need a valid check digit.
_DOUBTFUL = frozenset({"ITF", "Code39"})


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
