"""The sender in one line above the recipient, `Holzbau Reiner KG · Am Bach 3 · 83022 Rosenheim`.

It shows through the window of an envelope; DIN 5008 describes its place.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

#: What is between the parts of an address on one line.
SEPARATOR = re.compile(r"\s*[·•∙●|;]\s*|\s+[-–—*]\s+|,\s+")
# The same, the surest first: names contain commas and dashes.
_SEPARATORS = (
    re.compile(r"\s*[·•∙●|]\s*"),
    re.compile(r"\s+[-–—*]\s+"),
    re.compile(r"[,;]\s+"),
    SEPARATOR,
)
#: A postcode before its town, perhaps with the sign of a country.
TOWN = re.compile(
    r"(?:[A-Z]{1,2}-)?(?:\d{4,5}(?:-\d{3,4})?|\d{2}-\d{3}|\d{3} \d{2})\s+[^\W\d]{2}\D*$"
)
_MOST_LETTERS = 120
_LEAST_NAME = 3


def sender_in(text: str) -> str | None:
    """Return the name at the start of a text if a street with a number and a town follow it."""
    line = text.strip()
    if len(line) > _MOST_LETTERS:
        return None
    names = (name for separator in _SEPARATORS for name in _names(line, separator))
    return next(names, None)


def _names(line: str, separator: re.Pattern[str]) -> Iterator[str]:
    """Yield what is before a street and a town."""
    starts = [0, *(found.end() for found in separator.finditer(line))]
    parts = separator.split(line)
    for place, (street, town) in enumerate(pairwise(parts)):
        name = line[: starts[place]].rstrip(" ·•∙●|;-–—*,")
        is_street = any(map(str.isdigit, street)) and TOWN.match(street) is None
        is_name = sum(map(str.isalpha, name)) >= _LEAST_NAME and not any(map(str.isdigit, name))
        if is_name and is_street and TOWN.match(town):
            yield name
