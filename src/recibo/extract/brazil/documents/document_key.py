"""The access key of a document, from the codes on it or its text, and what follows from the key."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from recibo.extract.brazil import code_keys, key_search, tax_ids
from recibo.extract.brazil.access_keys import AccessKey
from recibo.extract.brazil.key_search import PrintedKey
from recibo.extract.brazil.qr_payloads import Payload
from recibo.extract.model import Extracted, Line, TextPage, around

T = TypeVar("T")

_QUOTED = re.compile(r"REFER[EÊ]NC|\bREF\b", re.IGNORECASE)

#: A decoded code has its own error correction; a printed key only a check digit of one in eleven.
_CODED = 0.99
_PRINTED = 0.95
_MENDED = 0.8
_UNSOUND = 0.6


@dataclass(frozen=True, slots=True)
class Keyed:
    """A key with its evidence."""

    key: AccessKey
    found: Extracted[str]
    #: What the QR code tells beside the key.
    payload: Payload | None = None
    #: Whether the paper prints it as another document's.
    is_quoted: bool = False

    def tells(self, value: T) -> Extracted[T]:
        """Return a value that follows from the key, or stands beside it in the code."""
        found = self.found
        return Extracted(value, found.confidence, found.text, found.page, found.box)


def read(text_pages: Sequence[TextPage]) -> Keyed | None:
    """Return the document's own key: a sound one from a code, else from the text, else unsound.

    A note may quote other notes' keys, even its buyer's, so a key on a line that speaks of
    references goes last, then one whose issuer does not stand on the page, then a lower one.
    """
    lines = [line for text_page in text_pages for line in text_page.lines]
    texts = [line.text for line in lines]
    issuers = _printed_ids(texts)
    codes = [code for text_page in text_pages for code in text_page.codes]
    found = key_search.find(texts, known=issuers)
    own = [printed for printed in found if not _is_quoted(printed, texts)]
    quoted = [printed for printed in found if _is_quoted(printed, texts)]
    candidates = [
        *(_from_code(coded) for coded in code_keys.read(codes)),
        *(_from_text(printed, lines) for printed in own),
        *(replace(_from_text(printed, lines), is_quoted=True) for printed in quoted),
    ]
    return min(candidates, default=None, key=lambda keyed: _doubt(keyed, issuers))


def _doubt(keyed: Keyed, issuers: frozenset[str]) -> tuple[bool, bool, bool]:
    """Rank keys: `min` keeps the order of codes before text, own before quoted, high before low."""
    return not keyed.key.is_sound, keyed.is_quoted, keyed.key.issuer not in issuers


def _is_quoted(printed: PrintedKey, texts: Sequence[str]) -> bool:
    """Tell whether the line of a key speaks of a note referred to, or the line above does."""
    first = printed.lines.start
    return any(_QUOTED.search(text) for text in texts[max(0, first - 1) : printed.lines.stop])


def _printed_ids(texts: Iterable[str]) -> frozenset[str]:
    """Return the sound tax ids in the text."""
    return frozenset(
        printed.text for text in texts for printed in tax_ids.find(text) if printed.is_sound
    )


def _from_code(coded: code_keys.CodedKey) -> Keyed:
    key, code = coded.payload.key, coded.code
    confidence = _CODED if key.is_sound else _UNSOUND
    found = Extracted(key.text, confidence, code.text, code.page, code.box)
    return Keyed(key, found, coded.payload)


def _from_text(printed: PrintedKey, lines: Sequence[Line]) -> Keyed:
    spanned = [lines[index] for index in printed.lines]
    confidence = _MENDED if printed.is_mended else _PRINTED if printed.key.is_sound else _UNSOUND
    confidence *= min(line.confidence for line in spanned)
    box = around([line.box for line in spanned])
    return Keyed(
        printed.key, Extracted(printed.key.text, confidence, printed.text, spanned[0].page, box)
    )
