"""Time zones, each read once and kept: `zoneinfo` by itself keeps eight."""

from functools import cache
from zoneinfo import ZoneInfo

from recibo.extract.text import tables


@cache
def zone(name: str) -> ZoneInfo:
    """Return a zone by its IANA name."""
    return ZoneInfo(name)


def load() -> None:
    """Read every zone of the tables."""
    for country in tables.countries().values():
        if country.zone:
            zone(country.zone)
    for by_state in tables.regions().values():
        for name in by_state.values():
            zone(name)
    for by_zone in tables.cities().values():
        for name in by_zone:
            zone(name)
