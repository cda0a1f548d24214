"""The sheet of an XLSX file: numbers, dates and texts, a head that stays, columns wide enough.

Rows are written to a temporary file as they come, so that the memory does not grow with their
number; of what they hold, only the width of each column is kept.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from functools import partial

import xlsxwriter
from xlsxwriter.format import Format

from recibo.lib import money
from recibo.services.reading.export_looks import Look

#: The cells of a row by column, as the API spells them; None is an empty one.
Record = Mapping[str, str | float | None]

# In characters; longer texts, such as lists of taxes, go on under the next cell.
_NARROWEST, _WIDEST = 8, 48
# The button of the filter, and the margins of a cell.
_BUTTON, _MARGINS = 3, 1
_USUAL_DIGITS = 2
# Earlier days have no number in a sheet.
_FIRST_YEAR = 1901


class Kind(Enum):
    """What the values of a column are; those of other columns are texts, or plain numbers."""

    #: An amount, shown with the digits of its currency.
    MONEY = auto()
    #: A number that is shown with its own digits.
    NUMBER = auto()
    TIME = auto()
    DAY = auto()


_TIME_FORMATS = {Kind.TIME: "yyyy-mm-dd hh:mm", Kind.DAY: "yyyy-mm-dd"}
# Writes a value of a record with this currency, and returns how many characters are shown.
_Writer = Callable[[int, str | float, str], int]


class Sheet:
    """A sheet that is written from its first row to its last one."""

    def __init__(
        self,
        workbook: xlsxwriter.Workbook,
        name: str,
        columns: Mapping[str, Kind | None],
        look: Look,
    ) -> None:
        """Write the head of a new sheet with some columns, by their names."""
        self._workbook, self._sheet = workbook, workbook.add_worksheet(name)
        self._look = look
        self._formats: dict[str, Format] = {}
        # Chosen once, since there are millions of cells.
        self._writers = [self._writer(*column) for column in columns.items()]
        self._widths: list[int] = []
        #: How many rows were written below the head.
        self.count = 0
        bold = workbook.add_format({"bold": True})
        for column, heading in enumerate(map(look.heading, columns)):
            self._sheet.write_string(0, column, heading, bold)
            self._widths.append(len(heading) + _BUTTON)
        self._sheet.freeze_panes(1, 0)

    def write(self, records: Sequence[Record]) -> None:
        """Write the next rows, whose cells are in the order of the columns."""
        widths, writers = self._widths, self._writers
        for record in records:
            self.count += 1
            currency = str(record["currency"] or "")
            for column, value in enumerate(record.values()):
                if value is None:
                    continue
                width = writers[column](column, value, currency) + _MARGINS
                widths[column] = max(widths[column], width)

    def finish(self) -> None:
        """Set the widths of the columns, which are known now, and the filter."""
        for column, width in enumerate(self._widths):
            self._sheet.set_column(column, column, min(max(width, _NARROWEST), _WIDEST))
        if self.count:
            self._sheet.autofilter(0, 0, self.count, len(self._widths) - 1)

    def _writer(self, name: str, kind: Kind | None) -> _Writer:
        match kind:
            case Kind.MONEY:
                return self._money
            case Kind.NUMBER:
                return lambda column, value, _: self._number(column, str(value), 0)
            case Kind.TIME | Kind.DAY:
                return partial(self._time, _TIME_FORMATS[kind])
            case None:
                return partial(self._plain, name)

    def _money(self, column: int, value: str | float, currency: str) -> int:
        # An amount whose currency is unknown has two digits at least.
        digits = money.minor_digits(currency) if currency else _USUAL_DIGITS
        return self._number(column, str(value), digits)

    def _number(self, column: int, text: str, least_digits: int) -> int:
        whole, _, printed = text.partition(".")
        digits = max(len(printed), least_digits)
        code = f"#,##0.{digits * '0'}" if digits else "#,##0"
        self._sheet.write_number(self.count, column, float(text), self._format(code))
        # Thousands have a separator.
        return len(whole) * 4 // 3 + digits + 1

    def _time(self, code: str, column: int, value: str | float, currency: str) -> int:
        when = _sheet_time(str(value))
        if when is None:
            return self._plain("", column, value, currency)
        self._sheet.write_datetime(self.count, column, when, self._format(code))
        return len(code)

    def _plain(self, name: str, column: int, value: str | float, _currency: str) -> int:
        if not isinstance(value, str):
            self._sheet.write_number(self.count, column, value)
            return len(str(value))
        text = str(self._look.shown(name, value))
        # Never a formula or a link.
        self._sheet.write_string(self.count, column, text)
        return len(text)

    def _format(self, code: str) -> Format:
        if code not in self._formats:
            self._formats[code] = self._workbook.add_format({"num_format": code})
        return self._formats[code]


def _sheet_time(text: str) -> dt.datetime | None:
    """Return a time as printed, for a sheet knows no offsets; None before its first day."""
    printed = dt.datetime.fromisoformat(text).replace(tzinfo=None)
    return printed if printed.year >= _FIRST_YEAR else None
