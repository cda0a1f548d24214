"""Finds the buyer: the block of a letter, below the line of the sender, and below a label."""

import difflib
import itertools
import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from recibo.extract.fields import address_pieces, name_candidates, sender_lines
from recibo.extract.fields.address_pieces import Piece
from recibo.extract.fields.name_page import book, is_address
from recibo.extract.layout import name_stoplist
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box
from recibo.extract.text import lexicon
from recibo.extract.text.folding import normalize

# The block is in the head of a wide page: its heights in type.
_HEAD, _WIDE = 0.5, 34
_FEWEST_LINES, _MOST_LINES = 3, 7
# Its lines begin at one edge and follow closely, in heights.
_EDGE, _GAP = 0.7, 1.0
_MOST_PIECES = 120
# The first line is within so many heights of the line of the sender, which is small.
_MOST_BELOW_SENDER = 12.0
_MOST_BELOW_TOWN = 2
# `93B Sai Yu Chung`
_NUMBER_FIRST = re.compile(r"\d{1,5}[A-Z]?,?\s+[^\W\d]{2}")
# The least ratio of the heights of lines in one type.
_SAME_TYPE = 0.85
# The least similarity of two readings of one name.
_SAME_NAME = 0.9
# No name has so many words and ends with a period.
_SENTENCE = 4
# Words as short join two persons: `Herr und Frau`.
_JOINING = 3
# A party has at most this many rows, which are at most this many heights apart.
_MOST_ROWS, _MOST_GAP = 9, 3.5
# Rows of a party begin at most this many heights left of its label.
_INDENTED = 2.0


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of a recipient."""

    lines: tuple[Piece, ...]

    def holds(self, box: Box) -> bool:
        """Return whether a text is in the block."""
        return any(
            line.box.y0 <= box.y_center <= line.box.y1 and _is_at(line, box) for line in self.lines
        )


def find(rows: Sequence[Row], sellers: Sequence[str]) -> list[Block]:
    """Return the blocks that may be the recipient; `sellers` are the seller's likely names."""
    page = [row for row in rows if row.line.page == rows[0].line.page]
    height = median(row.line.box.height for row in page) if page else 1
    if not sellers or max(row.line.box.x1 for row in page) < _WIDE * height:
        return []
    pieces = address_pieces.pieces([row for row in page if row.depth < _HEAD])[:_MOST_PIECES]
    names = [normalize(name).letters for name in sellers]
    runs = ((run, _below_logo(_from_name(run), frozenset(names))) for run in _runs(pieces))
    return [
        Block(lines)
        for run, lines in runs
        if _is_recipient(lines, run, names[:1] if _is_apart(lines, names[0], pieces) else names)
    ]


def _is_apart(lines: Sequence[Piece], seller: str, pieces: Sequence[Piece]) -> bool:
    """Return whether the likeliest seller has its own address above some lines."""
    top = next((piece for piece in pieces if _is_same(normalize(piece.text).letters, seller)), None)
    if top is None or not lines:
        return False
    return any(
        _is_at(top, piece.box) and top.box.y0 < piece.box.y0 < lines[0].box.y0 - piece.box.height
        for piece in pieces
        if piece.features["street"] or piece.features["numbered"] or piece.features["postcode"]
    )


def _is_same(name: str, other: str) -> bool:
    return difflib.SequenceMatcher(None, name, other).ratio() >= _SAME_NAME


def _is_at(line: Piece, box: Box) -> bool:
    return abs(line.box.x0 - box.x0) < _EDGE * line.box.height


def _runs(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, ...]]:
    """Yield the lines that begin at one edge and follow closely, up to each town."""
    used: set[int] = set()
    for index, piece in enumerate(pieces):
        if index in used:
            continue
        run: list[Piece] = []
        last = piece
        for place in range(index, len(pieces)):
            line = pieces[place]
            is_next = line is piece or (_is_at(last, line.box) and _is_below(last, line))
            if not is_next:
                continue
            used.add(place)
            last = line
            run = [] if line.is_other else [*run, line]
            # `1822 SW JUNIPER LN` has the form of a postcode and its town, too.
            is_street = line.features["street"] and not line.features["comma"]
            if run and line.features["postcode"] and not is_street:
                yield tuple(run)
                run = []


def _is_below(upper: Piece, lower: Piece) -> bool:
    # A logo is followed by the gap of its large type, and then by other lines.
    most = _GAP * min(upper.box.height, lower.box.height)
    return upper.box.y0 < lower.box.y0 and lower.box.y0 - upper.box.y1 < most


def _from_name(run: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return lines from the name on, without numbers, labels and sentences above it."""
    return tuple(itertools.dropwhile(_is_above_name, run))


def _below_logo(lines: tuple[Piece, ...], sellers: frozenset[str]) -> tuple[Piece, ...]:
    """Return lines without the seller's name in larger type above them."""
    if len(lines) < _FEWEST_LINES or normalize(lines[0].text).letters not in sellers:
        return lines
    is_logo = lines[1].box.height < _SAME_TYPE * lines[0].box.height
    return lines[1:] if is_logo else lines


def _is_above_name(line: Piece) -> bool:
    is_sentence = line.row.text[line.end : line.end + 1] == "."
    is_sentence = is_sentence and len(line.text.split()) >= _SENTENCE
    is_label = lexicon.wordbook("customer", "addressed").is_all(line.text)
    return line.features["digits"] or is_label or (is_sentence and not line.features["form"])


def _is_recipient(lines: Sequence[Piece], run: Sequence[Piece], sellers: Sequence[str]) -> bool:
    """Return whether the end of a run is a name, perhaps a street, and a town, not the seller's."""
    if not _FEWEST_LINES <= len(lines) <= _MOST_LINES:
        return False
    first, *others = lines
    is_named = not (any(map(str.isdigit, first.text)) or name_stoplist.is_web_page(first.text))
    has_street = any(line.features["street"] or line.features["numbered"] for line in others[:-1])
    has_street = has_street or _is_village(lines, run)
    is_plain = not any(map(_is_labelled, lines))
    known = [normalize(line.text).letters for line in lines]
    is_sellers = any(name in line or line in name for name in sellers for line in known[:2] if line)
    return is_named and has_street and is_plain and not is_sellers


def _is_labelled(line: Piece) -> bool:
    """Return whether a line has a label, other than that of a department: `Att: Ana Lima`."""
    is_department = any(one.start == 0 for one in book("departments").find(line.text))
    return not is_department and bool(line.features["label"] or ":" in line.text)


def _is_village(lines: Sequence[Piece], run: Sequence[Piece]) -> bool:
    """Return whether lines may be an address without a street: houses in villages have names.

    Labels above values have smaller type, the seller is on top of the page, and lines below a
    street are the rest of an address.
    """
    heights = sorted(line.box.height for line in lines)
    is_one_type = heights[0] > _SAME_TYPE * heights[-1]
    above = run[: len(run) - len(lines)]
    is_rest = lines[0].features["street"] or any(line.features["digits"] for line in above)
    return is_one_type and lines[0].row.index > 0 and not is_rest


def name_of(block: Block) -> Piece:
    """Return the line with the name: the first one that is not only a form of address."""
    named = (line for line in block.lines if not is_form_of_address(line.text))
    return next(named, block.lines[0])


def is_form_of_address(text: str) -> bool:
    """Return whether a line only says who is addressed, not by name: `Herr und Frau`."""
    named = [book("persons").is_all(word) for word in text.split()]
    is_joined = (len(word) <= _JOINING for word in text.split())
    # `Bo Li` is a name.
    return any(named) and all(map(operator.or_, named, is_joined))


@dataclass(frozen=True, slots=True)
class Column:
    """The place of a party's rows below its label."""

    page: int
    box: Box

    def holds(self, box: Box, page: int) -> bool:
        """Return whether a text is in the column."""
        is_within = self.box.x0 <= box.x0 < self.box.x1
        return page == self.page and is_within and self.box.y0 <= box.y_center <= self.box.y1


def of_buyer(rows: Sequence[Row]) -> tuple[Column, ...]:
    """Return the columns of the buyer: below labels, in letters, and with a person addressed."""
    return (*_columns(rows), *_below_senders(rows), *_with_persons(rows))


def is_headed(row: Row) -> bool:
    """Return whether a row has labels of the buyer and of the seller, each alone in its cell."""
    pieces = name_candidates.pieces_of(row)
    return any(map(_is_label, pieces)) and any(map(_is_seller, pieces))


def _columns(rows: Sequence[Row]) -> Iterator[Column]:
    for row in rows:
        pieces = name_candidates.pieces_of(row)
        for piece, following in itertools.zip_longest(pieces, pieces[1:]):
            if not _is_label(piece):
                continue
            height = piece.box.height
            right = following.box.x0 - height if following else float("inf")
            left = piece.box.x0 - _INDENTED * height
            end = _end(piece, rows[row.index + 1 :], left, right)
            yield Column(row.line.page, Box(left, piece.box.y0, right, end))


def names_below_senders(rows: Sequence[Row]) -> list[name_candidates.Piece]:
    """Return the names of the recipients below the line of the sender."""
    return [
        next((line for line in lines if not is_form_of_address(line.text)), lines[0])
        for _, lines in _letters(rows)
    ]


def _below_senders(rows: Sequence[Row]) -> Iterator[Column]:
    for sender, lines in _letters(rows):
        left = sender.box.x0 - _INDENTED * sender.box.height
        box = Box(left, sender.box.y1, sender.box.x1, _end_of_letter(lines[-1], rows))
        yield Column(sender.row.line.page, box)


def _end_of_letter(town: name_candidates.Piece, rows: Sequence[Row]) -> float:
    """Return the lower end of the lines that follow a town closely: a country, a tax number."""
    last = town.box
    for row in rows[town.row.index + 1 : town.row.index + 1 + _MOST_BELOW_TOWN]:
        own = [one for one in name_candidates.pieces_of(row) if _is_in_column(town, one)]
        if not own or own[0].box.y0 - last.y1 > _GAP * last.height:
            break
        last = own[0].box
    return last.y1


def _with_persons(rows: Sequence[Row]) -> Iterator[Column]:
    """Yield the blocks in which a person is addressed below a company: `Herrn Peter Schulz`.

    Another address is above them, that of the sender.
    """
    head = itertools.takewhile(lambda row: row.depth < _HEAD, rows)
    below = itertools.dropwhile(lambda row: not is_address(row.text), head)
    for upper, row in itertools.pairwise(itertools.islice(below, 1, None)):
        for person in name_candidates.pieces_of(row):
            if not any(one.start == 0 for one in book("persons").find(person.text)):
                continue
            for company in name_candidates.pieces_of(upper):
                lines = _lines_below(company, rows)
                is_close = person.box.y0 - company.box.y1 < _GAP * person.box.height
                if person in lines[:1] and is_close and _is_in_column(company, person):
                    left = company.box.x0 - _INDENTED * company.box.height
                    box = Box(left, company.box.y0, person.box.x1, lines[-1].box.y1)
                    yield Column(row.line.page, box)


def _letters(
    rows: Sequence[Row],
) -> Iterator[tuple[name_candidates.Piece, Sequence[name_candidates.Piece]]]:
    """Yield the first line of a sender in the head, with the lines of the recipient below it."""
    for row in rows:
        for piece in name_candidates.pieces_of(row) if row.depth < _HEAD else ():
            if name := sender_lines.sender_in(piece.text):
                lines = _lines_below(piece, rows)
                sender = normalize(name).letters
                if lines and not any(normalize(line.text).letters in sender for line in lines):
                    yield piece, lines
                return


def _lines_below(
    sender: name_candidates.Piece, rows: Sequence[Row]
) -> Sequence[name_candidates.Piece]:
    """Return the lines of the recipient: they follow closely, and one of them is of an address."""
    lines: list[name_candidates.Piece] = []
    bottom, most = sender.box.y1, _MOST_BELOW_SENDER * sender.box.height
    for row in rows[sender.row.index + 1 : sender.row.index + 1 + 2 * _MOST_LINES]:
        own = [one for one in name_candidates.pieces_of(row) if _is_in_column(sender, one)]
        if not own:
            continue
        if own[0].box.y0 - bottom > most:
            if _is_addressed(lines):
                break
            # A slogan may be between the sender and the recipient.
            lines = []
        if any(row.is_money(amount) for amount in row.amounts):
            break
        lines.append(own[0])
        bottom, most = own[0].box.y1, _GAP * own[0].box.height
        if sender_lines.TOWN.match(own[0].text):
            break
    return lines if _is_addressed(lines) else []


def _is_addressed(lines: Sequence[name_candidates.Piece]) -> bool:
    """Return whether lines are a name, and an address with a number in a line below it."""
    if not _FEWEST_LINES <= len(lines) <= _MOST_LINES:
        return False
    name, *others = (line.text for line in lines)
    is_named = not any(map(str.isdigit, name)) and ":" not in name
    return is_named and any(map(_is_place, others))


def _is_place(text: str) -> bool:
    is_numbered = any(map(str.isdigit, text))
    is_street = _NUMBER_FIRST.match(text) is not None or is_address(text)
    return sender_lines.TOWN.match(text) is not None or (is_numbered and is_street)


def _is_in_column(sender: name_candidates.Piece, piece: name_candidates.Piece) -> bool:
    is_at_edge = abs(piece.box.x0 - sender.box.x0) < _INDENTED * sender.box.height
    return piece.row.line.page == sender.row.line.page and is_at_edge


def _is_label(piece: name_candidates.Piece) -> bool:
    return bool(book("billed").is_all(piece.text) or book("buyer").is_all(piece.text))


def _is_seller(piece: name_candidates.Piece) -> bool:
    return bool(book("seller").is_all(piece.text))


def _end(label: name_candidates.Piece, rows: Sequence[Row], left: float, right: float) -> float:
    """Return the lower end of the rows of a party: above amounts, a wide gap or another label."""
    last = label.box
    for row in rows[:_MOST_ROWS]:
        own = [piece for piece in name_candidates.pieces_of(row) if left <= piece.box.x0 < right]
        is_other = any(_is_label(one) or _is_seller(one) for one in own)
        is_far = row.line.box.y0 - last.y1 > _MOST_GAP * label.box.height
        has_money = any(row.is_money(amount) for amount in row.amounts)
        if row.line.page != label.row.line.page or is_other or is_far or has_money:
            break
        last = row.line.box
    return last.y1
