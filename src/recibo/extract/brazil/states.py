"""The states of Brazil: their codes in keys, their postal codes, their clocks."""

import datetime as dt
import functools
import re
import unicodedata
from dataclasses import dataclass

from recibo.extract import resources
from recibo.extract.text import time_zones

#: Where the federal government sits, and whose clock is the official one.
FEDERAL_DISTRICT = "DF"

# `SP` is easily met by chance in capitals, so a state counts only where addresses put it: after a
# city and a dash, slash or blank bar, or after its label.
_CITY_AND_STATE = (
    r"[A-Za-zÀ-ÿ.]{{2}}\s{{0,2}}(?:[-\u2013/|,]|\s-\s)\s{{0,2}}({names})(?![A-Za-zÀ-ÿ])"
)
_LABELLED = r"\bUF\b\s{{0,2}}[:.]?\s{{0,2}}({names})(?![A-Za-zÀ-ÿ])"
# Last, an address that simply ends with the state; it has a number, which tells it from prose.
_AT_END = r"(?m)^(?=.*[0-9]).*[A-Za-zÀ-ÿ]{{3}}\s+({names})\s*$"
_POSTAL = re.compile(
    r"(?<![0-9.,/-])([0-9]{2})\.?([0-9])[0-9]{2}\s?[-\u2013]\s?[0-9]{3}(?![0-9.,/-])"
)
_LABELLED_POSTAL = re.compile(
    r"\bCEP\b\D{0,3}([0-9]{2})\.?([0-9])[0-9]{2}\s?[-\u2013]?\s?[0-9]{3}(?![0-9])"
)


@dataclass(frozen=True, slots=True)
class State:
    """A state, or the federal district."""

    #: Two letters.
    letters: str
    #: Two digits, as keys and IBGE codes begin.
    code: str
    name: str
    zone: str
    #: Ranges of the first three digits of postal codes.
    postal: tuple[range, ...]


@dataclass(frozen=True, slots=True)
class Municipality:
    """A municipality whose clock differs from its state's."""

    name: str
    state: str
    zone: str


@functools.cache
def every() -> dict[str, State]:
    """Return the 27 states by their letters."""
    return {
        letters: State(
            letters=letters,
            code=entry["code"],
            name=entry["name"],
            zone=entry["zone"],
            postal=tuple(range(first, last + 1) for first, last in entry["postal"]),
        )
        for letters, entry in resources.table("brazil", "states.toml").items()
    }


def by_code(code: str) -> str:
    """Return the letters of the state with this two-digit code, or an empty string."""
    return next((state.letters for state in every().values() if state.code == code), "")


def by_postal_code(first_three: int) -> str:
    """Return the letters of the state in which postal codes begin so, or an empty string."""
    owners = (
        state.letters
        for state in every().values()
        if any(first_three in span for span in state.postal)
    )
    return next(owners, "")


def find(text: str) -> str:
    """Return the letters of the state that an address names, or an empty string.

    The first one counts: the issuer's address stands above the customer's.
    """
    for pattern in _patterns()[:-1]:
        if match := pattern.search(text):
            return match[1].upper()
    for pattern in (_LABELLED_POSTAL, _POSTAL):
        if match := pattern.search(text):
            return by_postal_code(int(match[1] + match[2]))
    at_end = _patterns()[-1].search(text)
    return at_end[1] if at_end else ""


def zone_in(text: str) -> str:
    """Return the IANA name of the clock at the address in a text; the capital's if none is read.

    By the capital's clock nine of ten Brazilians live.
    """
    return _zone(find(text) or FEDERAL_DISTRICT, None, text)


def offset_at(
    letters: str, local: dt.datetime, *, municipality: str | None = None, address: str = ""
) -> dt.timedelta | None:
    """Return the offset from UTC that clocks showed there at a local time; None for no state.

    Args:
        letters: The state.
        local: The naive time on the paper.
        municipality: Its IBGE code, where a key tells it.
        address: Any text that may name the municipality.
    """
    if letters not in every():
        return None
    zone = _zone(letters, municipality, address)
    return local.replace(tzinfo=time_zones.zone(zone)).utcoffset()


def load() -> None:
    """Read the zones of all states and municipalities."""
    for state in every().values():
        time_zones.zone(state.zone)
    for exception in _exceptions().values():
        time_zones.zone(exception.zone)


def _zone(letters: str, municipality: str | None, address: str) -> str:
    """Return the zone of the municipality if it is an exception, else of its state."""
    if municipality in _exceptions():
        return _exceptions()[municipality].zone
    if municipality is None and address:
        folded = _fold(address)
        for exception in _exceptions().values():
            if exception.state == letters and _fold(exception.name) in folded:
                return exception.zone
    return every()[letters].zone


@functools.cache
def _exceptions() -> dict[str, Municipality]:
    return {
        code: Municipality(**entry)
        for code, entry in resources.table("brazil", "municipalities.toml").items()
    }


@functools.cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    names = "|".join(every())
    shapes = (_LABELLED, _CITY_AND_STATE, _AT_END)
    return tuple(re.compile(shape.format(names=names)) for shape in shapes)


def _fold(text: str) -> str:
    """Return the text in lower case without accents."""
    spread = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in spread if not unicodedata.combining(letter)).lower()
