"""The states of Brazil: their codes in access keys, postal codes and time zones."""

import datetime as dt
import functools
import re
import unicodedata
from dataclasses import dataclass

from recibo.extract import resources
from recibo.extract.text import timestamps

#: The seat of the federal government, whose time is the official one.
FEDERAL_DISTRICT = "DF"

# Two letters such as `SP` occur by chance in capitals, so a state counts only where addresses have
# it: after a city and a separator, or after its label.
_CITY_AND_STATE = (
    r"[A-Za-zÀ-ÿ.]{{2}}\s{{0,2}}(?:[-\u2013/|,]|\s-\s)\s{{0,2}}({names})(?![A-Za-zÀ-ÿ])"
)
_LABELLED = r"\bUF\b\s{{0,2}}[:.]?\s{{0,2}}({names})(?![A-Za-zÀ-ÿ])"
# Last, a line that ends with the state; an address has a number, unlike prose.
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
    abbreviation: str
    #: Two digits, the start of access keys and IBGE codes.
    code: str
    name: str
    zone: str
    #: Ranges of the first three digits of postal codes.
    postal: tuple[range, ...]


@dataclass(frozen=True, slots=True)
class Municipality:
    """A municipality whose time zone differs from its state's."""

    name: str
    state: str
    zone: str


@functools.cache
def every() -> dict[str, State]:
    """Return the 27 states by abbreviation."""
    return {
        abbreviation: State(
            abbreviation=abbreviation,
            code=entry["code"],
            name=entry["name"],
            zone=entry["zone"],
            postal=tuple(range(first, last + 1) for first, last in entry["postal"]),
        )
        for abbreviation, entry in resources.table("brazil", "states.toml").items()
    }


def by_code(code: str) -> str:
    """Return the abbreviation of the state with this two-digit code, or an empty string."""
    return next((state.abbreviation for state in every().values() if state.code == code), "")


def by_postal_code(first_three: int) -> str:
    """Return the abbreviation of the state whose postal codes begin so, or an empty string."""
    owners = (
        state.abbreviation
        for state in every().values()
        if any(first_three in span for span in state.postal)
    )
    return next(owners, "")


def find(text: str) -> str:
    """Return the abbreviation of the state in an address, or an empty string.

    The first one counts: the issuer's address is above the customer's.
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
    """Return the IANA time zone of the address in a text; that of the capital by default.

    Nine of ten Brazilians live in the capital's time zone.
    """
    return _zone(find(text) or FEDERAL_DISTRICT, None, text)


def offset_at(
    abbreviation: str, local: dt.datetime, *, municipality: str | None = None, address: str = ""
) -> dt.timedelta | None:
    """Return the offset from UTC in a state at a local time; None if the state is unknown.

    Args:
        abbreviation: The state.
        local: The printed time, without an offset.
        municipality: Its IBGE code, if a key contains it.
        address: Any text that may name the municipality.
    """
    if abbreviation not in every():
        return None
    zone = _zone(abbreviation, municipality, address)
    return local.replace(tzinfo=timestamps.zone(zone)).utcoffset()


def load() -> None:
    """Read the zones of all states and municipalities."""
    for state in every().values():
        timestamps.zone(state.zone)
    for exception in _exceptions().values():
        timestamps.zone(exception.zone)


def _zone(abbreviation: str, municipality: str | None, address: str) -> str:
    """Return the zone of the municipality if it is an exception, else of its state."""
    if municipality in _exceptions():
        return _exceptions()[municipality].zone
    if municipality is None and address:
        folded = _fold(address)
        for exception in _exceptions().values():
            if exception.state == abbreviation and _fold(exception.name) in folded:
                return exception.zone
    return every()[abbreviation].zone


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
