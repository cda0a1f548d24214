"""The audit log: written in the transaction of the change that it tells of."""

from collections.abc import Mapping
from typing import Any

from recibo.kit import clock, ids
from recibo.shapes.actor import Actor, KeyActor, Person
from recibo.shapes.ids import OrgId
from recibo.shapes.states import AuditAction, ResourceType
from recibo.store.db import Session
from recibo.store.tables import AuditEvent


def record(
    session: Session,
    actor: Actor | Person,
    action: AuditAction,
    *,
    resource: tuple[ResourceType, str],
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Add one entry inside the caller's transaction; snapshots never hold secrets."""
    _add(
        session,
        action,
        resource,
        org_id=actor.org_id,
        actor_user_id=None if isinstance(actor, KeyActor) else actor.user_id,
        actor_api_key_id=actor.key_id if isinstance(actor, KeyActor) else None,
        ip_address=actor.visit.ip_address,
        user_agent=actor.visit.user_agent,
        request_id=actor.visit.request_id,
        before=_copy(before),
        after=_copy(after),
    )


def record_by_operator(
    session: Session,
    org_id: OrgId | None,
    action: AuditAction,
    *,
    resource: tuple[ResourceType, str],
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry for what was done on the command line or by the clockwork."""
    _add(session, action, resource, org_id=org_id, before=_copy(before), after=_copy(after))


def _add(
    session: Session, action: AuditAction, resource: tuple[ResourceType, str], **columns: Any
) -> None:
    resource_type, resource_id = resource
    session.add(
        AuditEvent(
            id=ids.new("aud"),
            action=action,
            resource_type=resource_type,
            resource_id=resource_id,
            created_at=clock.now(),
            **columns,
        )
    )


def _copy(snapshot: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if snapshot is None else dict(snapshot)
