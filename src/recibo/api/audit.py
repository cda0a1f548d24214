"""GET /v1/audit."""

from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field

from recibo.api import routers
from recibo.api.deps import MayReadAudit, refuse_repeated
from recibo.api.queries import Digits, Text, bound
from recibo.api.responses import errors_of
from recibo.schemas.audit import AuditEvent
from recibo.services import audit
from recibo.services.pagination import PageRequest
from recibo.web.services import TheServices

router = routers.make("/v1/audit", tag="audit")


class AuditQuery(BaseModel):
    """The filters of a list."""

    action: Text | None = Field(default=None, description="Exactly this action.")
    resource_type: Text | None = None
    actor: Text | None = Field(
        default=None, description="The id of the user or of the API key that acted."
    )
    since: str | None = Field(
        default=None, description="Not before this day (UTC) or instant; ISO 8601."
    )
    until: str | None = Field(
        default=None, description="Not after this day (UTC) or instant; ISO 8601."
    )
    limit: Digits = Field(default=50, ge=1, le=500)
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")


class AuditList(BaseModel):
    """One page of the log."""

    items: list[AuditEvent]
    next_cursor: str | None


@router.get("", summary="List the audit log", responses=errors_of(400, 401, 403, 429, 500))
async def list_audit_events(
    request: Request,
    member: MayReadAudit,
    services: TheServices,
    query: Annotated[AuditQuery, Query()],
) -> AuditList:
    """List the org's audit log, newest first. An entry must match all filters.

    Entries are kept for 400 days. Unknown actions and resource types match nothing: more may come.
    """
    refuse_repeated(request, AuditQuery)
    filters = audit.Filters(
        action=query.action,
        resource_type=query.resource_type,
        actor=query.actor,
        since=bound("since", query.since),
        until=bound("until", query.until),
    )
    async with services.database.read() as session:
        page = await audit.page(
            session,
            member,
            filters,
            wanted=PageRequest(query.limit, query.cursor, services.cursor_key),
        )
    return AuditList(items=page.items, next_cursor=page.next_cursor)
