"""Receipts by the million: the database copies them from the first ones of `benchmarks.rows`.

A copy has its own number, merchant, time, total and words; the rest is its original's. The indexes
are dropped before and built once afterward, which takes a tenth of the time.
"""

import datetime as dt

from sqlalchemy import TextClause, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from recibo.store import tables

_PORTION = 50_000
_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg"}
_TABLES = (tables.Receipt.__tablename__, tables.ReceiptWords.__tablename__)
_MADE = """
    WITH RECURSIVE made (number) AS (
        SELECT CAST(:first AS bigint) UNION ALL SELECT number + 1 FROM made WHERE number < :last
    )"""
# Of 150 originals, the first two are rare or failed ones.
_ROUND = 150
_ORIGINAL = (
    "(made.number % CAST(:originals AS bigint) + CASE WHEN made.number % 150 < 2 THEN 2 ELSE 0 END)"
)
_MERCHANT = "floor(power(50000, made.number * 7919 % 1000003 / 1000003.0))"
#: They scatter words over receipts.
PRIMES = (7919, 104_729, 15_485_863, 611_953, 5_381, 52_711, 648_391, 2_147_483_647, 433_494_437)

# What the two databases write differently.
_ID = {
    "sqlite": "printf('rcp_%032x', {number})",
    "postgresql": "'rcp_' || lpad(to_hex({number}), 32, '0')",
}
_VALUES = {
    "sqlite": {
        "file_sha256": "printf('%064x', made.number)",
        "created_at": "strftime('%Y-%m-%d %H:%M:%S.000000', :began, "
        "(made.number * 30) || ' seconds')",
        "total": "made.number * 7919 % 100000 * 100",
    },
    "postgresql": {
        "file_sha256": "lpad(to_hex(made.number), 64, '0')",
        "created_at": "CAST(:began AS timestamptz) + made.number * interval '30 seconds'",
        "total": "made.number * 7919 % 100000 / 100.0",
    },
}
_LIST_INDEXES = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE tbl_name = :table AND type = 'index'"
    " AND sql IS NOT NULL",
    "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = :table"
    " AND indexname LIKE 'ix_%'",
}


async def copy(
    url: str, numbers: range, *, originals: int, began: dt.datetime, usual_words: str
) -> None:
    """Add the receipts with these numbers; number 0 came in at `began`."""
    parsed = make_url(url)
    engine = create_async_engine(parsed.set(drivername=_DRIVERS[parsed.get_backend_name()]))
    dialect = engine.dialect.name
    moment = began if dialect == "postgresql" else f"{began:%Y-%m-%d %H:%M:%S}"
    shared = {"began": moment, "originals": originals // _ROUND * _ROUND}
    try:
        indexes = await _drop_indexes(engine)
        for first in numbers[::_PORTION]:
            last = min(first + _PORTION, numbers.stop) - 1
            async with engine.begin() as connection:
                given = {"first": first, "last": last}
                await connection.execute(_receipts(dialect), given | shared)
                await connection.execute(_words(dialect), given | {"usual": usual_words})
        for statement in indexes:
            async with engine.begin() as connection:
                await connection.exec_driver_sql(statement)
    finally:
        await engine.dispose()


async def _drop_indexes(engine: AsyncEngine) -> list[str]:
    """Drop the indexes of what is filled and return the statements that build them."""
    statements = []
    async with engine.begin() as connection:
        for table in _TABLES:
            listed = text(_LIST_INDEXES[engine.dialect.name])
            for name, statement in (await connection.execute(listed, {"table": table})).all():
                await connection.exec_driver_sql(f"DROP INDEX {name}")
                statements.append(statement)
    return statements


def _receipts(dialect: str) -> TextClause:
    values = _VALUES[dialect] | {
        "id": _ID[dialect].format(number="made.number"),
        "updated_at": _VALUES[dialect]["created_at"],
        "merchant_name": f"'MERCHANT ' || CAST({_MERCHANT} AS bigint)",
        "merchant_key": f"'merchant' || CAST({_MERCHANT} AS bigint)",
    }
    columns = [column.name for column in tables.Receipt.__table__.columns]
    selected = ", ".join(values.get(name, f"original.{name}") for name in columns)
    original = _ID[dialect].format(number=_ORIGINAL)
    return text(
        f"{_MADE} INSERT INTO receipts ({', '.join(columns)}) SELECT {selected} FROM made"  # noqa: S608 - columns of our tables; values are bound
        f" JOIN receipts AS original ON original.id = {original}"
    )


def _words(dialect: str) -> TextClause:
    scattered = "".join(f" || ' word' || (made.number * {prime} % 20011)" for prime in PRIMES)
    own = f"' merchant ' || CAST({_MERCHANT} AS bigint) || ' number' || made.number"
    return text(
        f"{_MADE} INSERT INTO receipt_words (receipt_id, words)"  # noqa: S608 - columns of our tables; values are bound
        f" SELECT {_ID[dialect].format(number='made.number')}, :usual{scattered} || {own} FROM made"
    )
