"""Who acts: the one value that every service function is told."""

from dataclasses import dataclass

from recibo.shapes.ids import KeyId, OrgId
from recibo.shapes.plans import PlanName
from recibo.shapes.states import KeyKind, Scope


@dataclass(frozen=True, slots=True)
class Visit:
    """Where a request comes from."""

    request_id: str
    ip_address: str | None = None
    user_agent: str | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """An API key at work in its org."""

    org_id: OrgId
    plan: PlanName
    key_id: KeyId
    kind: KeyKind
    scopes: frozenset[Scope]
    visit: Visit
