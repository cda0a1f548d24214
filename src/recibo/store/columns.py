"""Column types that keep ids, money and time exact on both databases."""

import datetime as dt
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, Numeric, String, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

# Four places hold every currency's minor unit and the unit prices of fuel.
_MONEY_PLACES = 4
_MONEY_SCALE = Decimal(10) ** _MONEY_PLACES

Json = JSON().with_variant(JSONB(), "postgresql")
# Ids are compared byte by byte: the order of time, whatever the database's language.
Id = String(64).with_variant(String(64, collation="C"), "postgresql")


class Money(TypeDecorator[Decimal]):
    """Exact decimals: SQLite's own NUMERIC is a float and loses cents at 16 digits."""

    impl = Numeric
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the column's own type."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(BigInteger())
        return dialect.type_descriptor(Numeric(30, _MONEY_PLACES))

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        """Turn a value into what is stored."""
        if value is None or dialect.name != "sqlite":
            return value
        return int((value * _MONEY_SCALE).to_integral_value())

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        """Turn what is stored into a value."""
        if value is None or dialect.name != "sqlite":
            return None if value is None else Decimal(value)
        return Decimal(int(value)) / _MONEY_SCALE


class UtcDateTime(TypeDecorator[dt.datetime]):
    """Aware datetimes, stored in UTC."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the column's own type."""
        return dialect.type_descriptor(DateTime(timezone=dialect.name != "sqlite"))

    def process_bind_param(self, value: dt.datetime | None, dialect: Dialect) -> Any:
        """Turn a value into what is stored; a time without a zone is refused."""
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
        """Turn what is stored into a value."""
        if value is None:
            return None
        return value.replace(tzinfo=dt.UTC) if dialect.name == "sqlite" else value
