"""Joins the letters of a PDF's text layer to words, and checks whether they can be trusted."""

import functools
import itertools
import math
import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from recibo.extract.document.pdf_letters import Glyph
from recibo.extract.model import Box, Word, around

#: Shares of a letter's height. A larger gap separates words (pdfium detects most spaces itself),
#: and so does a larger step back or sideways.
_MAX_GAP = 0.5
_MAX_STEP_BACK = 0.5
_MAX_STEP_ASIDE = 0.4
#: A smaller gap separates words, too, if others in the word are still smaller: pdfium misses
#: narrow spaces that are no letters, and wide gaps between all letters are a style.
_MIN_NARROW_GAP, _MIN_NARROW_DIFFERENCE = 0.09, 0.08
_OVERLAPPING, _MIN_OVERLAPPING_DIFFERENCE = -0.15, 0.055

#: Vertical text is kept in whole runs; gaps between these shares separate its words.
_MAX_VERTICAL_GAP = 1.5
_MIN_SPACE = 0.15

#: Two equal words that overlap by more than this share are fake bold.
_SAME_PLACE = 0.5
#: The least length of a side, pixels.
_LEAST_LENGTH = 0.01

#: The most letters of a word; a URL has fewer. Longer runs are hidden data.
_LONGEST_RUN = 500

#: A page with fewer letters is a picture with a stamp or page number.
_MIN_LETTERS = 40

#: The least shares in real text. Without a character map, the letters of a font are unassigned,
#: private or shifted, and shifted ones have hardly any vowels.
_MIN_KNOWN = 0.95
_MIN_VOWELS = 0.15

_VOWELS = frozenset("aeiouyAEIOUY")

#: pdfium's character for a hyphen at the end of a line.
_BROKEN_HYPHEN = "\x02"

_FIRST_LIGATURE, _LAST_LIGATURE = "\ufb00", "\ufb06"


def words(glyphs: Iterable[Glyph], *, page: int) -> tuple[Word, ...]:
    """Join letters to words; vertical text stays in runs with spaces."""
    found = (_word(part, page) for run in _runs(glyphs) for part in _at_narrow_gaps(run))
    return tuple(_printed_once(word for word in found if word.text))


def is_trustworthy(glyphs: Sequence[Glyph]) -> bool:
    """Return whether a page has enough text, and it is readable."""
    signs = [glyph.letter for glyph in glyphs if not glyph.letter.isspace()]
    if sum(sign.isalnum() for sign in signs) < _MIN_LETTERS:
        return False
    known = sum(bool(_clean(sign)) for sign in signs)
    return known >= _MIN_KNOWN * len(signs) and not _is_shifted(signs)


def main_turns(glyphs: Iterable[Glyph]) -> int:
    """Return the rotation of most of the text, in quarter turns clockwise."""
    turns = Counter(glyph.turns for glyph in glyphs if not glyph.letter.isspace())
    return turns.most_common(1)[0][0] if turns else 0


def _is_shifted(signs: Sequence[str]) -> bool:
    """Return whether Latin text has too few vowels for any language."""
    letters = [sign for sign in signs if sign.isalpha()]
    plain = [letter for letter in letters if letter.isascii()]
    vowels = sum(letter in _VOWELS for letter in plain)
    # A few Latin letters among another script, "2 x 220", need no vowels.
    return len(plain) > len(letters) / 2 and vowels < _MIN_VOWELS * len(plain)


def _runs(glyphs: Iterable[Glyph]) -> Iterator[list[Glyph]]:
    """Split letters at the ends of words."""
    run: list[Glyph] = []
    for glyph in glyphs:
        is_blank = glyph.letter.isspace()
        if run and (_ends_word(run[-1], glyph) or len(run) == _LONGEST_RUN):
            yield run
            run = []
        if not is_blank:
            run.append(glyph)
    if run:
        yield run


def _at_narrow_gaps(run: list[Glyph]) -> Iterator[list[Glyph]]:
    """Split a horizontal run where gaps are wider than those between most of its letters."""
    size = max(1.0, *map(_size, run))
    gaps = [_gap(last, glyph) / size for last, glyph in itertools.pairwise(run)]
    usual = statistics.median_low(gaps) if gaps else 0.0
    least = max(_MIN_NARROW_GAP, usual + _MIN_NARROW_DIFFERENCE)
    if usual < _OVERLAPPING:
        # Some fonts give letters boxes that are wider than they are, capitals by less.
        least = statistics.median_high(gaps) + _MIN_OVERLAPPING_DIFFERENCE
        gaps = [
            usual if last.letter.isupper() and glyph.letter.islower() else gap
            for gap, (last, glyph) in zip(gaps, itertools.pairwise(run), strict=True)
        ]
    if run[0].turns % 2 or max(gaps, default=least) < least:
        yield run
        return
    ends = [place for place, gap in enumerate(gaps, start=1) if gap >= least]
    yield from (run[first:end] for first, end in itertools.pairwise((0, *ends, len(run))))


def _ends_word(last: Glyph, glyph: Glyph) -> bool:
    """Return whether a word ends after its last letter; vertical text includes spaces."""
    return not last.turns if glyph.letter.isspace() else not _continues_word(last, glyph)


def _continues_word(last: Glyph, glyph: Glyph) -> bool:
    """Return whether a letter follows the last one in the same word."""
    if last.turns != glyph.turns:
        return False
    if last.box == glyph.box:
        # The letters of a ligature share its box.
        return True
    size = _size(last)
    max_gap = _MAX_VERTICAL_GAP if last.turns else _MAX_GAP
    aside = abs(_middle(glyph) - _middle(last))
    return -_MAX_STEP_BACK * size <= _gap(last, glyph) <= max_gap * size and (
        aside <= _MAX_STEP_ASIDE * size
    )


def _gap(last: Glyph, glyph: Glyph) -> float:
    """Return the distance between two letters along the text direction."""
    match last.turns:
        case 0:
            return glyph.box.x0 - last.box.x1
        case 1:
            return glyph.box.y0 - last.box.y1
        case 2:
            return last.box.x0 - glyph.box.x1
        case _:
            return last.box.y0 - glyph.box.y1


def _middle(glyph: Glyph) -> float:
    """Return the middle of a letter across the text direction."""
    return glyph.box.x_center if glyph.turns % 2 else glyph.box.y_center


def _size(glyph: Glyph) -> float:
    """Return the height of a letter across the text direction."""
    return glyph.box.width if glyph.turns % 2 else glyph.box.height


def _word(run: Sequence[Glyph], page: int) -> Word:
    text = _clean(run[0].letter)
    for last, glyph in itertools.pairwise(run):
        is_separate = last.turns and _gap(last, glyph) > _MIN_SPACE * _size(last)
        text += (" " if is_separate else "") + _clean(glyph.letter)
    box = around([glyph.box for glyph in run])
    return Word(text.strip(), box, confidence=1.0, page=page, is_vertical=bool(run[0].turns % 2))


@functools.lru_cache(maxsize=4096)
def _clean(letter: str) -> str:
    """Return a letter as typed; empty for control and unassigned characters."""
    if letter == _BROKEN_HYPHEN:
        return "-"
    if _FIRST_LIGATURE <= letter <= _LAST_LIGATURE:
        return unicodedata.normalize("NFKC", letter)
    return "" if unicodedata.category(letter).startswith("C") else letter


def _printed_once(found: Iterable[Word]) -> Iterator[Word]:
    """Drop words that are printed again at the same place to look bold."""
    places: defaultdict[tuple[str | int, ...], list[Box]] = defaultdict(list)
    texts: set[str] = set()
    for word in found:
        near = _near(word) if word.text in texts else ()
        if not any(_covers(box, word.box) for key in near for box in places.get(key, ())):
            texts.add(word.text)
            places[_key(word.text, word.box)].append(word.box)
            yield word


def _key(text: str, box: Box) -> tuple[str | int, ...]:
    """Return a key that equal words of a similar size at a similar place share.

    A cell is as large as the word, so few words that do not overlap share it.
    """
    across, down = _magnitude(box.width), _magnitude(box.height)
    return text, across, down, _cell(box.x_center, across), _cell(box.y_center, down)


def _near(word: Word) -> Iterator[tuple[str | int, ...]]:
    """Yield the keys of equal words, of half to twice the size, whose middle a word covers."""
    box = word.box
    for across, down in itertools.product(
        _similar_magnitudes(box.width), _similar_magnitudes(box.height)
    ):
        columns = range(_cell(box.x0, across), _cell(box.x1, across) + 1)
        rows = range(_cell(box.y0, down), _cell(box.y1, down) + 1)
        for column, row in itertools.product(columns, rows):
            yield word.text, across, down, column, row


def _magnitude(length: float) -> int:
    """Return the exponent of the least power of two above a length."""
    return math.frexp(max(length, _LEAST_LENGTH))[1]


def _similar_magnitudes(length: float) -> range:
    return range(_magnitude(length) - 1, _magnitude(length) + 2)


def _cell(place: float, magnitude: int) -> int:
    return math.floor(math.ldexp(place, -magnitude))


def _covers(box: Box, other: Box) -> bool:
    width = min(box.x1, other.x1) - max(box.x0, other.x0)
    height = min(box.y1, other.y1) - max(box.y0, other.y0)
    area = max(0.0, width) * max(0.0, height)
    return area > _SAME_PLACE * box.width * box.height
