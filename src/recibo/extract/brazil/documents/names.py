"""The issuer's name: the first lines of a roll, the box or the stub of a page."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from recibo.extract import resources
from recibo.extract.brazil import tax_ids
from recibo.extract.layout import forms, name_stoplist
from recibo.extract.layout.forms import Cell
from recibo.extract.model import Extracted, Line
from recibo.extract.text import ocr_confusions
from recibo.extract.text.squeezed import squeeze

_WORDS: Mapping[str, list[str]] = resources.table("brazil", "names.toml")


def _any(kind: str) -> str:
    """Return a pattern of the words of a kind, the longest first."""
    return "|".join(re.escape(word) for word in sorted(_WORDS[kind], key=len, reverse=True))


# Readers glue the form to the name before it.
_LEGAL_FORM = re.compile(
    rf"(?:\b|(?<=[A-Z]))(?:{_any('legal_forms')})\b\.?\s*"
    rf"(?:[-\u2013]?\s*(?:{_any('sizes')})\b\.?)?\s*$",
    re.IGNORECASE,
)
# Where the name has ended: registrations, the title of the paper, a rule, figures, an URL.
_OTHER = re.compile(
    rf"\b(?:{_any('registrations')})\b|CNPJ|^\W*$|[-=_*.]{{4,}}|HTTP|WWW\.|@|^\s*[0-9./ -]+$",
    re.IGNORECASE,
)
# An address: a kind of street in front, a number behind a comma, a postal code. A company may be
# called after a street, so a legal form goes before. The eleven digits behind a self-employed
# person's name are no postal code: the register puts the CPF into it.
_ADDRESS = re.compile(
    rf"^\s*(?:{_any('streets')})[.\s]+\S|,\s*(?:N[º°.O]*\s*)?[0-9]+"
    r"|(?<![0-9])[0-9]{5}-?[0-9]{3}(?![0-9])",
    re.IGNORECASE,
)
# Titles are read with errors, and glued.
_NOTICES = forms.vocabulary({"notice": _WORDS["notices"]})
_HALL = re.compile(rf"\b(?:{_any('halls')})\b", re.IGNORECASE)
#: A name has so many letters at least.
_FEWEST_LETTERS = 3
#: A line this much as wide as the paper's text was broken by the width, not by the writer.
_FULL = 0.85
#: The name stands in the first lines, under a greeting or a trade name at most.
_MOST_LINES = 5
#: Type of this share of the tallest counts as the same, at most this many heights apart.
_ALIKE, _APART = 0.88, 1.2


def on_roll(lines: Sequence[Line]) -> Extracted[str] | None:
    """Return the legal name at the head of a roll: the line with a legal form, else the first."""
    head = _head(lines)
    if not head:
        return None
    width = max(line.box.width for line in lines)
    for index, line in enumerate(head):
        if _LEGAL_FORM.search(line.text):
            if index and _continues(head[index - 1], line, width):
                return _found(head[index - 1 : index + 1])
            return _found([line])
    return _found(head[:1])


def _head(lines: Sequence[Line]) -> list[Line]:
    """Return the first lines that may be names, up to the address or the registrations.

    Where the goods are headed they follow, and no seller.
    """
    above = itertools.takewhile(lambda line: not name_stoplist.are_columns(line.text), lines)
    named = [looks_like_name(line.text) for line in itertools.islice(above, 2 * _MOST_LINES)]
    first = next((index for index, is_named in enumerate(named) if is_named), len(named))
    head = itertools.takewhile(
        lambda line: looks_like_name(line.text) or _is_bare_form(line.text),
        lines[first : first + _MOST_LINES],
    )
    return list(head)


def _continues(upper: Line, line: Line, width: float) -> bool:
    """Tell whether a line goes on with a name that was too wide for the paper."""
    is_broken = upper.box.width >= _FULL * width and line.box.width < upper.box.width
    return _is_bare_form(line.text) or (is_broken and not _LEGAL_FORM.search(upper.text))


def _is_bare_form(text: str) -> bool:
    """Tell whether a line is but a legal form, broken off the name above."""
    return _LEGAL_FORM.search(text) is not None and not _LEGAL_FORM.sub("", text).strip(" .-")


def _found(lines: Sequence[Line]) -> Extracted[str]:
    cell = Cell(tuple(word for line in lines for word in line.words))
    name = cleaned(cell.text)
    return cell.found(name if cell.is_exact else ocr_confusions.mended(name), confidence=0.9)


def cleaned(text: str) -> str:
    """Return a name without the signs and numbers that stand around it."""
    return re.sub(r"\s{2,}", " ", text).strip(" -:;,|*_=")


def has_letters(text: str) -> bool:
    """Tell whether there are enough letters for a name."""
    return sum(sign.isalpha() for sign in text) >= _FEWEST_LETTERS


def looks_like_name(text: str) -> bool:
    """Tell whether a line may be a name: letters, and neither an address nor a number."""
    if not has_letters(text) or _OTHER.search(text) or any(tax_ids.find(text)):
        return False
    if name_stoplist.are_labels(cleaned(text)):
        return False
    return has_form(text) or not (_ADDRESS.search(text) or is_notice(text))


def has_form(text: str) -> bool:
    """Tell whether a text ends with a company's legal form."""
    return _LEGAL_FORM.search(text) is not None


def is_notice(text: str) -> bool:
    """Tell whether a text holds a title, or says how its issuer is taxed."""
    squeezed = squeeze(text)
    return any(
        _NOTICES.pattern.match(squeezed, place) or _NOTICES.misreadings.match(squeezed, place)
        for place in range(len(squeezed))
    )


def is_hall(text: str) -> bool:
    """Tell whether a text is the heading of a town hall's page, or the title of its note."""
    return _HALL.search(text) is not None


def rows(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Return the cells of a box that make its name: the tallest, as long as they follow at once.

    Makers set the name in larger or bolder type than the address under it; where all is of one
    size the first row is the name.
    """
    named = [cell for cell in cells if looks_like_name(cell.text)]
    if not named:
        return
    tallest = max(cell.type_height for cell in named)
    first = next(index for index, cell in enumerate(named) if cell.type_height > _ALIKE * tallest)
    yield named[first]
    for upper, lower in zip(named[first:], named[first + 1 :], strict=False):
        is_alike = lower.type_height > _ALIKE * tallest
        is_next = lower.box.y0 - upper.box.y1 < _APART * tallest
        if not (is_alike and is_next) or _LEGAL_FORM.search(upper.text):
            return
        yield lower
