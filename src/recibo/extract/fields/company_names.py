"""What a company's name looks like in print: its legal form, and what is not part of it."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from recibo.extract.locales import tables
from recibo.extract.locales.folding import fold, skeleton
from recibo.extract.locales.phrases import Phrasebook
from recibo.extract.locales.tables import LegalForm

# Forms shorter than this are met inside other words too often to be repaired.
_REPAIRED_LETTERS = 6
# "ENTERPRISE" and the like end a name but may stand within one as well.
_STRONG_LETTERS = 2

_OPENING, _CLOSING = "([{", ")]}"
# A registration number behind the name, in brackets or bare, and what may introduce it.
_REGISTRATION = re.compile(
    r"""
    \s*[(\[{]?\s*(?:(?:co(?:mpany)?|reg(?:istration)?|roc|gst|sst|id|no|nr)\b[\s.:#]*)+\W*\d.*$
    | \s*[(\[{][^()\[\]{}]*\d{4}[^()\[\]{}]*[)\]}]?\W*$
    | \s+[(\[{]?\s*\d{5,}\s?[-.]?\s?[A-Z0-9]{1,2}\b.*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EDGES = " \t.,:;*_-~=|!'\"`•·#<>/\\+^"


@dataclass(frozen=True, slots=True)
class Ending:
    """A legal form in a text."""

    form: LegalForm
    start: int
    end: int


def clean(text: str) -> str:
    """Return a row's text as a name: what stands before, behind and around it taken off."""
    name = _without_prefix(text.strip(_EDGES))
    ending = legal_ending(name)
    if ending:
        name = repaired(name[: ending.end])
    name = _REGISTRATION.sub("", name)
    return _balanced(name.strip(_EDGES))


@lru_cache(maxsize=4096)
def legal_ending(text: str) -> Ending | None:
    """Return the last legal form in `text`, behind which the name is over, if there is one."""
    found = _exact_ending(text)
    return found if found and found.start else _misread_ending(text)


def is_form_alone(text: str) -> bool:
    """Tell whether `text` is a legal form and nothing else."""
    letters = skeleton(text).letters
    return any(skeleton(form.text).letters == letters for form in tables.legal_forms())


def repaired(text: str) -> str:
    """Return `text` with a misread legal form at its end put right."""
    ending = None if _exact_ending(text) else _misread_ending(text)
    if ending is None:
        return text
    return f"{text[: ending.start].rstrip()} {ending.form.text}"


def has_open_bracket(text: str) -> bool:
    """Tell whether a bracket opens in `text` and does not close."""
    return text.count("(") > text.count(")")


def _without_prefix(text: str) -> str:
    for phrase in _prefix_book().find(text):
        rest = text[phrase.end :].strip(_EDGES)
        if phrase.start == 0 and len(rest) > 1:
            return rest
    return text


def _balanced(text: str) -> str:
    # A bracket that was cut off or opened by a stain is no part of a name.
    if text.count("(") > text.count(")"):
        opened = text.rfind("(")
        return text[:opened].rstrip(_EDGES) if opened > len(text) / 2 else text
    if text.count(")") > text.count("("):
        return text.replace(")", "", 1) if text.startswith(")") else text.rstrip(")")
    return text


def _exact_ending(text: str) -> Ending | None:
    matches = list(_any_form().finditer(fold(text)))
    if not matches:
        return None
    last = matches[-1]
    index = next(int(name[1:]) for name, found in last.groupdict().items() if found)
    return Ending(tables.legal_forms()[index], last.start(), last.end())


def _misread_ending(text: str) -> Ending | None:
    """Return a long legal form that stands at the end of `text` with one sign misread."""
    bones = skeleton(text)
    for form in tables.legal_forms():
        letters = skeleton(form.text).letters
        if not form.is_cue or len(letters) < _REPAIRED_LETTERS:
            continue
        tail = bones.letters[-len(letters) :]
        start = len(bones.letters) - len(letters)
        if (
            start > 0
            and _differences(tail, letters) == 1
            and _begins_word(text, bones.places[start])
        ):
            return Ending(form, bones.places[start], len(text))
    return None


def _differences(tail: str, letters: str) -> int:
    return sum(a != b for a, b in zip(tail, letters, strict=True))


def _begins_word(text: str, place: int) -> bool:
    return not text[place - 1].isalnum()


@cache
def _any_form() -> re.Pattern[str]:
    forms = enumerate(tables.legal_forms())
    return re.compile("|".join(f"(?P<f{index}>{_pattern(form.text)})" for index, form in forms))


def _pattern(form: str) -> str:
    # "SDN. BHD.", "SDN BHD" and "SDNBHD" are one form; "S/B" keeps its slash.
    letters = re.split(r"[\s.]+", fold(form).strip("."))
    middle = r"[\s.,]*".join(re.escape(part) for part in letters)
    return rf"(?<![a-z]){middle}(?![a-z])\.?"


@cache
def _prefix_book() -> Phrasebook:
    return Phrasebook({"prefix": tables.merchants()["prefixes"]}, glued=False)
