"""How tables of exports are written: as the API spells values, or for people."""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recibo.schemas.receipts import Receipt

# Names of files hold letters and digits; long ones do not fit into some folders.
_NOT_OF_NAMES = re.compile(r"[^\w.]+|_")
_MAX_NAME = 40


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
    #: Whether a CSV file is marked as UTF-8 and has times that spreadsheets know, and the names of
    #: uploaded files say what they are.
    is_for_people: bool = False

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

    def file_name(self, receipt: Receipt) -> str:
        """Return the name of an uploaded file in an archive, without its extension.

        For people it begins with the date, the merchant and the total; it ends with the id.
        """
        if not self.is_for_people:
            return receipt.id
        total = f"{receipt.total} {receipt.currency or ''}" if receipt.total else ""
        parts = ((receipt.issued_at or "")[:10], receipt.merchant_name or "", total)
        names = (_NOT_OF_NAMES.sub("-", part[:_MAX_NAME]).strip("-.") for part in parts)
        return "_".join(filter(None, (*names, receipt.id)))

    def time(self, text: str) -> str:
        """Return a timestamp of a CSV file; spreadsheets know no offsets."""
        if not self.is_for_people:
            return text
        return f"{dt.datetime.fromisoformat(text):%Y-%m-%d %H:%M:%S}"
