"""Finding access keys in the text of a page.

A key is printed in eleven groups of four (or in one run), with blanks, dots or dashes between, on
narrow paper over two lines. Readers glue it to its label, split it, and lose digits now and then.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from recibo.extract.brazil import access_keys, tax_ids
from recibo.extract.brazil.access_keys import AccessKey

#: A key is printed in eleven groups of four.
_GROUP = 4
_GROUPS = 11
#: A page of figures alone holds groups without end; each costs some hundred trials.
_MOST_REPAIRS = 50
#: Nor does it hold more runs of digits as long as a key: an honest page of 2,300 words has 400.
_MOST_CANDIDATES = 10_000
#: No row of a paper has more letters; longer ones are data that a maker hid in the page.
_LONGEST_LINE = 600
#: A narrow roll breaks a key once, rarely twice.
_MOST_LINES = 3

#: So many of its letters are digits, if read as letters now and then.
_FEWEST_DIGITS = 32

_BETWEEN = r"[\s.,\-\u2013/:|]{0,3}"
_DIGIT = "[0-9OQDILSBZ]"


def _shape(parts: Iterable[tuple[str, int]]) -> re.Pattern[str]:
    """Return a pattern that meets a key at every place, separators allowed inside."""
    letters = [unit for unit, count in parts for _ in range(count)]
    # The lookahead lets candidates overlap, so that a stray digit in front spoils nothing.
    return re.compile(f"(?=({_BETWEEN.join(letters)}))")


_ANY_DIGIT = re.compile(_DIGIT)
_LETTER = "[0-9A-Z]"
_GOODS = _shape([(_DIGIT, 6), (_LETTER, 12), (_DIGIT, 26)])
_SERVICE = _shape([(_DIGIT, 9), (_LETTER, 12), (_DIGIT, 29)])
_FIGURE = re.compile(
    r"(?<![0-9.,/-])[0-9]{1,3}(?:\.[0-9]{3}){1,2}(?![0-9.,/-])|(?<![0-9])[0-9]{1,9}(?![0-9])"
)
_NOT_KEY = re.compile(r"[^0-9A-Z]")
#: Digits that readers see in the letters of an alphanumeric CNPJ.
_AS_LETTERS = {"0": "O", "1": "I"}
_AS_DIGITS = str.maketrans("OQDILSBZ", "00011582")


@dataclass(frozen=True, slots=True)
class PrintedKey:
    """A key met in the text."""

    key: AccessKey
    #: The text it was read from.
    text: str
    #: The lines it stands on, as indices into the lines searched.
    lines: range
    #: Whether a character was put right by means of check digits.
    is_mended: bool = False


def find(lines: Sequence[str], *, known: Iterable[str] = ()) -> tuple[PrintedKey, ...]:
    """Find the keys in lines of text, those with a right check digit first.

    Args:
        lines: The lines from top to bottom.
        known: Tax ids printed on the page; they settle which repair of a damaged key is right.
    """
    found: dict[str, PrintedKey] = {}
    digits = [len(_ANY_DIGIT.findall(line.upper())) for line in lines]
    spans = (
        span for span in _spans(lines) if sum(digits[span.start : span.stop]) >= _FEWEST_DIGITS
    )
    candidates = ((match, span) for span in spans for match in _candidates(lines, span))
    for match, span in itertools.islice(candidates, _MOST_CANDIDATES):
        if printed := _read(match, span):
            found.setdefault(printed.key.text, printed)
    if not any(printed.key.is_sound for printed in found.values()):
        for printed in _mended(lines, frozenset(known)):
            found.setdefault(printed.key.text, printed)
    return tuple(sorted(found.values(), key=lambda printed: not printed.key.is_sound))


def _spans(lines: Sequence[str]) -> Iterator[range]:
    """Return every run of up to three lines, single lines first."""
    for length in range(1, _MOST_LINES + 1):
        for first in range(len(lines) - length + 1):
            yield range(first, first + length)


def _candidates(lines: Sequence[str], span: range) -> Iterator[re.Match[str]]:
    """Yield what may be keys that begin in the first line of the span and end in its last."""
    joined = "\n".join(lines[index] for index in span).upper()
    is_plain = joined.count("\n") == len(span) - 1
    if not is_plain or not access_keys.GOODS_LENGTH <= len(joined) <= _LONGEST_LINE:
        return
    for match in itertools.chain(_SERVICE.finditer(joined), _GOODS.finditer(joined)):
        if match[1].count("\n") == len(span) - 1:
            yield match


def _read(match: re.Match[str], span: range) -> PrintedKey | None:
    keys = [
        key
        for bare in _readings(_NOT_KEY.sub("", match[1]))
        if (key := access_keys.parse(bare)) is not None
    ]
    sound = next((key for key in keys if key.is_sound), None)
    if sound or (keys and _stands_alone(match.string, match)):
        return PrintedKey(sound or keys[0], match[1], span)
    return None


def _readings(bare: str) -> Iterator[str]:
    """Return the key as read, with letters made digits where only digits stand, then everywhere."""
    first = 6 if len(bare) == access_keys.GOODS_LENGTH else 9
    head, issuer, tail = bare[:first], bare[first : first + 12], bare[first + 12 :]
    head, tail = head.translate(_AS_DIGITS), tail.translate(_AS_DIGITS)
    yield head + issuer + tail
    # An alphanumeric CNPJ may hold a true O or I, so its own check digits must ask for the change.
    digits = issuer.translate(_AS_DIGITS)
    if digits != issuer and tax_ids.is_cnpj(digits + tail[:2]):
        yield head + digits + tail
    if not issuer.isdecimal():
        lettered = (each for each in _with_letters(issuer) if tax_ids.is_cnpj(each + tail[:2]))
        yield from (head + each + tail for each in lettered)


def _with_letters(issuer: str) -> Iterator[str]:
    """Return an issuer with one or two of its digits taken for the letters that look like them."""
    places = [place for place, sign in enumerate(issuer) if sign in _AS_LETTERS]
    for count in (1, 2):
        for chosen in itertools.combinations(places, count):
            yield "".join(
                _AS_LETTERS[sign] if place in chosen else sign for place, sign in enumerate(issuer)
            )


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """Tell whether no digit touches the key on either side, so that it is read from its start."""
    start, end = match.span(1)
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return not re.search(r"[0-9]", before + after)


def _mended(lines: Sequence[str], known: frozenset[str]) -> Iterator[PrintedKey]:
    """Mend keys of eleven groups in which one digit is lost, doubled or wrong.

    Left alone when check digits, printed tax ids and numbers do not settle on one reading.
    """
    for window, span in itertools.islice(_damaged_keys(lines), _MOST_REPAIRS):
        sound = _sound_repairs(window, known)
        if len(sound) > 1:
            figures = _figures([*lines[: span.start], *lines[span.stop :]])
            sound = {key for key in sound if key.number in figures}
        if len(sound) == 1:
            yield PrintedKey(sound.pop(), " ".join(window), span, is_mended=True)


def _figures(lines: Iterable[str]) -> frozenset[str]:
    """Return the whole numbers in lines of text, as a key spells a document's number."""
    found = (_FIGURE.findall(line) for line in lines)
    return frozenset(each.replace(".", "").lstrip("0") for each in itertools.chain(*found))


def _damaged_keys(lines: Sequence[str]) -> Iterator[tuple[list[str], range]]:
    """Return the runs of eleven groups that may be a damaged key, with their lines."""
    for span in _spans(lines):
        groups = re.findall(r"[0-9A-Z]+", " ".join(lines[index] for index in span).upper())
        for first in range(len(groups) - _GROUPS + 1):
            window = groups[first : first + _GROUPS]
            if _is_damaged_key(window):
                yield window, span


def _is_damaged_key(groups: Sequence[str]) -> bool:
    """Tell whether these are eleven groups, all but one at most of four characters."""
    lengths = [len(group) for group in groups]
    odd = [length for length in lengths if length != _GROUP]
    return (
        len(groups) == _GROUPS
        and len(odd) <= 1
        and all(abs(length - _GROUP) == 1 for length in odd)
        and sum(letter.isdigit() for letter in "".join(groups)) >= _GROUP * 8
    )


def _sound_repairs(groups: Sequence[str], known: frozenset[str]) -> set[AccessKey]:
    """Return the repairs of one group that make a sound key of an issuer who is on the page."""
    odd = [index for index, group in enumerate(groups) if len(group) != _GROUP]
    suspects = odd or range(len(groups))
    repairs: set[AccessKey] = set()
    for suspect in suspects:
        for variant in _variants(groups[suspect]):
            text = "".join([*groups[:suspect], variant, *groups[suspect + 1 :]])
            key = access_keys.parse(text)
            if key is not None and key.is_sound and key.issuer in known:
                repairs.add(key)
    return repairs


def _variants(group: str) -> Iterator[str]:
    """Return the groups of four from which the reader may have made this one."""
    digits = "0123456789"
    if len(group) == _GROUP - 1:
        for place, digit in itertools.product(range(_GROUP), digits):
            yield group[:place] + digit + group[place:]
    elif len(group) == _GROUP + 1:
        for place in range(len(group)):
            yield group[:place] + group[place + 1 :]
    else:
        for place, digit in itertools.product(range(_GROUP), digits):
            yield group[:place] + digit + group[place + 1 :]
