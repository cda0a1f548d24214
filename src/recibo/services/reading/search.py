"""Full-text search over receipts: FTS5 on SQLite, tsvector on PostgreSQL.

Both databases get the words of a receipt normalized, and match them as prefixes; so both find the
same receipts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    any_,
    bindparam,
    case,
    cast,
    func,
    literal,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY

from recibo.lib import search_text
from recibo.schemas.ids import OrgId
from recibo.schemas.receipts import FILENAME, Reading
from recibo.store import upsert
from recibo.store.db import ReadSession, Session
from recibo.store.tables import Receipt, ReceiptWords

# Longer words are found by their beginnings; more words hardly distinguish documents.
_MAX_LENGTH, _MAX_WORDS, _MAX_CHARACTERS = 64, 5000, 300_000

_FIELDS = ("merchant_name", "merchant_tax_id", "document_number", "document_key")


async def index(
    session: Session, row: Receipt, reading: Reading | None, texts: Iterable[str] = ()
) -> None:
    """Store the words of a receipt, inside the caller's transaction.

    One without a reading, whose file could not be read, is found by the name of its file.
    """
    values = [row.tags.get(FILENAME)]
    if reading:
        values += [getattr(reading, name) for name in _FIELDS]
        values += [item.name for item in reading.line_items]
    found = dict.fromkeys(_indexed(filter(None, (*values, *texts))))
    words = " ".join([_org_word(row.org_id), *list(found)[:_MAX_WORDS]])
    statement = upsert.statement_of(
        ReceiptWords, ("receipt_id", "words"), ("receipt_id",), ("words = excluded.words",)
    )
    await session.execute(statement, {"receipt_id": row.id, "words": words})


@dataclass(frozen=True, slots=True)
class Query:
    """The words of a search; all must be found, each as the beginning of a word."""

    #: For each part between spaces its words: `12.345/0001` has three.
    chunks: tuple[tuple[str, ...], ...]

    @classmethod
    def parse(cls, text: str) -> "Query":
        """Return the query of a text; without any words it finds nothing."""
        return cls(tuple(tuple(words) for words in search_text.chunks(text)))

    def indexed(self, session: ReadSession, org_id: OrgId) -> ColumnElement[bool]:
        """Return the condition that a receipt is found by the full-text index."""
        if session.get_bind().dialect.name == "sqlite":
            found = _matches_fts5(_fts5(self, org_id))
            return Receipt.id.in_(select(ReceiptWords.receipt_id).where(found))
        vector: ColumnElement[str] = literal_column("receipt_words.vector")
        matches = vector.op("@@")(cast(bindparam(None, _tsquery(self, org_id)), TSQUERY))
        # In an array, because PostgreSQL expects any prefix in one receipt of fifty: rather than
        # sort what it finds, it would walk all receipts in their order and test each.
        ids = select(ReceiptWords.receipt_id).where(matches).scalar_subquery()
        return Receipt.id == any_(func.array(ids, type_=ARRAY(ReceiptWords.receipt_id.type)))

    def scanned(self, session: ReadSession) -> ColumnElement[bool]:
        """Return the same condition without the index, which is faster for a few receipts."""
        found = select(ReceiptWords.number).where(ReceiptWords.receipt_id == Receipt.id)
        return found.where(*(_holds(session, chunk) for chunk in self.chunks)).exists()

    async def rarest(self, session: ReadSession, sample: Select[tuple[str]]) -> "Query":
        """Return the query without the words that are common among some receipts.

        A prefix that millions of receipts have is a long list in the index. What is left out must
        be tested by `scanned`.
        """
        if len(self.chunks) == 1:
            return self
        counts = [func.sum(case((_holds(session, chunk), 1), else_=0)) for chunk in self.chunks]
        query = select(*counts).where(ReceiptWords.receipt_id.in_(sample))
        found = [count or 0 for count in (await session.execute(query)).one()]
        return Query((self.chunks[found.index(min(found))],))


def _holds(session: ReadSession, chunk: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a receipt has the words of a chunk, or their joined form."""
    position = func.instr if session.get_bind().dialect.name == "sqlite" else func.strpos
    words = literal(" ") + ReceiptWords.words

    def begins(word: str) -> ColumnElement[bool]:
        return position(words, f" {word}") > 0

    return or_(*(and_(*map(begins, form)) for form in _forms(chunk)))


def _indexed(texts: Iterable[str]) -> Iterator[str]:
    left = _MAX_CHARACTERS
    for text in texts:
        for chunk in search_text.chunks(text[:left]):
            yield from (word[:_MAX_LENGTH] for word in (*chunk, *_joined(chunk)))
            left -= sum(map(len, chunk))
        if left <= 0:
            return


def _joined(chunk: Sequence[str]) -> list[str]:
    """Return the words of a number run together: it is searched with and without punctuation."""
    joined = "".join(chunk)
    has_digits = any(character.isdigit() for character in joined)
    return [joined] if len(chunk) > 1 and has_digits else []


def _forms(chunk: Sequence[str]) -> list[Sequence[str]]:
    """Return what a chunk of a query may match, each form as the words that it needs.

    The parts of `42,59` alone would match any date with a 42 and any time with a 59.
    """
    joined = [one[:_MAX_LENGTH] for one in _joined(chunk)]
    words = [word[:_MAX_LENGTH] for word in chunk]
    is_number = joined and all(word.isdigit() for word in words)
    return [joined] if is_number else [words, *([one] for one in joined)]


def _org_word(org_id: str) -> str:
    # No word of a text has an underscore.
    return org_id.replace("org_", "_", 1)


def _matches_fts5(query: str) -> ColumnElement[bool]:
    found = func.receipt_words_fts(query).table_valued("rowid")
    return ReceiptWords.number.in_(select(found.c.rowid))


def _fts5(query: Query, org_id: OrgId) -> str:
    # https://www.sqlite.org/fts5.html, section 3
    return (
        _spelled(query, lambda word: f'"{word}"*', " AND ", " OR ") + f' AND "{_org_word(org_id)}"'
    )


def _tsquery(query: Query, org_id: OrgId) -> str:
    # https://www.postgresql.org/docs/current/datatype-textsearch.html, section 8.11.2
    return _spelled(query, lambda word: f"'{word}':*", " & ", " | ") + f" & '{_org_word(org_id)}'"


def _spelled(query: Query, prefix: Callable[[str], str], and_word: str, or_word: str) -> str:
    """Return a query in the language of a database."""

    def either(chunk: Sequence[str]) -> str:
        forms = (and_word.join(map(prefix, form)) for form in _forms(chunk))
        return or_word.join(f"({form})" for form in forms)

    return and_word.join(f"({either(chunk)})" for chunk in query.chunks)
