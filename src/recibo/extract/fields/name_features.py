"""What speaks for and against a candidate's being the seller's name, as numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Self

from recibo.extract.fields import company_names, days
from recibo.extract.fields.name_candidates import Candidate, Piece
from recibo.extract.fields.rows import Row
from recibo.extract.locales import tables
from recibo.extract.locales.folding import skeleton
from recibo.extract.locales.phrases import Phrasebook

_REGISTERED = re.compile(
    r"^\W*(?:co\W|reg|roc|gst|company)?[^a-z]*\d{4,}[\s-]*[a-z]?\W*$", re.IGNORECASE
)
_HEAD_ROWS = 15
_LEAST_ECHO = 5


@dataclass(frozen=True, slots=True)
class Context:
    """What a candidate is compared with."""

    rows: tuple[Row, ...]
    #: The index of the first row that is no head any more: it bears a date, a number, amounts.
    body: int
    #: The height that most rows have.
    height: float
    #: The letters of the rows that give web and mail addresses, thanks and greetings.
    echoes: str
    #: The rows that stand below "bill to" and the like.
    billed: frozenset[int]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        """Return the context of a page's rows."""
        return cls(
            rows=tuple(rows),
            body=_body_start(rows),
            height=median(row.line.box.height for row in rows) or 1,
            echoes=" ".join(skeleton(row.text).letters for row in rows if _ECHO.search(row.text)),
            billed=frozenset(_billed(rows)),
        )


_ECHO = re.compile(r"www|http|@|\.com|thank|merci|danke|gracias|grazie|obrigad", re.IGNORECASE)


def features(candidate: Candidate, context: Context) -> dict[str, float]:
    """Return the features of a candidate by name."""
    name = candidate.name
    first = candidate.rows[0]
    ending = company_names.legal_ending(name)
    return {
        "strong_form": bool(ending and ending.form.is_cue),
        "form": bool(ending and not ending.form.is_cue),
        "trade": bool(_book("trades").find(name)),
        "rank": min(first.index, _HEAD_ROWS),
        "height": _relative_height(candidate, context),
        "registered": _is_registered(candidate, context),
        "notice": bool(_book("notice").find(name)),
        "notice_only": _book("notice").is_all(name),
        "address": _is_address(name),
        "contact": bool(_book("contact").find(candidate.text)) and not ending,
        "figures": _share_of_digits(name),
        "money": any(amount.decimals == 2 for row in candidate.rows for amount in row.amounts),  # noqa: PLR2004
        "dated": bool(days.days(candidate.text) or days.clocks(candidate.text)),
        "lower": name.islower(),
        "short": sum(character.isalpha() for character in name) < 4,  # noqa: PLR2004
        "body": first.index >= context.body,
        "echo": _is_echoed(name, context),
        "joined": len(candidate.pieces) - 1,
        "wrapped": _is_wrapped(candidate),
        "complete": _is_last_complete(candidate),
        "open": company_names.has_open_bracket(name) or name.count(")") > name.count("("),
        "billed": any(row.index in context.billed for row in candidate.rows),
        "unsure": 1 - min(piece.confidence for piece in candidate.pieces),
    }


def _body_start(rows: Sequence[Row]) -> int:
    for row in rows:
        kinds = tables.phrasebook("number", "date", "total").kinds(row.text)
        has_number = bool(kinds) and any(character.isdigit() for character in row.text)
        if days.days(row.text) or has_number or len(row.amounts) > 1:
            return row.index
    return rows[-1].index


def _billed(rows: Sequence[Row]) -> set[int]:
    billed: set[int] = set()
    for row in rows:
        if _book("billed").find(row.text):
            billed |= {row.index, row.index + 1, row.index + 2}
    return billed


def _relative_height(candidate: Candidate, context: Context) -> float:
    height = sum(piece.box.height for piece in candidate.pieces) / len(candidate.pieces)
    return max(-0.5, min(height / context.height - 1, 1.5))


def _is_registered(candidate: Candidate, context: Context) -> bool:
    """Tell whether a registration number or an address follows the name."""
    last = candidate.rows[-1]
    if company_names.clean(candidate.text) != candidate.text.strip():
        return True
    below = [row for row in context.rows if row.index == last.index + 1]
    return bool(below) and bool(_REGISTERED.match(below[0].text) or _is_address(below[0].text))


def _is_address(text: str) -> bool:
    words = _book("address").find(text)
    return (
        len(words) > 1
        or bool(words and re.search(r"\d", text))
        or bool(re.match(r"\d+[,\s-]", text))
    )


def _share_of_digits(text: str) -> float:
    letters = [character for character in text if character.isalnum()]
    return sum(character.isdigit() for character in letters) / len(letters) if letters else 1


def _is_echoed(name: str, context: Context) -> bool:
    letters = skeleton(name).letters
    first = skeleton(name.partition(" ")[0]).letters
    return (len(letters) >= _LEAST_ECHO and letters in context.echoes) or (
        len(first) >= _LEAST_ECHO and first in context.echoes
    )


def _is_wrapped(candidate: Candidate) -> bool:
    """Tell whether the pieces are one name cut at the edge: it goes on with its legal form."""
    pieces = candidate.pieces
    if len(pieces) == 1:
        return False
    return (
        company_names.has_open_bracket(_upper(pieces))
        or company_names.is_form_alone(pieces[-1].text)
        or (
            company_names.legal_ending(pieces[-1].text) is not None
            and company_names.legal_ending(_upper(pieces)) is None
            and pieces[0].box.width >= pieces[-1].box.width
        )
    )


def _upper(pieces: Sequence[Piece]) -> str:
    return " ".join(piece.text for piece in pieces[:-1])


def _is_last_complete(candidate: Candidate) -> bool:
    """Tell whether the last piece alone would be a whole name."""
    if len(candidate.pieces) == 1:
        return False
    ending = company_names.legal_ending(candidate.pieces[-1].text)
    return (
        bool(ending) and len(candidate.pieces[-1].text[: ending.start].split()) > 1
        if ending
        else False
    )


@cache
def _book(kind: str) -> Phrasebook:
    return Phrasebook({kind: tables.merchants()[kind]}, glued=False)
