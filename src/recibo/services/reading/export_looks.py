"""How tables of exports are written: as the API spells values, or for people."""

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Look:
    """The headings and values of a table; those of the API without any."""

    #: By column.
    headings: Mapping[str, str] = field(default_factory=dict)
    #: The names of values, by column and value.
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: How the objects and lists of a column, as in JSON, are written into one cell.
    texts: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    #: Between the cells of a CSV file.
    separator: str = ","
    #: Before the decimals of amounts in a CSV file.
    decimal: str = "."
    #: Whether a CSV file is marked as UTF-8, and has times that spreadsheets know.
    is_for_spreadsheets: bool = False

    def heading(self, column: str) -> str:
        """Return the heading of a column."""
        return self.headings.get(column, column)

    def shown(self, column: str, value: str | float | None) -> str | float | None:
        """Return a value by its name."""
        names = self.values.get(column)
        return names.get(str(value), value) if names else value

    def number(self, value: str | float) -> str:
        """Return a number of a CSV file."""
        return str(value).replace(".", self.decimal)

    def time(self, text: str) -> str:
        """Return a timestamp of a CSV file; spreadsheets know no offsets."""
        if not self.is_for_spreadsheets:
            return text
        return f"{dt.datetime.fromisoformat(text):%Y-%m-%d %H:%M:%S}"
