"""The features of a candidate for the seller's name, as numbers."""

import re
from collections.abc import Collection, Sequence

from recibo.extract.fields import company_names
from recibo.extract.fields.name_candidates import Candidate, Piece
from recibo.extract.fields.name_page import Context, book, is_address
from recibo.extract.layout.rows import Row, money_labels
from recibo.extract.text import dates, tables
from recibo.extract.text.folding import normalize
from recibo.extract.text.numbers import CENTS

_REGISTERED = re.compile(
    r"^\W*(?:co\W|reg|roc|gst|company)?[^a-z]*(?:\d{6,}|\d{4,}[\s-]*[a-z])\W*$", re.IGNORECASE
)
# Longer numbers are those of tickets and codes.
_NUMBER_OF_COMPANY = re.compile(r"(?<!\d)\d{4,15}(?!\d)")
# A number before a street, a postcode before a town.
_NUMBERED_STREET = re.compile(r"\d{1,5}[A-Za-z]?,?\s+[^\W\d]")
_TOWN = re.compile(r"\W*(?:[A-Z]{1,2}-)?\d{4,5}\s+[^\W\d]+(?:[\s-][^\W\d]+){0,2}\W*$")
_TOWN_FIRST = re.compile(r"\W*[^\W\d]+(?:[\s,]+[^\W\d]+){0,2}[\s,-]+\d{6}\W*$")
# A label with a colon does not continue a name: "Terminal ID: 0231".
_LABELLED = re.compile(r"[^\d:]{2,25}:\s*\S")
_LEAST_SENTENCE = 3
_SENTENCE = re.compile(r"[^\W\d_]{3,}[.!?]+(?:\s|$).*?[a-z]{2}.*[.!?]\s*$|[!?]\s*$")
_BETWEEN_TRADES, _FEWEST_TRADES = re.compile(r"\s+[-–·•|/]\s+|,\s+"), 3
_HEAD_ROWS = 15
_LEAST_ECHO = 5
_LEAST_REPEATED = 4
_MOST_DIGITS = 0.4
_FEWEST_LETTERS = 4
_MOST_WORDS = 6
_NEAR_ROWS = 5
_MOST_GAP = 2.0
_SHORT_FORM = 2


def features(candidate: Candidate, context: Context) -> dict[str, float]:
    """Return the features of a candidate by name."""
    values: dict[str, float] = {
        **_of_text(candidate),
        **_of_words(candidate),
        **_of_place(candidate, context),
        **_of_surroundings(candidate, context),
        **_of_mentions(candidate, context),
        **(_of_join(candidate, context) if len(candidate.pieces) > 1 else {}),
    }
    if values["owned"]:
        # The name after "owned by" is the company's, even without a legal form.
        values |= {"strong_form": False, "form": False, "registered": False}
    return values


def _of_text(candidate: Candidate) -> dict[str, float]:
    name = candidate.name
    return {
        "figures": _share_of_digits(name),
        "money": _has_amount(candidate),
        "dated": bool(dates.days(candidate.text) or dates.times(candidate.text)),
        "lower": name.islower(),
        "upper": name.isupper(),
        "short": sum(character.isalpha() for character in name) < _FEWEST_LETTERS,
        "single": len(name.split()) == 1,
        "many": max(0, len(name.split()) - _MOST_WORDS),
        "open": company_names.continues(candidate.text) or name.count(")") > name.count("("),
        "unsure": 1 - min(piece.confidence for piece in candidate.pieces),
        "number_first": name[:1].isdigit(),
        "labelled_value": _LABELLED.match(candidate.text) is not None
        and name == candidate.text.strip(),
        "slogan": _is_slogan(candidate.text),
        "prefixed": not candidate.text.strip(" .,:;*-").startswith(name[:3]),
    }


def _of_words(candidate: Candidate) -> dict[str, float]:
    name = candidate.name
    ending = company_names.legal_ending(name)
    is_leading = company_names.follows_form(name)
    return {
        "strong_form": bool(ending and ending.form.is_cue) or company_names.has_joined_form(name),
        "form": bool(ending and not ending.form.is_cue),
        "short_form": bool(ending and len(ending.form.text.strip(".")) <= _SHORT_FORM),
        # `KG` is a legal form, not kilograms.
        "amount_label": bool(money_labels(name[: ending.start] if ending else name)),
        "bare_form": company_names.is_form_alone(name),
        "form_first": company_names.begins_with_form(name) and not is_leading,
        "trade": bool(book("trades").find(name)) and not _lists_trades(name),
        "generic": book("trades").is_all(name[: ending.start] if ending else name)
        or _lists_trades(name),
        "notice": _is_notice(name),
        "notice_only": book("notice").is_all(name),
        "address": is_address(name) or _has_postcode(candidate),
        "place": book("address").is_all(name),
        "contact": bool(book("contact").find(name)),
    }


def _of_place(candidate: Candidate, context: Context) -> dict[str, float]:
    first, last = candidate.rows[0], candidate.rows[-1]
    position = context.position(first)
    ending = company_names.legal_ending(candidate.name)
    middle = (candidate.box.x0 + candidate.box.x1) / 2
    extent = max(context.right - context.left, 1)
    return {
        "top": position == 0,
        "second": position == 1,
        "rank": min(context.position(last), _HEAD_ROWS),
        "height": _relative_height(candidate, context),
        "tallest": _height(candidate) / context.tallest,
        "body": first.index >= context.body,
        "form_below_head": bool(ending) and first.index >= context.body,
        "off_center": abs(middle - (context.left + context.right) / 2) / extent,
        "part_of_row": not all(piece.is_whole_row for piece in candidate.pieces),
    }


def _of_surroundings(candidate: Candidate, context: Context) -> dict[str, float]:
    first, last = candidate.rows[0], candidate.rows[-1]
    below = context.below(last, _NEAR_ROWS)
    return {
        "registered": _is_registered(candidate, context),
        "addressed": any(is_address(row.text) for row in below[:2]),
        "reachable": any(row.index in context.contacts for row in below),
        "behind_address": _share_above(first, context.addresses),
        "behind_contact": _share_above(first, context.contacts),
        "billed": _is_billed(candidate, context),
        "labelled": candidate.is_labelled,
        "seller": any(label.applies_to(candidate.box) for label in context.sellers),
        "owned": any(row.index in context.owned for row in candidate.rows)
        and not candidate.is_labelled,
        "gap_above": _gap(context, context.position(first) - 1),
        "gap_below": _gap(context, context.position(last)),
    }


def _is_billed(candidate: Candidate, context: Context) -> bool:
    """Return whether a label of the buyer applies, and none of the seller is nearer."""
    box = candidate.box
    buyers, sellers = (
        [abs(box.x0 - label.box.x0) for label in labels if label.applies_to(box)]
        for labels in (context.billed, context.sellers)
    )
    return bool(buyers) and min(buyers) <= min(sellers, default=min(buyers))


def _of_mentions(candidate: Candidate, context: Context) -> dict[str, float]:
    letters = normalize(candidate.name).letters
    own = {context.position(row) for row in candidate.rows}
    others = [text for index, text in enumerate(context.letters) if index not in own]
    is_long = len(letters) >= _LEAST_REPEATED
    return {
        "echo": _is_echoed(candidate.name, context),
        "domain": max((_agreement(candidate.name, core) for core in context.domains), default=0),
        "repeated": is_long and any(letters in text for text in others),
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
        or any(_starts_other_text(piece.text) for piece in candidate.pieces[1:]),
        "restyled": len({piece.text.isupper() for piece in candidate.pieces}) > 1,
    }


def _has_amount(candidate: Candidate) -> bool:
    amounts = (amount for row in candidate.rows for amount in row.amounts)
    return any(amount.decimals == CENTS for amount in amounts)


def _is_junk(piece: Piece) -> bool:
    return (
        _share_of_digits(piece.text) > _MOST_DIGITS
        or book("notice").is_all(piece.text)
        or is_address(piece.text)
        or _is_slogan(piece.text)
        or book("address").is_all(piece.text)
        or bool(book("contact").find(piece.text) or book("owned").find(piece.text))
    )


def _starts_other_text(text: str) -> bool:
    return bool(_NUMBERED_STREET.match(text) or _LABELLED.match(text))


def _share_above(row: Row, others: Collection[int]) -> float:
    """Return the share of a few rows above `row` that are among `others`."""
    above = range(max(0, row.index - _NEAR_ROWS), row.index)
    return sum(index in others for index in above) / _NEAR_ROWS


def _height(candidate: Candidate) -> float:
    return sum(piece.box.height for piece in candidate.pieces) / len(candidate.pieces)


def _relative_height(candidate: Candidate, context: Context) -> float:
    return max(-0.5, min(_height(candidate) / context.height - 1, 1.5))


def _gap(context: Context, position: int) -> float:
    """Return the gap below the row at a position, in heights of rows."""
    if not 0 <= position < len(context.rows) - 1:
        return 0.0
    upper, lower = (row.line.box for row in context.rows[position : position + 2])
    return max(0.0, min((lower.y0 - upper.y1) / context.height, _MOST_GAP))


def _is_registered(candidate: Candidate, context: Context) -> bool:
    """Return whether a registration number follows the name or is below it."""
    behind = candidate.text.strip()[len(candidate.name) :]
    below = context.below(candidate.rows[-1], 1)
    return _NUMBER_OF_COMPANY.search(behind) is not None or any(
        _REGISTERED.match(row.text) for row in below
    )


def _is_notice(name: str) -> bool:
    """Return whether the name contains words of documents, except as its last word."""
    return any(
        phrase.start == 0 or " " in name[phrase.start : phrase.end] or name[phrase.end :].strip()
        for phrase in book("notice").find(name)
    )


def _lists_trades(name: str) -> bool:
    """Return whether a text says what is sold: `Boulangerie - Pâtisserie - Salon de thé`."""
    parts = _BETWEEN_TRADES.split(name)
    trades = [part for part in parts if book("trades").find(part)]
    return len(parts) >= _FEWEST_TRADES and len(trades) * 2 > len(parts)


def _is_slogan(text: str) -> bool:
    """Return whether the text is a sentence."""
    words = text.split()
    return len(words) >= _LEAST_SENTENCE and _SENTENCE.search(text) is not None


def _has_postcode(candidate: Candidate) -> bool:
    """Return whether the text has a postcode, or below the first row one before a town."""
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
    letters = normalize(name).letters
    first = normalize(name.partition(" ")[0]).letters
    return (len(letters) >= _LEAST_ECHO and letters in context.echoes) or (
        len(first) >= _LEAST_ECHO and first in context.echoes
    )


def _agreement(name: str, core: str) -> float:
    """Return the overlap of a name with the name in a web address, as a share of either."""
    letters = normalize(name).letters
    words = [normalize(word).letters for word in name.split()]
    if core in words or (len(core) >= _LEAST_REPEATED and core in letters):
        return 1
    if len(letters) >= _LEAST_REPEATED and letters in core:
        return len(letters) / len(core)
    return 0


def _is_wrapped(candidate: Candidate) -> bool:
    """Return whether the last piece must continue the one above: open bracket, legal form alone."""
    last = candidate.pieces[-1].text
    return company_names.continues(_upper(candidate.pieces)) or company_names.is_form_alone(last)


def _upper(pieces: Sequence[Piece]) -> str:
    return " ".join(piece.text for piece in pieces[:-1])


def _is_last_complete(candidate: Candidate) -> bool:
    """Return whether the last piece alone is a name with its legal form."""
    last = candidate.pieces[-1].text
    ending = company_names.legal_ending(last)
    return ending is not None and len(last[: ending.start].split()) > 1
