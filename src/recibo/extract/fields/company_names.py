"""Cleans company names: legal forms, and text that is not part of the name."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from recibo.extract.text import lexicon, tables
from recibo.extract.text.folding import fold, normalize
from recibo.extract.text.phrases import Phrasebook
from recibo.extract.text.tables import LegalForm

# Shorter forms occur inside other words too often to be repaired.
_REPAIRED_LETTERS = 6
# Longer words for trades are not one letter away from another word.
_REPAIRED_WORD = 7
# Shorter forms may be other words with one misread letter.
_LEAST_BONES = 4
# At most this many letters after a legal form are noise or the end of another column.
_MOST_REST = 2
_WORD = re.compile(r"[^\W_]{7,}")
# Characters that OCR reads for letters of such words.
_FIGURES = (str.maketrans("0158", "oisb"), str.maketrans("0158", "olsb"))

# A registration number after the name, perhaps in brackets, and its label.
_REGISTRATION = re.compile(
    r"""
    \s*[(\[{]?\s*\b(?:(?:co(?:mpany)?|reg(?:istration)?|roc|gst|sst|id|no|nr)\b[\s.:#]*+)++\W*+
      [A-Z]{0,3}\d.*$
    | \s*[(\[{][^()\[\]{}]*\d{4}[^()\[\]{}]*[)\]}]?\W*$
    | \s+[(\[{]?\s*[A-Z]{0,3}\d{5,}\s?[-.]?\s?[A-Z0-9]{1,2}\b.*$
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A long number before the name is that of a form, a stamp or a till.
_LEADING_CODE = re.compile(r"^\d{4,}\s+(?=[^\W\d]{2})")
# `(Prinsep) RED LANTERN PTE LTD`
_LEADING_BRANCH = re.compile(r"^\([^\W\d][^()\d]{2,20}\)\s+(?=[^\W\d]{2})")
# Characters that OCR reads for an O or an I among capitals, and for an O after a hyphen.
_MISREAD_FIGURES = (
    (re.compile(r"(?<=[A-Z])0(?=[A-Z])|(?<=[A-Z]-)0(?= |$)"), "O"),
    (re.compile(r"(?<=[A-Z]{2})1(?=[A-Z])"), "I"),
)
# The country of a branch: "(M)" for Malaysia.
_BRANCH = re.compile(r"\(\w{1,2}\)")
# At least four single letters, separated by spaces.
_WIDE = re.compile(r"(?<!\S)(?:[^\W\d_] ){3,}[^\W\d_](?!\S)")
_WITH_STOPS = re.compile(r"(?<!\w)\w{1,2}\.\s?(?:\w\.\s?)*\w$")
# A shorter text before the document's title is not a seller's name.
_LEAST_NAME = 3
_SIGNS = "&+/-"
_EDGES = " \t.,:;*_-~=|!'\"`•·#<>/\\+^▲▼△▽■□●○◆◇►◄▶◀★☆"
# `株式会社あかね`, `有限会社`, `㈱`; in China `有限公司`, in Korea `주식회사`.
_FORMS = "(?:株式会社|有限会社|合同会社|合資会社|\\(株\\)|\\(有\\)|㈱|㈲|주식회사|\\(주\\))"
_JOINED_FORM = re.compile(f"^{_FORMS}.|.(?:{_FORMS}|有限公司)$")


@dataclass(frozen=True, slots=True)
class Ending:
    """A legal form in a text."""

    form: LegalForm
    start: int
    end: int


def clean(text: str, *, is_exact: bool = False) -> str:
    """Return a row's text as a name, without labels, numbers and punctuation around it.

    Misread letters are repaired unless the text is exact, without OCR errors.
    """
    name = _LEADING_CODE.sub("", _without_wide_spaces(text.strip(_EDGES)))
    bare = _LEADING_BRANCH.sub("", name)
    name = bare if legal_ending(bare) else name
    for figure, letter in () if is_exact else _MISREAD_FIGURES:
        name = figure.sub(letter, name)
    name = _without_title(_without_prefix(name))
    ending = legal_ending(name)
    if ending and (ending.form.is_cue or not _is_trade(name[ending.end :])):
        name = _with_form(name, ending)
    name = _REGISTRATION.sub("", name)
    name = name if is_exact else _with_trade_words(name)
    return _with_last_stop(_balanced(name.strip(_EDGES)), text)


@lru_cache(maxsize=4096)
def legal_ending(text: str) -> Ending | None:
    """Return the last legal form in `text`, which ends the name, if there is one."""
    exact, misread = _exact_ending(text), _misread_ending(text)
    if misread and (exact is None or exact.start > misread.start or exact.end < misread.end):
        return misread
    return exact if exact and exact.start else None


def is_form_alone(text: str) -> bool:
    """Return whether `text` consists of legal forms only: "CO. (M) SDN BHD"."""
    words = [normalize(word).letters for word in _BRANCH.sub("", text).split()]
    whole = "".join(words)
    return whole in _form_letters() or (
        len(words) > 1 and words[0] in _form_letters() and "".join(words[1:]) in _form_letters()
    )


def begins_with_form(text: str) -> bool:
    """Return whether the first word is a legal form, which few names start with."""
    words = text.split()
    letters = normalize(words[0]).letters if words else ""
    # "SRI" is a word in names, although it normalizes like an Italian legal form.
    is_misread = fold("".join(words[:1])).replace(".", "") != letters
    return letters in _form_letters() and not (is_misread and len(letters) < _LEAST_BONES)


def follows_form(text: str) -> bool:
    """Return whether a text is a name after its legal form: `SARL LE PORT`, `PT BOGA`."""
    first, *others = text.split() or [""]
    return normalize(first).letters in _leading_forms() and any(
        sum(map(str.isalpha, word)) >= _LEAST_NAME for word in others
    )


def has_joined_form(text: str) -> bool:
    """Return whether a name in East Asian letters begins or ends with its legal form."""
    return _JOINED_FORM.search(text) is not None


def is_complete(text: str) -> bool:
    """Return whether the text ends with a legal form after which no name continues."""
    ending = legal_ending(text)
    return ending is not None and ending.form.is_cue and not has_open_bracket(text)


def continues(text: str) -> bool:
    """Return whether the name must continue: an open bracket, or a conjunction at the end."""
    # With accents: `thé` joins nothing.
    words = text.split()
    is_joined = bool(words) and (words[-1][-1] in _SIGNS or lexicon.is_joining(words[-1]))
    return has_open_bracket(text) or is_joined


def has_open_bracket(text: str) -> bool:
    """Return whether a bracket opens in `text` and does not close."""
    return text.count("(") > text.count(")")


def _is_trade(text: str) -> bool:
    """Return whether a trade follows a form that is part of the name: `CLOVER & CO MARKET`."""
    return bool(text.strip()) and _trade_book().is_all(text)


def _with_form(name: str, ending: Ending) -> str:
    """Return the name up to its legal form, which is repaired if it was misread."""
    printed = name[ending.start : ending.end]
    is_exact = re.sub(r"\W", "", fold(printed)) == re.sub(r"\W", "", fold(ending.form.text))
    if is_exact and (" " in printed or " " not in ending.form.text):
        return name[: ending.end]
    return f"{name[: ending.start].rstrip()} {ending.form.text}"


def _with_trade_words(name: str) -> str:
    """Return the name with repaired words for trades, of which one letter was misread."""
    return _WORD.sub(lambda match: _trade_word(match.group()), name)


@lru_cache(maxsize=4096)
def _trade_word(word: str) -> str:
    letters = fold(word)
    if letters in _trade_words():
        return word
    if not letters.isalpha():
        meant = {letters.translate(figures) for figures in _FIGURES} & _trade_words()
        return _cased(meant.pop(), word) if meant else word
    near = [
        other
        for other in _trade_words()
        if len(other) == len(letters) and _differences(other, letters) == 1
    ]
    if len(near) != 1:
        return word
    return _cased(near[0], word)


def _cased(letters: str, word: str) -> str:
    return letters.upper() if word.isupper() else letters.capitalize()


@cache
def _trade_book() -> Phrasebook:
    return Phrasebook({"trade": tables.merchants()["trades"]}, joined=False)


@cache
def _trade_words() -> frozenset[str]:
    words = " ".join(tables.merchants()["trades"]).split()
    return frozenset(word for word in words if len(word) >= _REPAIRED_WORD)


def _without_prefix(text: str) -> str:
    for label in _label_book().find(text):
        behind = text[label.end :]
        if label.start == 0 and re.match(r"\s?:", behind) and len(behind.strip(_EDGES)) > 1:
            return behind.strip(_EDGES)
    for phrase in _prefix_book().find(text):
        rest = text[phrase.end :].strip(_EDGES)
        if not text[: phrase.start].strip(" (") and len(rest) > 1:
            return rest
    return text


def _without_wide_spaces(text: str) -> str:
    """Return a text without the spaces in widely spaced words, "W I L L O W  M A R T"."""
    return _WIDE.sub(lambda match: match[0].replace(" ", ""), text)


def _without_title(text: str) -> str:
    """Return a text without the document's title after the seller: "OLIVE TREE RECEIPT 118"."""
    for phrase in _title_book().find(text):
        rest = text[: phrase.start].rstrip(_EDGES)
        is_last = not any(map(str.isalpha, text[phrase.end :]))
        if is_last and sum(character.isalpha() for character in rest) >= _LEAST_NAME:
            return rest
    return text


def _with_last_stop(name: str, text: str) -> str:
    """Return the name with the last dot of a legal form with dots, "S.A."."""
    is_abbreviated = _WITH_STOPS.search(name) is not None
    return f"{name}." if is_abbreviated and f"{name}." in text else name


def _balanced(text: str) -> str:
    # A bracket that does not close is cut off or noise, not part of a name.
    if text.count("(") > text.count(")"):
        start = text.rfind("(")
        return text[:start].rstrip(_EDGES) if start > len(text) / 2 else text
    if text.count(")") > text.count("("):
        return text.replace(")", "", 1) if text.startswith(")") else text.rstrip(")")
    return text


def _exact_ending(text: str) -> Ending | None:
    matches = list(_any_form().finditer(fold(text)))
    if not matches:
        return None
    last = matches[-1]
    return Ending(tables.legal_forms()[int((last.lastgroup or "")[1:])], last.start(), last.end())


def _misread_ending(text: str) -> Ending | None:
    """Return a long legal form at the end of `text` with one misread character.

    A registration number, or a few characters of another column, may follow it.
    """
    normalized = normalize(text)
    for form, letters in _repaired_forms():
        # With one wrong character, one half of the form is still right.
        half = len(letters) // 2
        if letters[:half] not in normalized.letters and letters[half:] not in normalized.letters:
            continue
        for start in range(len(normalized.letters) - len(letters), 0, -1):
            end = start + len(letters)
            first, last = normalized.places[start], normalized.places[end - 1] + 1
            is_alone = not text[first - 1].isalnum() and not text[last : last + 1].isalnum()
            if is_alone and _differences(normalized.letters[start:end], letters) <= 1:
                return Ending(form, first, last) if _is_rest(text[last:]) else None
    return None


def _is_rest(text: str) -> bool:
    """Return whether the text after a legal form has too few letters to be part of a name."""
    bare = _REGISTRATION.sub("", text)
    return sum(character.isalpha() for character in bare) <= _MOST_REST


@cache
def _repaired_forms() -> tuple[tuple[LegalForm, str], ...]:
    forms = ((form, normalize(form.text).letters) for form in tables.legal_forms() if form.is_cue)
    return tuple((form, letters) for form, letters in forms if len(letters) >= _REPAIRED_LETTERS)


def _differences(tail: str, letters: str) -> int:
    return sum(a != b for a, b in zip(tail, letters, strict=True))


@cache
def _form_letters() -> frozenset[str]:
    return frozenset(normalize(form.text).letters for form in tables.legal_forms())


@cache
def _leading_forms() -> frozenset[str]:
    return frozenset(normalize(text).letters for text in tables.leading_forms())


@cache
def _any_form() -> re.Pattern[str]:
    """Return a pattern of all legal forms, which first checks the initial letter."""
    by_letter: dict[str, list[str]] = {}
    for index, form in enumerate(tables.legal_forms()):
        pattern = _dotted(form.text) if form.is_dotted else _pattern(form.text)
        letter = re.escape(fold(form.text).strip(".")[:1])
        by_letter.setdefault(letter, []).append(f"(?P<f{index}>{pattern})")
    branches = (f"(?={letter})(?:{'|'.join(forms)})" for letter, forms in by_letter.items())
    return re.compile(f"(?<![a-z])(?:{'|'.join(branches)})")


def _pattern(form: str) -> str:
    # "SDN. BHD.", "SDN BHD" and "SDNBHD" are one form; "S/B" keeps its slash.
    letters = re.split(r"[\s.]+", fold(form).strip("."))
    middle = r"[\s.,]*".join(re.escape(part) for part in letters)
    return rf"{middle}(?![a-z])\.?"


def _dotted(form: str) -> str:
    letters = fold(form).strip(".").split(".")
    return r"\.\s?".join(re.escape(part) for part in letters) + r"(?:\.|(?![a-z]))"


@cache
def _prefix_book() -> Phrasebook:
    return Phrasebook({"prefix": tables.merchants()["prefixes"]}, joined=False)


@cache
def _label_book() -> Phrasebook:
    return Phrasebook({"label": tables.merchants()["name_labels"]}, joined=False)


@cache
def _title_book() -> Phrasebook:
    return Phrasebook({"title": tables.merchants()["titles"]}, joined=False)
