"""Corrects a misread name by its spelling elsewhere on the page."""

from dataclasses import replace

from recibo.extract.fields.name_candidates import Candidate, pieces_of
from recibo.extract.fields.name_page import Context
from recibo.extract.text.folding import normalize

_SURE = 0.95
# The fewest letters per wrong one: in a web address, and in another row.
_LEAST_ADDRESS, _LEAST_MENTION = 4, 6


def respelled(candidate: Candidate, context: Context) -> Candidate:
    """Return an uncertain candidate with the spelling of a mention with a higher confidence."""
    confidence = min(piece.confidence for piece in candidate.pieces)
    if confidence >= _SURE:
        return candidate
    letters = normalize(candidate.name).letters
    for core, printed in context.domains.items():
        if " " not in candidate.name and _is_near(letters, core, _LEAST_ADDRESS):
            return replace(candidate, name=_cased(printed, candidate.name))
    for row in context.rows:
        for piece in pieces_of(row):
            is_surer = piece.confidence >= _SURE
            if is_surer and _is_near(letters, normalize(piece.text).letters, _LEAST_MENTION):
                return replace(candidate, name=piece.text.strip(" .,:;*-"))
    return candidate


def _is_near(letters: str, others: str, least: int) -> bool:
    """Return whether at least one, and at most one in `least` letters differ."""
    if len(letters) != len(others) or len(letters) < least:
        return False
    differences = sum(one != other for one, other in zip(letters, others, strict=True))
    return 0 < differences <= len(letters) // least


def _cased(printed: str, name: str) -> str:
    is_upper = sum(map(str.isupper, name)) > sum(map(str.islower, name))
    return printed.upper() if is_upper else printed.capitalize()
