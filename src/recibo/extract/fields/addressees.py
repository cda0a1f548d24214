"""Finds the customer who is addressed: before an honorific, or greeted next to a tax number."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from recibo.extract.fields.name_candidates import Piece, pieces_of
from recibo.extract.layout.rows import Row
from recibo.extract.text import lexicon, tables
from recibo.extract.text.phrases import Phrasebook

# Letters and the rest of their head are on the upper part of the first page.
_HEAD = 0.6
_LONGEST, _FEWEST_WORDS, _MOST_WORDS = 60, 2, 7
# `Olá, Ana Lima! CPF 190.362.478-96`
_GREETED = re.compile(r"(?P<name>[^\W\d][^!,:;]{3,60})[!,:;](?P<rest>.{0,40})")
_COMPANY = re.compile(r"\b\d{2}\.\d{3}\.\d{3}/\d{4}-\d\d")
_PERSON = re.compile(
    r"(?P<name>[^\W\d][^\d:*]{5,60}?)[\s·,|–-]+CPF[.:]?\s?[\d*]{3}\.[\d*]{3}\.[\d*]{3}-[\d*]{2}\W*"
)
_TAX_NUMBER = re.compile(r"\b\d{3}\.[\d*]{3}\.[\d*]{3}-\d\d|\b\d{2}\.\d{3}\.\d{3}/\d{4}-\d\d")


def find(rows: Sequence[Row]) -> Iterator[Piece]:
    """Yield the names on the upper part of the first page that are addressed."""
    # A person may also be the seller, if no company is on the page.
    is_of_company = any(_COMPANY.search(row.text) for row in rows)
    for row in rows:
        if row.depth > _HEAD or row.line.page != rows[0].line.page:
            return
        for piece in pieces_of(row):
            name = before_honorific(piece.text) or _greeted(piece.text, row)
            name = name or (_before_personal_number(piece.text) if is_of_company else None)
            if name:
                start = row.text.find(name)
                yield replace(piece, text=name, box=row.box(start, start + len(name)))


def _before_personal_number(text: str) -> str | None:
    """Return the person in front of a CPF, which companies do not have: `Ana Lima · CPF 907...`."""
    match = _PERSON.fullmatch(text)
    name = match["name"].rstrip(" ·-–,|") if match else ""
    return name if _FEWEST_WORDS <= len(name.split()) <= _MOST_WORDS else None


def before_honorific(text: str) -> str | None:
    """Return the name in front of an honorific at the end of a text: `株式会社あかね 御中`."""
    stripped = text.rstrip(" :\uff1a")
    suffix = next((one for one in _honorifics() if stripped.endswith(one)), None)
    name = stripped.removesuffix(suffix).rstrip() if suffix else ""
    return name if 1 < len(name) <= _LONGEST and not any(map(str.isdigit, name)) else None


def _greeted(text: str, row: Row) -> str | None:
    """Return who is greeted, if a tax number of theirs is next to the name."""
    greeting = next((one for one in _greetings().find(text) if one.start == 0), None)
    found = _GREETED.match(text[greeting.end :].lstrip(" ,")) if greeting else None
    if found is None or not _TAX_NUMBER.search(row.text):
        return None
    return found["name"] if _FEWEST_WORDS <= len(found["name"].split()) <= _MOST_WORDS else None


@cache
def _honorifics() -> tuple[str, ...]:
    return lexicon.labels()["honorific"]


@cache
def _greetings() -> Phrasebook:
    words = tables.merchants()
    return Phrasebook({"greeting": [*words["salutations"], *words["hello"]]}, joined=False)
