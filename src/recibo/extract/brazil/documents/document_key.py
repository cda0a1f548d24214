"""Finds the access key of a document in its codes or its text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from recibo.extract.brazil import key_search, tax_ids
from recibo.extract.brazil.access_keys import AccessKey
from recibo.extract.brazil.key_search import PrintedKey
from recibo.extract.brazil.qr_payloads import Payload
from recibo.extract.model import Extracted, Line, TextPage, around

T = TypeVar("T")

_QUOTED = re.compile(r"REFER[EÊ]NC|\bREF\b", re.IGNORECASE)

#: A part of a key in a separate line: at least three of its groups, or its label is joined to it.
_RUN_DIGITS, _RUN_SHARE = 12, 0.6

#: A code has error correction; a printed key has only a check digit, right by chance in 1 of 11.
_CODED = 0.99
_PRINTED = 0.95
_REPAIRED = 0.8
_INVALID = 0.6


@dataclass(frozen=True, slots=True)
class FoundKey:
    """An access key with its evidence."""

    key: AccessKey
    extracted: Extracted[str]
    #: The other data of the QR code.
    payload: Payload | None = None
    #: Whether it is printed as the key of another document.
    is_quoted: bool = False

    def derive(self, value: T) -> Extracted[T]:
        """Return a value from the key or its code, with the evidence of the key."""
        found = self.extracted
        return Extracted(value, found.confidence, found.text, found.page, found.box)


def read(text_pages: Sequence[TextPage]) -> FoundKey | None:
    """Return the document's own key; valid keys come first, and those from codes.

    A document may quote keys of other documents, even of its buyer. So keys near a word for
    "reference" come last, then keys whose issuer is not on the page, then lower ones.
    """
    lines = [line for text_page in text_pages for line in text_page.lines]
    texts = [line.text for line in lines]
    issuers = _printed_ids(texts)
    codes = [code for text_page in text_pages for code in text_page.codes]
    printed = _from_lines(lines, issuers)
    if not any(found_key.key.is_valid for found_key in printed):
        printed += _from_lines(_runs(lines), issuers)
    candidates = [*(_from_code(coded) for coded in key_search.read(codes)), *printed]
    found = min(candidates, default=None, key=lambda found_key: _rank(found_key, issuers))
    is_of_other = found and found.is_quoted and issuers and found.key.issuer not in issuers
    return None if is_of_other else found


def _from_lines(lines: Sequence[Line], issuers: frozenset[str]) -> list[FoundKey]:
    """Return the keys printed in lines, those of other documents last."""
    texts = [line.text for line in lines]
    found = [
        replace(_from_text(printed, lines), is_quoted=_is_quoted(printed, texts))
        for printed in key_search.find(texts, known=issuers)
    ]
    return sorted(found, key=lambda found_key: found_key.is_quoted)


def _runs(lines: Sequence[Line]) -> list[Line]:
    """Return the long runs of digits of each line, without the other columns of a form.

    A key that takes two lines in one column is interrupted by what the other columns print.
    """
    found = []
    for line in lines:
        words = tuple(word for word in line.words if _is_run(word.text))
        if words:
            found.append(Line(words, around([word.box for word in words]), line.page))
    return found


def _is_run(text: str) -> bool:
    digits = sum(map(str.isdigit, text))
    return digits >= _RUN_DIGITS and digits >= _RUN_SHARE * sum(map(str.isalnum, text))


def _rank(found_key: FoundKey, issuers: frozenset[str]) -> tuple[bool, bool, bool]:
    """Rank a key, lower is better; ties keep their order: codes first, then from top to bottom."""
    return not found_key.key.is_valid, found_key.is_quoted, found_key.key.issuer not in issuers


def _is_quoted(printed: PrintedKey, texts: Sequence[str]) -> bool:
    """Return whether the line of a key, or the line above, refers to another document."""
    first = printed.lines.start
    return any(_QUOTED.search(text) for text in texts[max(0, first - 1) : printed.lines.stop])


def _printed_ids(texts: Iterable[str]) -> frozenset[str]:
    """Return the valid tax ids in the text."""
    return frozenset(
        printed.text for text in texts for printed in tax_ids.find(text) if printed.is_valid
    )


def _from_code(coded: key_search.CodedKey) -> FoundKey:
    key, code = coded.payload.key, coded.code
    confidence = _CODED if key.is_valid else _INVALID
    found = Extracted(key.text, confidence, code.text, code.page, code.box)
    return FoundKey(key, found, coded.payload)


def _from_text(printed: PrintedKey, lines: Sequence[Line]) -> FoundKey:
    spanned = [lines[index] for index in printed.lines]
    confidence = (
        _REPAIRED if printed.is_repaired else _PRINTED if printed.key.is_valid else _INVALID
    )
    confidence *= min(line.confidence for line in spanned)
    box = around([line.box for line in spanned])
    return FoundKey(
        printed.key, Extracted(printed.key.text, confidence, printed.text, spanned[0].page, box)
    )
