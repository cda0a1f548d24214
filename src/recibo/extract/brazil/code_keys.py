"""Access keys in the bar codes and QR codes of a page, and what is left aside.

Boleto bars hold 44 digits too (ITF), PIX and advertising use QR codes, goods bear EAN: none of them
passes as a key, because state, month and model must exist and ITF must have a right check digit.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recibo.extract.brazil import access_keys, qr_payloads
from recibo.extract.brazil.qr_payloads import Payload
from recibo.extract.model import Code

#: A SAT extract may print its key as two bars of 22 digits, one above the other.
_HALF = access_keys.GOODS_LENGTH // 2
_BARS = frozenset({"Code128", "ITF", "Code39"})
#: An extract has two such bars; each of so many on a page is tried with every other.
_MOST_HALVES = 16
#: Symbologies that invoices do not use for keys, so that only a right check digit convinces.
_DOUBTFUL = frozenset({"ITF", "Code39"})


@dataclass(frozen=True, slots=True)
class CodedKey:
    """A key that a code on the page says, with whatever else the code tells."""

    payload: Payload
    code: Code


def read(codes: Sequence[Code]) -> tuple[CodedKey, ...]:
    """Return the keys in the codes of a document, those that tell most first."""
    found = [*_whole(codes), *_halves(codes)]
    return tuple(sorted(found, key=lambda coded: -_weight(coded)))


def _weight(coded: CodedKey) -> int:
    """Rank: a right check digit first, then a QR code, which only its own document bears."""
    return 2 * coded.payload.key.is_sound + (coded.code.symbology not in _BARS)


def _whole(codes: Sequence[Code]) -> Iterator[CodedKey]:
    for code in codes:
        payload = qr_payloads.parse(code.text)
        if payload and (payload.key.is_sound or code.symbology not in _DOUBTFUL):
            yield CodedKey(payload, code)


def _halves(codes: Sequence[Code]) -> Iterator[CodedKey]:
    """Join two bars of 22 digits, the upper one first; the check digit must confirm it."""
    halves = [code for code in codes if code.symbology in _BARS and len(code.text) == _HALF]
    halves.sort(key=lambda code: (code.page, code.box.y_centre, code.box.x_centre))
    for _, page in itertools.groupby(halves, key=lambda code: code.page):
        for upper, lower in itertools.permutations(itertools.islice(page, _MOST_HALVES), 2):
            key = access_keys.parse(upper.text + lower.text)
            if key is not None and key.is_sound:
                yield CodedKey(Payload(key), _joined(upper, lower))


def _joined(upper: Code, lower: Code) -> Code:
    return Code(upper.symbology, upper.text + lower.text, upper.box.union(lower.box), upper.page)
