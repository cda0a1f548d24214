"""Column types for ids, money and time that are exact on both databases."""

import datetime as dt
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Numeric, String, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

# Four decimal places cover every currency's minor unit and fuel prices per liter.
_MONEY_PLACES = 4
_MONEY_SCALE = Decimal(10) ** _MONEY_PLACES

Json = JSON().with_variant(JSONB(), "postgresql")
#: The same, in which None is NULL and not the JSON value `null`.
NullableJson = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
# Ids sort by bytes, which is by time, whatever the database's locale.
Id = String(64).with_variant(String(64, collation="C"), "postgresql")


class Money(TypeDecorator[Decimal]):
    """Exact decimals. On SQLite a scaled integer, because its NUMERIC is a float."""

    impl = Numeric
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the column type of the dialect."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(BigInteger())
        return dialect.type_descriptor(Numeric(30, _MONEY_PLACES))

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        """Convert a value to its stored form."""
        if value is None or dialect.name != "sqlite":
            return value
        return int((value * _MONEY_SCALE).to_integral_value())

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        """Convert a stored value back."""
        if value is None or dialect.name != "sqlite":
            return None if value is None else Decimal(value)
        return Decimal(int(value)) / _MONEY_SCALE


class UtcDateTime(TypeDecorator[dt.datetime]):
    """Aware datetimes, stored in UTC."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the column type of the dialect."""
        return dialect.type_descriptor(DateTime(timezone=dialect.name != "sqlite"))

    def process_bind_param(self, value: dt.datetime | None, dialect: Dialect) -> Any:
        """Convert a time to UTC; raises ValueError for a time without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            message = f"{value} has no time zone"
            raise ValueError(message)
        value = value.astimezone(dt.UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(
        self, value: dt.datetime | None, dialect: Dialect
    ) -> dt.datetime | None:
        """Convert a stored value back."""
        if value is None:
            return None
        return value.replace(tzinfo=dt.UTC) if dialect.name == "sqlite" else value
