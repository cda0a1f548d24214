"""Exports of the audit log: CSV or JSON Lines, read 500 entries at a time."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
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


class Format(StrEnum):
    """The file formats."""

    CSV = "csv"
    JSONL = "jsonl"


MEDIA_TYPES: Mapping[Format, str] = {
    Format.CSV: "text/csv; charset=utf-8",
    Format.JSONL: "application/jsonl",
}

_BATCH = 500
# The names of the API, and after the ids of the actor its name.
_COLUMNS = (
    "id", "created_at", "action", "actor_user_id", "actor_api_key_id", "actor_name",
    "resource_type", "resource_id", "ip_address", "user_agent", "request_id", "before", "after",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is exported, and how."""

    format: Format = Format.CSV
    filters: Filters = field(default_factory=Filters)

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
        yield csv_lines.joined([_COLUMNS])
    cursor: str | None = None
    while True:
        asked = PageRequest(_BATCH, cursor, running.cursor_key)
        # A client that hangs up must not cancel a query: its connection would be lost.
        page, names = await asyncio.shield(_page(running, actor, wanted.filters, asked))
        yield _csv(page.items, names) if is_csv else _jsonl(page.items)
        cursor = page.next_cursor
        if cursor is None:
            return


async def _page(
    running: Exports, actor: Member, filters: Filters, asked: PageRequest
) -> tuple[AuditPage, Mapping[str, str]]:
    async with running.database.read() as session:
        page = await audit.page(session, actor, filters, wanted=asked)
        actors = [one.actor_user_id or one.actor_api_key_id for one in page.items]
        return page, await actor_names.of(session, actor, actors)


def _jsonl(entries: Sequence[AuditEvent]) -> bytes:
    return "".join(f"{one.model_dump_json()}\n" for one in entries).encode()


def _csv(entries: Sequence[AuditEvent], names: Mapping[str, str]) -> bytes:
    return csv_lines.joined(
        [exports.csv_cell(name, _cell(one, name, names)) for name in _COLUMNS] for one in entries
    )


def _cell(entry: AuditEvent, name: str, names: Mapping[str, str]) -> str | None:
    if name == "actor_name":
        return names.get(entry.actor_user_id or entry.actor_api_key_id or "")
    value: Any = entry.model_dump(mode="json")[name]
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
