"""Finds the issuer's name: the first lines of a receipt, or the rows of a box."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recibo.extract import resources
from recibo.extract.brazil import states, tax_ids
from recibo.extract.layout import forms, name_stoplist
from recibo.extract.layout.forms import Form, Label
from recibo.extract.layout.rows import Cell
from recibo.extract.layout.rows import cells as cells_of
from recibo.extract.model import Extracted, Line
from recibo.extract.text import lexicon, ocr_confusions
from recibo.extract.text.normalized_lines import normalize_label

# `BELÉM - PA`, `24/10/2016 16:19:52 CCF:022228 COO:205608`
_TOWN_OR_DAY = re.compile(
    rf"\W*[^\W\d]+(?:[ '.][^\W\d]+)*\s?[-/–]\s?(?:{'|'.join(states.every())})\W*$"
    r"|\W*\d\d/\d\d/\d{4}\b",
    re.IGNORECASE,
)
# `QTD.UN.VL UNIT(R$) ST VL ITEM(R$)`
_HEADINGS = re.compile(
    r"(?:(?:item|c[oó]d(?:igo)?|descri[cç][aã]o|produtos?|qtde?|quant|unid|unit(?:[aá]rio)?|un|vlr?"
    r"|valor|total|st|r\$)(?![^\W\d_])|[\W\d_])*+$",
    re.IGNORECASE,
)
# The rest of a title on two rows: `Documento Auxiliar da Nota` `Fiscal`.
_FISCAL = "fiscal"
_WORDS: Mapping[str, list[str]] = resources.table("brazil", "names.toml")


def _any(kind: str) -> str:
    """Return a pattern of all words of a kind, the longest first."""
    return "|".join(re.escape(word) for word in sorted(_WORDS[kind], key=len, reverse=True))


# OCR may join the legal form to the name before it.
_LEGAL_FORM = re.compile(
    rf"(?:\b|(?<=[A-Z]))(?:{_any('legal_forms')})\b\.?\s*"
    rf"(?:[-\u2013]?\s*(?:{_any('sizes')})\b\.?)?\s*$",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(r"\s*\d{4,}-\d{1,2}\b")
# Not a name: registrations, the title of the document, a rule, numbers, a URL.
_OTHER = re.compile(
    rf"\b(?:{_any('registrations')})\b|CNPJ|^\W*$|[-=_*.]{{4,}}|HTTP|WWW\.|@|^\s*[0-9./ -]+$",
    re.IGNORECASE,
)
# Before a name: `CNPJ: 04.552.718/0001-41 PEIXARIA SOL`, `Razão Social: PEIXARIA SOL`.
_LEAD = re.compile(
    rf"\W*(?:CNPJ\W*[0-9](?:[./ -]*[0-9]){{13}}\W+|(?:{_any('name_labels')})\s*:\s*)",
    re.IGNORECASE,
)
# Behind a name: the title, number or series in the next box.
_BOX = re.compile(r"\W*(?:DANFE|NFC-?e|N[º°o.]\W*[0-9]|S[ée]rie)", re.IGNORECASE)
# An address: it begins with a word for a street, or has a number after a comma or a postal code.
# With a legal form it is a company named after a street. Eleven digits after the name of a
# self-employed person are the CPF, not a postal code.
_ADDRESS = re.compile(
    rf"^\s*(?:{_any('streets')})[.\s]+\S|,\s*(?:N[º°.O]*\s*)?[0-9]+"
    r"|(?<![0-9])[0-9]{5}-?[0-9]{3}(?![0-9])",
    re.IGNORECASE,
)
# OCR misreads titles and joins their words.
_NOTICES = forms.vocabulary({"notice": _WORDS["notices"]})
_TOWN_HALL = re.compile(rf"\b(?:{_any('town_halls')})\b", re.IGNORECASE)
#: The fewest letters of a name.
_FEWEST_LETTERS = 3
#: A line at least this wide, as a share of the widest one, may continue in the next line.
_FULL = 0.85
#: The name is in the first lines, perhaps below a greeting or a trade name.
_MOST_LINES = 5
#: Rows of one name: their least height as a share of the tallest, and the largest gap in heights.
_SAME_SIZE, _APART = 0.88, 1.2
#: Rows of a name without other evidence: the largest gap, and the width of a space, in heights.
_CLOSE, _SPACE = 0.7, 0.3
_CODE_AND_NAME = re.compile(r"\bC[OÓ]D(?:IGO)?\b.{0,6}\bDESCRI", re.IGNORECASE)


def in_receipt_head(lines: Sequence[Line]) -> Extracted[str] | None:
    """Return the legal name in a receipt's head: the line with a legal form, else the first."""
    head = _head([_part_with_name(line) for line in lines[: 3 * _MOST_LINES]])
    if not head:
        return None
    width = max(line.box.width for line in lines)
    for index, line in enumerate(head):
        if _LEGAL_FORM.search(line.text):
            if index and _continues(head[index - 1], line, width):
                return _found(head[index - 1 : index + 1])
            return _found([line])
    return _found(head[:1])


def _part_with_name(line: Line) -> Line:
    """Return a line without the tax id or label before a name, and without the next box."""
    first, *others = cells_of(line.words)
    words = list(first.words if any(_BOX.match(cell.text) for cell in others) else line.words)
    text = Cell(tuple(words)).text
    lead = _LEAD.match(text)
    rest = lead.end() if lead and has_letters(text[lead.end() :]) else 0
    while rest and rest > len(words[0].text):
        rest -= len(words.pop(0).text) + 1
    words[0] = replace(words[0], text=words[0].text[max(rest, 0) :])
    return replace(line, words=tuple(words), box=Cell(tuple(words)).box)


def _head(lines: Sequence[Line]) -> list[Line]:
    """Return the first lines that may be names, up to the address, registrations or items."""
    above = itertools.takewhile(lambda line: not _are_headings(line.text), lines)
    named = [looks_like_name(line.text) for line in itertools.islice(above, 2 * _MOST_LINES)]
    first = next((index for index, is_named in enumerate(named) if is_named), len(named))
    head = itertools.takewhile(
        lambda line: looks_like_name(line.text) or _is_bare_form(line.text),
        lines[first : first + _MOST_LINES],
    )
    return list(head)


def _continues(upper: Line, line: Line, width: float) -> bool:
    """Return whether a line continues a name that was too wide for the receipt."""
    is_broken = upper.box.width >= _FULL * width and line.box.width < upper.box.width
    is_broken |= lexicon.is_joining(upper.text.rsplit()[-1])
    return _is_bare_form(line.text) or (is_broken and not _LEGAL_FORM.search(upper.text))


def _is_bare_form(text: str) -> bool:
    """Return whether a line is only a legal form that belongs to the name above."""
    return _LEGAL_FORM.search(text) is not None and not _LEGAL_FORM.sub("", text).strip(" .-")


def _found(lines: Sequence[Line]) -> Extracted[str]:
    cell = Cell(tuple(word for line in lines for word in line.words))
    name = cleaned(cell.text)
    return cell.found(name if cell.is_exact else ocr_confusions.repaired(name), confidence=0.9)


def cleaned(text: str) -> str:
    """Return a name without the punctuation around it."""
    return re.sub(r"\s{2,}", " ", text).strip(" -:;,|*_=")


def without_address(text: str) -> str:
    """Return a name without the address behind it: `IRMAOS BECKER LTDA - Rua Sao Pedro 77`."""
    name, dash, rest = text.partition(" - ")
    return name if dash and _ADDRESS.search(rest) else text


def has_letters(text: str) -> bool:
    """Return whether there are enough letters for a name."""
    return sum(sign.isalpha() for sign in text) >= _FEWEST_LETTERS


def looks_like_name(text: str) -> bool:
    """Return whether a line may be a name: letters, and neither an address nor a number."""
    is_other = _OTHER.search(text) or is_account(text)
    if not has_letters(text) or is_other or any(tax_ids.find(text)):
        return False
    if name_stoplist.are_labels(cleaned(text)) or is_heading_or_place(text):
        return False
    return has_form(text) or not (_ADDRESS.search(text) or is_notice(text))


def is_account(text: str) -> bool:
    """Return whether a text begins with the number of a customer: `22071184-0 Ref. JUN/2026`."""
    return _ACCOUNT.match(text) is not None


def has_form(text: str) -> bool:
    """Return whether a text ends with a company's legal form."""
    return _LEGAL_FORM.search(text) is not None


def is_notice(text: str) -> bool:
    """Return whether a text contains a title, or the tax regime of the issuer."""
    normalized = normalize_label(text)
    return any(
        _NOTICES.pattern.match(normalized, place) or _NOTICES.fuzzy.match(normalized, place)
        for place in range(len(normalized))
    )


def is_town_hall(text: str) -> bool:
    """Return whether a text is the heading of a town hall's form, or its title."""
    return _TOWN_HALL.search(text) is not None


def is_heading_or_place(text: str) -> bool:
    """Return whether a text is a title, column headings, a town with its state, or a day."""
    is_title = text.strip(" .:").lower() == _FISCAL or name_stoplist.is_title(text)
    return is_title or _are_headings(text) or _TOWN_OR_DAY.match(text) is not None


def _are_headings(text: str) -> bool:
    is_list = has_letters(text) and _HEADINGS.match(text) is not None
    is_table = _CODE_AND_NAME.search(text) is not None
    return is_list or is_table or name_stoplist.are_column_headings(text)


def with_next_row(form: Form, label: Label, found: Extracted[str]) -> Extracted[str]:
    """Return a labelled name with its next row, which begins at the name or at its label.

    The rows are one name if the first one has no legal form and the second one ends with it, or
    if a joining word is between them.
    """
    box = found.box
    if box is None or has_form(found.value):
        return found
    for index, normalized in enumerate(form.lines[label.line + 1 :], label.line + 1):
        line = normalized.line
        if line.page != found.page or line.box.y0 > box.y1 + _CLOSE * box.height:
            return found
        for cell in cells_of(line.words):
            is_at_edge = any(abs(cell.box.x0 - x0) < box.height for x0 in (box.x0, label.box.x0))
            is_below = cell.box.y_center > box.y1
            is_label = any(one.box.x0 < cell.box.x1 for one in form.on_line(index))
            if is_at_edge and is_below and not is_label and _are_one(found.value, cell):
                text = f"{found.text}\n{cell.text}"
                name = cleaned(f"{found.value} {cell.text}")
                return replace(found, value=name, text=text, box=box.union(cell.box))
    return found


def _are_one(upper: str, lower: Cell) -> bool:
    is_name = has_letters(lower.text) and not _ADDRESS.search(lower.text)
    is_ended = has_form(lower.text) or lexicon.is_joining(upper.rsplit(maxsplit=1)[-1])
    return is_name and is_ended and ":" not in lower.text


def with_rows_above(lower: Cell, above: Sequence[Cell], reach: float) -> Cell:
    """Return the last row of a name with its first rows, which had no room for the next word.

    Args:
        lower: The last row.
        above: The rows above it, from the bottom up.
        reach: The right edge of the box.
    """
    whole = lower
    for upper in above:
        if not is_continued(upper, lower, reach):
            break
        whole = Cell(upper.words + whole.words)
        lower = upper
    return whole


def is_continued(upper: Cell, lower: Cell, reach: float) -> bool:
    """Return whether a name continues in the row below, which has the same size."""
    heights = sorted((upper.type_height, lower.type_height))
    is_near = abs(lower.box.y0 - upper.box.y1) < _CLOSE * heights[1]
    is_same_size = heights[0] > _SAME_SIZE * heights[1]
    if not (is_near and is_same_size and looks_like_name(upper.text)) or has_form(upper.text):
        return False
    is_full = upper.box.x1 + lower.words[0].box.width + _SPACE * heights[1] > reach
    return is_full or _is_bare_form(lower.text) or lexicon.is_joining(upper.text.rsplit()[-1])


def rows(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Yield the cells of a box that form its name: the tallest, and those that follow directly.

    The name is printed in larger type than the address below it. If all rows have the same size,
    the first one is the name.
    """
    named = [cell for cell in cells if looks_like_name(cell.text)]
    if not named:
        return
    tallest = max(cell.type_height for cell in named)
    first = next(
        index for index, cell in enumerate(named) if cell.type_height > _SAME_SIZE * tallest
    )
    yield named[first]
    for upper, lower in zip(named[first:], named[first + 1 :], strict=False):
        is_same_size = lower.type_height > _SAME_SIZE * tallest
        is_next = lower.box.y0 - upper.box.y1 < _APART * tallest
        if not (is_same_size and is_next) or _LEGAL_FORM.search(upper.text):
            return
        yield lower
