"""What speaks for and against a candidate's being the seller's name, as numbers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Self

from recibo.extract.fields import company_names
from recibo.extract.fields.name_candidates import Candidate, Piece
from recibo.extract.layout.rows import USUAL_MINOR, Row
from recibo.extract.text import dates, lexicon, tables
from recibo.extract.text.folding import skeleton
from recibo.extract.text.phrases import Phrasebook

_REGISTERED = re.compile(
    r"^\W*(?:co\W|reg|roc|gst|company)?[^a-z]*\d{4,}[\s-]*[a-z]?\W*$", re.IGNORECASE
)
# A house number before a street, a postcode before a town, a unit of a building.
_HOUSE = re.compile(r"\d{1,5}[A-Za-z]?,?\s+[^\W\d]")
_TOWN = re.compile(r"\W*(?:[A-Z]{1,2}-)?\d{4,5}\s+[^\W\d]+(?:[\s-][^\W\d]+){0,2}\W*$")
_TOWN_FIRST = re.compile(r"\W*[^\W\d]+(?:[\s,]+[^\W\d]+){0,2}[\s,-]+\d{6}\W*$")
_UNIT = re.compile(r"[A-Z]{0,2}\d{1,4}[-/]\d{1,4}[A-Z]?\s?,")
# What stands behind a colon is no rest of a name: "Terminal ID: 0231".
_LABELLED = re.compile(r"[^\d:]{2,25}:\s*\S")
_LEAST_SENTENCE = 3
_SENTENCE = re.compile(r"[^\W\d_]{3,}[.!?]+(?:\s|$).*?[a-z]{2}.*[.!?]\s*$|[!?]\s*$")
_HEAD_ROWS = 15
_LEAST_ECHO = 5
_MOST_DIGITS = 0.4
_FEWEST_LETTERS = 4
# The buyer's name stands in the row of its label, or in one of the next two.
_BILLED_ROWS = 3


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
    #: By the row's index, where the labels "bill to" and the like begin that stand in it or above.
    billed: Mapping[int, float]
    #: The rows below "owned by" and the like.
    owned: frozenset[int]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        """Return the context of a page's rows."""
        return cls(
            rows=tuple(rows),
            body=_body_start(rows),
            height=median(row.line.box.height for row in rows) or 1,
            echoes=" ".join(skeleton(row.text).letters for row in rows if _ECHO.search(row.text)),
            billed=_billed(rows),
            owned=frozenset(_below_words("owned", rows, 2)),
        )


_ECHO = re.compile(r"www|http|@|\.com|thank|merci|danke|gracias|grazie|obrigad", re.IGNORECASE)


def features(candidate: Candidate, context: Context) -> dict[str, float]:
    """Return the features of a candidate by name."""
    return {
        **_of_text(candidate),
        **_of_place(candidate, context),
        **(_of_join(candidate, context) if len(candidate.pieces) > 1 else {}),
    }


def _of_text(candidate: Candidate) -> dict[str, float]:
    name = candidate.name
    ending = company_names.legal_ending(name)
    return {
        "strong_form": bool(ending and ending.form.is_cue),
        "form": bool(ending and not ending.form.is_cue),
        "trade": bool(_book("trades").find(name)),
        "generic": _book("trades").is_all(name[: ending.start] if ending else name),
        "notice": _is_notice(name),
        "notice_only": _book("notice").is_all(name),
        "address": _is_address(name) or _bears_postcode(candidate),
        "slogan": _is_slogan(candidate.text),
        "place": _book("address").is_all(name),
        "contact": bool(_book("contact").find(name)),
        "figures": _share_of_digits(name),
        "money": _bears_money(candidate),
        "dated": bool(dates.days(candidate.text) or dates.clocks(candidate.text)),
        "lower": name.islower(),
        "upper": name.isupper(),
        "short": sum(character.isalpha() for character in name) < _FEWEST_LETTERS,
        "single": len(name.split()) == 1,
        "bare_form": company_names.is_form_alone(name),
        "form_first": company_names.begins_with_form(name),
        "open": company_names.goes_on(candidate.text) or name.count(")") > name.count("("),
        "unsure": 1 - min(piece.confidence for piece in candidate.pieces),
    }


def _of_place(candidate: Candidate, context: Context) -> dict[str, float]:
    first, last = candidate.rows[0], candidate.rows[-1]
    return {
        "top": first.index == 0,
        "rank": min(last.index, _HEAD_ROWS),
        "height": _relative_height(candidate, context),
        "registered": _is_registered(candidate, context),
        "addressed": any(_is_address(row.text) for row in _below(last, context, 2)),
        "body": first.index >= context.body,
        "echo": _is_echoed(candidate.name, context),
        "billed": _is_billed(candidate, context),
        "owned": first.index in context.owned,
    }


def _of_join(candidate: Candidate, context: Context) -> dict[str, float]:
    heights = [piece.box.height for piece in candidate.pieces]
    return {
        "joined": len(candidate.pieces) - 1,
        "wrapped": _is_wrapped(candidate),
        "complete": _is_last_complete(candidate),
        "uneven": 1 - min(heights) / max(heights),
        "tall": _relative_height(candidate, context),
        "junk": any(_is_junk(piece) for piece in candidate.pieces)
        or any(_begins_anew(piece.text) for piece in candidate.pieces[1:]),
        "restyled": len({piece.text.isupper() for piece in candidate.pieces}) > 1,
    }


def _bears_money(candidate: Candidate) -> bool:
    amounts = (amount for row in candidate.rows for amount in row.amounts)
    return any(amount.decimals == USUAL_MINOR for amount in amounts)


def _is_junk(piece: Piece) -> bool:
    return (
        _share_of_digits(piece.text) > _MOST_DIGITS
        or _book("notice").is_all(piece.text)
        or _is_address(piece.text)
        or _is_slogan(piece.text)
        or _book("address").is_all(piece.text)
        or bool(_book("contact").find(piece.text) or _book("owned").find(piece.text))
    )


def _begins_anew(text: str) -> bool:
    return bool(_HOUSE.match(text) or _LABELLED.match(text))


def _below(row: Row, context: Context, count: int) -> tuple[Row, ...]:
    start = row.index - context.rows[0].index + 1
    return context.rows[start : start + count]


def _body_start(rows: Sequence[Row]) -> int:
    for row in rows:
        kinds = lexicon.phrasebook("number", "date", "total").kinds(row.text)
        has_number = bool(kinds) and any(character.isdigit() for character in row.text)
        if dates.days(row.text) or has_number or len(row.amounts) > 1:
            return row.index
    return rows[-1].index


def _billed(rows: Sequence[Row]) -> Mapping[int, float]:
    """Return where the buyer's labels begin, by the rows that they stand in or above."""
    starts: dict[int, float] = {}
    for row in rows:
        for label in _book("billed").find(row.text):
            left = row.box(label.start, label.end).x0
            for index in range(row.index, row.index + _BILLED_ROWS):
                starts[index] = min(left, starts.get(index, left))
    return starts


def _is_billed(candidate: Candidate, context: Context) -> bool:
    """Tell whether a candidate stands beside or below a buyer's label, not in a column before it.

    Many an invoice shows the seller on the left and the buyer on the right.
    """
    return any(
        row.index in context.billed and candidate.box.x1 > context.billed[row.index]
        for row in candidate.rows
    )


def _below_words(kind: str, rows: Sequence[Row], count: int) -> set[int]:
    """Return the rows that bear words of a kind, and those below them, `count` in all."""
    bearing = [row.index for row in rows if _book(kind).find(row.text)]
    return {index + step for index in bearing for step in range(count)}


def _relative_height(candidate: Candidate, context: Context) -> float:
    height = sum(piece.box.height for piece in candidate.pieces) / len(candidate.pieces)
    return max(-0.5, min(height / context.height - 1, 1.5))


def _is_registered(candidate: Candidate, context: Context) -> bool:
    """Tell whether a registration number stands behind the name or below it."""
    behind = candidate.text.strip()[len(candidate.name) :]
    below = _below(candidate.rows[-1], context, 1)
    return bool(re.search(r"\d{4}", behind)) or any(_REGISTERED.match(row.text) for row in below)


def _is_address(text: str) -> bool:
    words = _book("address").find(text)
    is_listed = len(words) > 1 or (bool(words) and re.search(r"[\d,]", text) is not None)
    return is_listed or re.match(r"\d+\s?,", text) is not None or _UNIT.match(text) is not None


def _is_notice(name: str) -> bool:
    """Tell whether words of the paper stand in the name; a last word may be the seller's own."""
    return any(
        phrase.start == 0 or " " in name[phrase.start : phrase.end] or name[phrase.end :].strip()
        for phrase in _book("notice").find(name)
    )


def _is_slogan(text: str) -> bool:
    """Tell whether the text is a sentence."""
    words = text.split()
    return len(words) >= _LEAST_SENTENCE and _SENTENCE.search(text) is not None


def _bears_postcode(candidate: Candidate) -> bool:
    """Tell whether a postcode stands in the text, or before a town's name below the first row."""
    text = candidate.text
    is_below = candidate.rows[0].index > 0
    is_town = _TOWN.match(text) or _TOWN_FIRST.match(text)
    return (is_below and is_town is not None) or any(
        postcode.search(text) for postcode in tables.postcodes().values()
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
    """Tell whether the last piece must go on from the one above: a bracket, a bare legal form."""
    last = candidate.pieces[-1].text
    return company_names.goes_on(_upper(candidate.pieces)) or company_names.is_form_alone(last)


def _upper(pieces: Sequence[Piece]) -> str:
    return " ".join(piece.text for piece in pieces[:-1])


def _is_last_complete(candidate: Candidate) -> bool:
    """Tell whether the last piece alone would be a whole name with its legal form."""
    last = candidate.pieces[-1].text
    ending = company_names.legal_ending(last)
    return ending is not None and len(last[: ending.start].split()) > 1


@cache
def _book(kind: str) -> Phrasebook:
    return Phrasebook({kind: tables.merchants()[kind]}, glued=False)
