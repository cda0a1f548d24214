"""Exports of the audit log: CSV or JSON Lines, read 500 entries at a time."""

import asyncio
import codecs
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from recibo.lib import clock, csv_lines
from recibo.schemas.actor import Member
from recibo.schemas.audit import AuditEvent
from recibo.schemas.states import AuditAction, ResourceType
from recibo.services import audit
from recibo.services.audit import AuditPage, Filters
from recibo.services.identity import actor_names
from recibo.services.pagination import PageRequest
from recibo.services.reading import exports
from recibo.services.reading.exports import Exports
from recibo.store.db import ReadSession


class Format(StrEnum):
    """The file formats."""

    CSV = "csv"
    JSONL = "jsonl"


MEDIA_TYPES: Mapping[Format, str] = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.JSONL: "application/jsonl",
}

_BATCH = 500
# What people read comes first: when, who, what. The names are those of the API, but of the name of
# the actor and the sentence.
_COLUMNS = (
    "created_at", "actor_name", "sentence", "action", "ip_address", "id", "actor_user_id",
    "actor_api_key_id", "resource_type", "resource_id", "user_agent", "request_id", "before",
    "after",
)  # fmt: skip

#: Returns what entries say, in a language.
Describe = Callable[[ReadSession, Member, Sequence[AuditEvent]], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is exported, and how."""

    describe: Describe
    format: Format = Format.CSV
    filters: Filters = field(default_factory=Filters)
    #: Between the cells of a CSV file.
    separator: str = ","

    @property
    def filename(self) -> str:
        """The name of the file, with the current date."""
        return f"audit-{clock.now():%Y-%m-%d}.{self.format}"


async def start(running: Exports, actor: Member, wanted: Wanted) -> AsyncIterator[bytes]:
    """Record the export in the audit log and return the content of the file, newest entry first.

    Raises:
        Overloaded: too many exports are running.
    """
    running.require_room(actor)
    async with running.database.write() as session:
        chosen = {name: value for name, value in asdict(wanted.filters).items() if value}
        filters = json.loads(json.dumps(chosen, default=str))
        audit.record(
            session,
            actor,
            AuditAction.AUDIT_EXPORTED,
            resource=(ResourceType.ORG, actor.org_id),
            after={"format": wanted.format, "filters": filters},
        )
    return running.held(actor, _content(running, actor, wanted))


async def _content(running: Exports, actor: Member, wanted: Wanted) -> AsyncIterator[bytes]:
    is_csv = wanted.format is Format.CSV
    if is_csv:
        # Spreadsheets take other files for ones of an older encoding.
        yield codecs.BOM_UTF8 + csv_lines.joined([_COLUMNS], separator=wanted.separator)
    cursor: str | None = None
    while True:
        asked = PageRequest(_BATCH, cursor, running.cursor_key)
        # A client that hangs up must not cancel a query: its connection would be lost.
        page, added = await asyncio.shield(_page(running, actor, wanted, asked))
        yield _csv(page.items, added, wanted.separator) if is_csv else _jsonl(page.items)
        cursor = page.next_cursor
        if cursor is None:
            return


async def _page(
    running: Exports, actor: Member, wanted: Wanted, asked: PageRequest
) -> tuple[AuditPage, Sequence[Mapping[str, str]]]:
    """Return entries and what a CSV file adds to those of the API."""
    async with running.database.read() as session:
        page = await audit.page(session, actor, wanted.filters, wanted=asked)
        if wanted.format is not Format.CSV:
            return page, ()
        actors = [one.actor_user_id or one.actor_api_key_id or "" for one in page.items]
        names = await actor_names.of(session, actor, actors)
        sentences = await wanted.describe(session, actor, page.items)
    return page, [
        {"actor_name": names.get(one, ""), "sentence": sentence}
        for one, sentence in zip(actors, sentences, strict=True)
    ]


def _jsonl(entries: Sequence[AuditEvent]) -> bytes:
    return "".join(f"{one.model_dump_json()}\n" for one in entries).encode()


def _csv(
    entries: Sequence[AuditEvent], added: Sequence[Mapping[str, str]], separator: str
) -> bytes:
    rows = (
        {**one.model_dump(mode="json"), **more} for one, more in zip(entries, added, strict=True)
    )
    cells = ([exports.csv_cell(name, _text(row[name])) for name in _COLUMNS] for row in rows)
    return csv_lines.joined(cells, separator=separator)


def _text(value: Any) -> str | None:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
