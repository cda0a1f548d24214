"""Finds the seller's address: the run of lines with the best features, or none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from recibo.extract.fields import address_pieces, choices, recipients
from recibo.extract.fields.address_pieces import Piece
from recibo.extract.fields.name_page import Label, labels_of
from recibo.extract.fields.recipients import Block, Column
from recibo.extract.layout.rows import Row
from recibo.extract.model import Box, Extracted, around
from recibo.extract.text.folding import normalize
from recibo.extract.weights import weights

FIELD = "merchant_address"
# An address has at most this many lines.
_MOST_LINES = 7
# The next line is within this many rows and heights.
_ROWS_BELOW, _GAP = 5, 1.1
_MOST_CANDIDATES = 400
_MOST_PIECES = 250
_HEAD, _FOOT = 0.3, 0.85
_FEWEST_LETTERS = 6
_MOST_RANK = 6
# The features of lines that are counted, and those that one line has.
_COUNTED = ("form", "notice", "name_words", "colon", "long")
_PRESENT = (
    *("street", "numbered", "postcode", "national", "unit", "area", "cue", "region", "comma"),
)
_WIDE = 45


@dataclass(frozen=True, slots=True)
class Candidate:
    """A run of lines that may be the seller's address."""

    pieces: tuple[Piece, ...]
    features: Mapping[str, float]

    @property
    def value(self) -> str:
        """The address on one line."""
        # Rows may begin or end with a comma.
        parts = (piece.text.strip(" ,") for piece in self.pieces)
        return ", ".join(part for part in parts if part)

    @property
    def box(self) -> Box:
        """The box around its lines."""
        return around([piece.box for piece in self.pieces])


def addresses(rows: Sequence[Row], names: Sequence[str] = ()) -> tuple[Extracted[str], ...]:
    """Return the candidates, the likeliest first; `names` are the seller's likely names."""
    found = ((_found(one), one.features) for one in candidates(rows, names))
    return choices.ranked(found, weights(FIELD))


def _found(one: Candidate) -> Extracted[str]:
    printed = "\n".join(piece.row.text[piece.start : piece.end] for piece in one.pieces)
    return Extracted(one.value, 0, printed, one.pieces[0].row.line.page, one.box)


def candidates(rows: Sequence[Row], names: Sequence[str] = ()) -> list[Candidate]:
    """Return the runs of lines with something that only addresses have, with their features."""
    if not rows:
        return []
    page = _Page.of(rows, names)
    found: list[Candidate] = []
    for index, piece in enumerate(page.pieces):
        if piece.is_other or not piece.features["letters"] or page.is_name(piece):
            continue
        found += [
            Candidate(run, page.features(run))
            for run in page.runs(index)
            if any(one.is_place for one in run) and not page.is_of_buyer(run)
        ]
        if len(found) > _MOST_CANDIDATES:
            break
    return found


@dataclass(frozen=True)
class _Page:
    """The pieces of a document, and what is near them."""

    pieces: Sequence[Piece]
    names: frozenset[str]
    billed: Sequence[Label]
    buyers: Sequence[Column]
    recipients: Sequence[Block]
    sellers: Sequence[Label]
    height: float
    counts: Mapping[str, int]
    #: The middle of the text, and whether it has columns.
    middle: float
    is_wide: bool

    @classmethod
    def of(cls, rows: Sequence[Row], names: Sequence[str]) -> "_Page":
        pieces = address_pieces.pieces(rows)[:_MOST_PIECES]
        counts: dict[str, int] = {}
        for piece in pieces:
            letters = normalize(piece.text).letters
            counts[letters] = counts.get(letters, 0) + 1
        return cls(
            pieces,
            frozenset(normalize(name).letters for name in names),
            tuple(labels_of(rows, "billed", "billed_alone")),
            recipients.of_buyer(rows),
            recipients.find(rows, names),
            tuple(labels_of(rows, None, "seller")),
            median(row.line.box.height for row in rows) or 1,
            counts,
            (min(row.line.box.x0 for row in rows) + max(row.line.box.x1 for row in rows)) / 2,
            max(row.line.box.x1 for row in rows)
            > _WIDE * (median(row.line.box.height for row in rows) or 1),
        )

    def is_name(self, piece: Piece) -> bool:
        return normalize(piece.text).letters in self.names

    def is_of_buyer(self, run: Sequence[Piece]) -> bool:
        """Return whether a line of a run is in the column below a label of the buyer."""
        page = run[0].row.line.page
        return any(column.holds(one.box, page) for one in run for column in self.buyers)

    def has_name_above(self, index: int) -> bool:
        """Return whether the seller's name is few rows above a piece."""
        piece = self.pieces[index]
        return any(
            self.is_name(upper)
            and upper.row.line.page == piece.row.line.page
            and upper.row.index >= piece.row.index - _ROWS_BELOW
            and min(piece.cell.x1, upper.cell.x1) > max(piece.cell.x0, upper.cell.x0)
            for upper in self.pieces[max(0, index - 4 * _ROWS_BELOW) : index]
        )

    def below(self, index: int) -> int | None:
        """Return the index of the piece below another one, in the same column."""
        piece = self.pieces[index]
        height = min(piece.box.height, 1.5 * self.height)
        for other in range(index + 1, len(self.pieces)):
            lower = self.pieces[other]
            if (
                lower.row.line.page != piece.row.line.page
                or lower.row.index > piece.row.index + _ROWS_BELOW
            ):
                return None
            if lower.row.index == piece.row.index:
                continue
            overlap = min(piece.cell.x1, lower.cell.x1) - max(piece.cell.x0, lower.cell.x0)
            if overlap > 0:
                gap = lower.box.y_center - piece.box.y_center
                return other if gap < (1 + _GAP) * max(height, lower.box.height) else None
        return None

    def above(self, index: int) -> int | None:
        piece = self.pieces[index]
        for other in range(index - 1, -1, -1):
            upper = self.pieces[other]
            if (
                upper.row.line.page != piece.row.line.page
                or upper.row.index < piece.row.index - _ROWS_BELOW
            ):
                return None
            if self.below(other) == index:
                return other
        return None

    def runs(self, index: int) -> Iterator[tuple[Piece, ...]]:
        run = [self.pieces[index]]
        yield tuple(run)
        place = index
        while len(run) < _MOST_LINES:
            following = self.below(place)
            if following is None:
                return
            lower = self.pieces[following]
            if (
                lower.is_other
                or _is_ended(run[-1], lower)
                or not lower.features["letters"]
                or lower.features["label"]
                or self.is_name(lower)
            ):
                return
            run.append(lower)
            yield tuple(run)
            place = following

    def features(self, run: Sequence[Piece]) -> dict[str, float]:
        """Return the features of a run of lines."""
        start, end = self.pieces.index(run[0]), self.pieces.index(run[-1])
        above, below = self.above(start), self.below(end)
        upper = self.pieces[above] if above is not None else None
        lower = self.pieces[below] if below is not None else None
        known = {
            **_content(run),
            **_ends(run),
            **self._above(upper),
            **_below(run[-1], None if lower and _is_ended(run[-1], lower) else lower),
            **self._position(run, start),
        }
        return {name: float(value) for name, value in known.items()}

    def _above(self, upper: Piece | None) -> dict[str, float]:
        if upper is None:
            return {}
        ends_with_comma = upper.row.text.rstrip().endswith(",")
        return {
            "below_name": self.is_name(upper),
            "below_label": upper.features["label"] and not upper.text,
            "below_form": upper.features["form"],
            "below_contact": upper.is_other,
            "cut_above": _continues(upper) and not self.is_name(upper),
            "comma_above": ends_with_comma and not upper.is_other,
        }

    def _position(self, run: Sequence[Piece], start: int) -> dict[str, float]:
        first = run[0]
        box = around([piece.box for piece in run])
        return {
            "near_name": self.has_name_above(start),
            "foot": first.row.depth > _FOOT,
            "head": first.row.depth < _HEAD and first.row.line.page == 1,
            "depth": min(first.row.depth, 1.0),
            "later_page": first.row.line.page > 1,
            "billed": any(label.applies_to(box) for label in self.billed)
            or any(all(block.holds(one.box) for one in run) for block in self.recipients),
            "right_half": first.box.x0 > self.middle and self.is_wide,
            "seller": any(label.applies_to(box) for label in self.sellers),
            "repeated": any(self.counts[normalize(one.text).letters] > 1 for one in run),
            "rank": min(sum(one.is_place for one in self.pieces[:start]), _MOST_RANK),
            "always": 1.0,
        }


def _content(run: Sequence[Piece]) -> dict[str, float]:
    """Return what the lines of a run contain."""
    sums: dict[str, float] = {
        f"sum_{name}": sum(piece.features[name] for piece in run) for name in _COUNTED
    }
    has: dict[str, float] = {
        f"has_{name}": any(piece.features[name] for piece in run) for name in _PRESENT
    }
    is_numbered = any(
        one.features["street"] and (one.features["numbered"] or one.features["unit"]) for one in run
    )
    letters = sum(sum(map(str.isalpha, one.text)) for one in run)
    return {
        **sums,
        **has,
        "street_and_postcode": has["has_street"] and has["has_postcode"],
        "street_and_number": is_numbered,
        "streets": max(0, sum(one.features["street"] for one in run) - 1),
        "postcodes": max(0, sum(one.features["postcode"] for one in run) - 1),
        "lines": len(run),
        "one_line": len(run) == 1,
        "short": letters < _FEWEST_LETTERS,
        "after_whole": _after_whole(run),
    }


def _ends(run: Sequence[Piece]) -> dict[str, float]:
    """Return how a run begins and ends."""
    first, last = run[0].features, run[-1].features
    plain = [_is_plain(piece) for piece in run]
    second = run[1].features if len(run) > 1 else None
    starts_below = second is not None and (second["numbered"] or second["street"])
    return {
        "plain": sum(plain),
        "plain_first": plain[0],
        "plain_last": plain[-1],
        "plain_then_start": plain[0] and starts_below,
        "starts_placed": first["street"] or first["numbered"] or first["unit"],
        "ends_postcode": last["postcode"],
        "ends_region": last["cue"] or last["region"],
        "label": first["label"],
        "comma_end": run[-1].row.text.rstrip().endswith(","),
    }


def _below(last: Piece, lower: Piece | None) -> dict[str, float]:
    """Return what follows a run."""
    is_other = lower is not None and lower.is_other
    is_cut = lower is not None and _continues(lower)
    return {
        "cut_below": is_cut,
        "plain_below": lower is not None and not is_cut and not is_other,
        "then_contact": last.features["then_contact"] or is_other,
    }


def _is_ended(last: Piece, lower: Piece) -> bool:
    """Return whether a telephone number ends an address, as no place is below it."""
    return last.features["then_contact"] and not lower.is_place


def _is_plain(piece: Piece) -> bool:
    known = piece.features
    return not (piece.is_place or known["numbered"] or known["area"] or known["cue"])


def _after_whole(run: Sequence[Piece]) -> int:
    """Return the lines after street and postcode that name no town, region or country."""
    has_street = has_postcode = False
    count = 0
    for piece in run:
        known = piece.features
        if has_street and has_postcode:
            count += not (known["cue"] or known["region"] or known["area"])
        has_street = has_street or known["numbered"] or known["street"] or known["unit"]
        has_postcode = has_postcode or known["postcode"]
    return count


def _continues(piece: Piece) -> bool:
    known = piece.features
    return not piece.is_other and (
        piece.is_place or (known["area"] and not known["form"]) or known["cue"]
    )
