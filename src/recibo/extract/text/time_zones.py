"""Loads time zones, each once: `zoneinfo` caches only eight."""

from functools import cache
from zoneinfo import ZoneInfo

from recibo.extract.text import tables


@cache
def zone(name: str) -> ZoneInfo:
    """Return a time zone by its IANA name."""
    return ZoneInfo(name)


def load() -> None:
    """Load all time zones of the tables."""
    for country in tables.countries().values():
        if country.zone:
            zone(country.zone)
    for by_state in tables.regions().values():
        for name in by_state.values():
            zone(name)
    for by_zone in tables.cities().values():
        for name in by_zone:
            zone(name)
