"""Finds the parts of a page that look like a line of an address."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from recibo.extract import resources
from recibo.extract.fields import company_names, sender_lines
from recibo.extract.fields.name_candidates import pieces_of
from recibo.extract.fields.name_page import book
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box
from recibo.extract.text import dates, lexicon, tables
from recibo.extract.text.folding import fold
from recibo.extract.text.phrases import Phrasebook

# The longest line of an address.
_MOST_LETTERS = 120
_LEAST_LETTERS = 2
# Most lines of an address are shorter.
_LONG = 45
# Shorter labels are parts of words.
_SHORT_LABEL = 2
# The label of a telephone number, without a sign behind it.
_ABBREVIATION = 3
# A town next to its postcode in any country: `64295 Darmstadt`, `Brno 619 00`, `1020-123 Lisboa`.
_DIGITS_OF_POSTCODE = (
    r"(?:\d{4,6}|\d{3} \d{2}|\d{2}-\d{3}|\d{4}-\d{3}|\d{5}-\d{3,4}|\d{2}\.?\d{3}-\d{3})"
)
_POSTCODE = re.compile(
    rf"(?:^|[,;·•|–-])\s*(?:[A-Z]{{1,2}}-)?{_DIGITS_OF_POSTCODE}(?:,?\s+[A-Z]{{2}})?\b"
    r"[\s,.–-]+[^\W\d_]{3}"
    r"|\b[A-Z]{2}\s+\d{5}(?:-\d{4})?\s*$"
    r"|[^\W\d_]{4}[\s,.:–-]+(?:\d{5,6}|\d{3} \d{2}|\d{4}-\d{3}|\d{5}-\d{3})\s*(?:$|[,;])"
)
# A postcode with its label: `Pin: 560002`.
_LABELLED_POSTCODE = re.compile(
    r"\b(?:pin|pincode|zip|cep|plz|postcode|post code|postal code|c\.?p|psc)\b"
    r"\W{0,4}\d{2,3}[\d. -]{1,6}\d",
    re.IGNORECASE,
)
# Longer numbers are those of something else: registrations, accounts.
_LONG_NUMBER = re.compile(r"\d{9,}")
_POSTCODE_ALONE = re.compile(r"^\W*(?:\d{4,6}|\d{5}-\d{3,4}|\d{2}-\d{3}|\d{3} \d{2})\W*$")
_NUMBERED = re.compile(
    r"^\W*(?:N[o°º.]*\s*)?\d{1,5}\s?[A-Z]?(?:\s?[-/&]\s?\d{1,5}[A-Z]?)?,?\s+[^\W\d_]{2}"
    r"|[^\W\d_]{2}\.?,?\s+(?:N[o°ºr.]*\s*)?\d{1,5}\s?[A-Z]?(?:\s?[-/]\s?\d{0,5}[A-Z]?)?\s*(?:,|$|\s-\s|#)",
    re.IGNORECASE,
)
# `Seattle, WA`, `MANTA - ECUADOR`, `Belo Horizonte/MG`.
_REGION = re.compile(r"[^\W\d_]{3}\s?[,/–-]\s?[A-Z]{2,3}\.?(?=\W*(?:\d|$))")
_TIME = re.compile(r"\d{1,2}[:h]\d{2}(?!\d)|\d\s?(?:AM|PM)\b", re.IGNORECASE)
_URL = re.compile(r"www|http|@|\.(?:com|net|org)\b|\.[a-z]{2}$", re.IGNORECASE)
_PHONE = re.compile(
    r"(?:\+\s?|\(0?)\d{1,4}\)?[\d\s().-]{6,}|(?<![\d-])0\d{1,4}[\s/-]\d[\d\s/-]{4,}\d"
)
# A registration that is printed without its label: `IE9513674T`.
_BARE_CODE = re.compile(r"^\W*[A-Z]{2}\s?\d{7,}[A-Z]{0,2}\W*$")
_US_PHONE = re.compile(r"^\W*\(?\d{3}\)?[\s.-]{0,3}\d{3}[\s.-]\d{4}\W*$")
# What follows the label of a telephone or tax number.
_AFTER_LABEL = re.compile(
    r"\W{0,4}(?:no|nr|id|n[°º]|fax|tel|phone|mobile)?\W{0,4}[+(]?[A-Z]{0,3}[\s-]?\d", re.IGNORECASE
)
_COLON = re.compile(r"^[^\W\d_][\w\s./&-]{1,30}:")
# `A1.Armii`, `J1. Kopo`: the second letter of an abbreviation was read as a one.
_MISREAD_L = re.compile(r"(?<![\w])([AJUaju])1(?=\.)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a row that may be a line of an address."""

    row: Row
    #: Its place in the text of the row.
    start: int
    end: int
    #: The printed text without labels around it.
    text: str
    box: Box
    #: The whole cell.
    cell: Box
    features: Mapping[str, bool]

    @property
    def is_place(self) -> bool:
        """Whether it has something that only addresses have."""
        known = self.features
        return known["street"] or known["postcode"] or known["region"] or known["unit"]

    @property
    def is_other(self) -> bool:
        """Whether it is surely no line of an address."""
        known = self.features
        is_title = known["notice"] and not (known["digits"] or known["comma"])
        is_labelled = known["contact"] or known["labelled_other"]
        return is_title or is_labelled or known["money"] or known["dated"]


def pieces(rows: Sequence[Row]) -> list[Piece]:
    """Return the parts of all rows in reading order."""
    return [
        piece for row in rows for piece in of_row(row) if piece.text or piece.features["contact"]
    ]


def of_row(row: Row) -> Iterator[Piece]:
    """Yield the parts of a row, each without labels and telephone numbers."""
    after = 0
    for cell in pieces_of(row):
        start = row.text.find(cell.text, after)
        if start >= 0 and len(cell.text) <= _MOST_LETTERS:
            after = start + len(cell.text)
            yield _piece(row, start, after, cell.box)


def _piece(row: Row, start: int, end: int, cell: Box) -> Piece:
    text = row.text[start:end]
    first, label = _after_label(text)
    sender = sender_lines.sender_in(text)
    first = max(first, len(sender or ""), _after_name(text))
    last = _before_contact(text, first)
    whole = text[first:last]
    stripped = whole.strip(" ,;:.-–*|·•")
    begin = start + first + (whole.find(stripped) if stripped else 0)
    features = {**_features(stripped), "label": label, "contact": last < len(text)}
    if last < len(text) and len(stripped) <= _ABBREVIATION and stripped.isalpha():
        # Also where the abbreviation was misread: `FH: 09-2000277`.
        features["contact"] = True
    elif not features["contact"] and _is_contact(text):
        features["contact"] = True
    elif last < len(text) and features["letters"]:
        features["contact"] = False
        features["then_contact"] = True
    box = row.box(begin, begin + max(len(stripped), 1))
    shown = ", ".join(sender_lines.SEPARATOR.split(stripped)) if sender else stripped
    return Piece(row, begin, begin + len(stripped), _repaired(shown), box, cell, features)


def _is_contact(text: str) -> bool:
    """Return whether a text is mainly the label of a telephone number or the like."""
    labels = book("contact").find(text)
    covered = sum(sum(map(str.isalpha, text[one.start : one.end])) for one in labels)
    return covered * 2 > sum(map(str.isalpha, text))


def _repaired(text: str) -> str:
    return _MISREAD_L.sub(r"\1l", text)


@lru_cache(maxsize=4096)
def _features(text: str) -> Mapping[str, bool]:
    street = names_street(text)
    letters = sum(map(str.isalpha, text))
    has_digit = any(map(str.isdigit, text))
    postcode = any(one.search(text) for one in tables.postcodes().values())
    postcode = postcode or _LABELLED_POSTCODE.search(text) is not None
    general = _POSTCODE.search(text) is not None or _POSTCODE_ALONE.match(text) is not None
    return {
        "letters": letters >= _LEAST_LETTERS or _POSTCODE_ALONE.match(text) is not None,
        "street": street,
        "numbered": _NUMBERED.search(text) is not None,
        "postcode": postcode or general,
        "national": postcode,
        "unit": has_digit and bool(_book("units").find(text)),
        "area": bool(_book("areas").find(text)),
        "cue": bool(_place_book().find(text)),
        "region": _REGION.search(text) is not None,
        "comma": "," in text,
        "digits": has_digit,
        "form": company_names.legal_ending(text) is not None
        or company_names.begins_with_form(text),
        "money": is_money(text),
        "dated": bool(dates.days(text)) or _TIME.search(text) is not None,
        "labelled_other": _is_labelled(text),
        "colon": ":" in text,
        "name_words": bool(book("trades").find(text)),
        "notice": bool(book("notice").find(text)),
        "long": len(text) > _LONG,
        "then_contact": False,
    }


def is_money(text: str) -> bool:
    """Return whether an amount of money is in a text."""
    return re.search(r"(?<![\d.,])\d+[.,]\d{2}(?![\d.,-])(?!\s*(?:m|km)\b)", text) is not None


def _is_labelled(text: str) -> bool:
    """Return whether a text is the label of something else and its value."""
    if any(one.search(text) for one in (_URL, _US_PHONE, _BARE_CODE, _LONG_NUMBER)):
        return True
    before = text.split(":", maxsplit=1)[0]
    if _COLON.match(text) and lexicon.wordbook("tax").find(before):
        return True
    numbers = lexicon.phrasebook("number", "order_number", "date", "time", "seating")
    found = numbers.find(before)
    is_bare = bool(found) and not any(map(str.isalpha, text[found[-1].end :]))
    return bool(found) and (_COLON.match(text) is not None or (is_bare and found[0].start == 0))


def _after_label(text: str) -> tuple[int, bool]:
    """Return where the address begins, and whether its label is before it."""
    label = next(
        (one for one in _book("labels").find(text) if text[: one.start].strip() == ""), None
    )
    if label is None:
        return 0, False
    rest = text[label.end :]
    sign = re.match(r"\s*[.:\-–]\s*", rest)
    is_alone = not any(map(str.isalnum, rest))
    return (label.end + (sign.end() if sign else 0), True) if sign or is_alone else (0, False)


def _after_name(text: str) -> int:
    """Return where the text after a company's legal form begins, if it is an address."""
    # An address has a number; looking for legal forms takes time.
    if not any(map(str.isdigit, text)):
        return 0
    for match in re.finditer(r"[,\s-]+", text):
        ending = company_names.legal_ending(text[: match.start()])
        if ending is not None and ending.end >= match.start() - 1:
            rest = text[match.end() :]
            if _NUMBERED.search(rest) and any(map(str.isdigit, rest)):
                return match.end()
    return 0


def _before_contact(text: str, start: int) -> int:
    """Return where the first telephone, mail or tax number begins; the end without one."""
    ends = [len(text)]
    for label in (*book("contact").find(text), *_tax_book().find(text)):
        is_numbered = _AFTER_LABEL.match(text[label.end :]) is not None
        words = text[label.start : label.end].lower()
        is_web = words in {"www", "http", "https", "email", "e mail", "website", "e-mail"}
        is_street_number = words in {"nr", "no", "st"}
        if label.start >= start and (is_numbered or is_web) and not is_street_number:
            ends.append(label.start)
    ends += [match.start() for match in _PHONE.finditer(text) if match.start() >= start]
    end = min(ends)
    # The label of a number that is not in this part: `CEP: 28250000 Fone`.
    for label in book("contact").find(text[:end]):
        is_last = not any(map(str.isalnum, text[label.end : end]))
        if is_last and label.start > start and label.end - label.start > _SHORT_LABEL:
            end = label.start
    return end


@cache
def _book(kind: str) -> Phrasebook:
    words = resources.table("addresses.toml")[kind]
    return Phrasebook({kind: words}, joined=False)


def names_street(text: str) -> bool:
    """Return whether a text has a word for a street, or ends like the name of one."""
    return bool(_book("streets").find(text)) or _street_end().search(fold(text)) is not None


@cache
def _street_end() -> re.Pattern[str]:
    ends = "|".join(map(re.escape, resources.table("addresses.toml")["street_ends"]))
    return re.compile(rf"[^\W\d]{{3}}(?:{ends})\b\.?\s*(?:\d|,|$)")


@cache
def _place_book() -> Phrasebook:
    cues = [cue for country in tables.countries().values() for cue in country.cues]
    cities = [
        name for zones in tables.cities().values() for names in zones.values() for name in names
    ]
    return Phrasebook({"place": [*cues, *cities]}, joined=False)


@cache
def _tax_book() -> Phrasebook:
    labels = [label for number in tables.tax_numbers() for label in number.labels]
    return Phrasebook({"tax": labels}, joined=False)
