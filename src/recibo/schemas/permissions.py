"""The permissions of each role."""

from collections.abc import Mapping
from enum import StrEnum

from recibo.schemas.states import Role


class Permission(StrEnum):
    """The permissions of members, `subject:verb`."""

    ORG_READ = "org:read"
    ORG_WRITE = "org:write"
    ORG_DELETE = "org:delete"
    TEAM_READ = "team:read"
    TEAM_INVITE = "team:invite"
    TEAM_WRITE = "team:write"
    TEAM_REMOVE = "team:remove"
    KEYS_READ = "keys:read"
    KEYS_WRITE = "keys:write"
    RECEIPTS_READ = "receipts:read"
    RECEIPTS_WRITE = "receipts:write"
    WEBHOOKS_READ = "webhooks:read"
    WEBHOOKS_WRITE = "webhooks:write"
    BILLING_READ = "billing:read"
    BILLING_WRITE = "billing:write"
    ANALYTICS_READ = "analytics:read"
    AUDIT_READ = "audit:read"


_READER = frozenset({
    Permission.ORG_READ,
    Permission.TEAM_READ,
    Permission.RECEIPTS_READ,
    Permission.WEBHOOKS_READ,
    Permission.ANALYTICS_READ,
})  # fmt: skip
_VIEWER = _READER | {Permission.BILLING_READ}
_DEVELOPER = _READER | {
    Permission.KEYS_READ,
    Permission.KEYS_WRITE,
    Permission.RECEIPTS_WRITE,
    Permission.WEBHOOKS_WRITE,
}
_OWNER = frozenset(Permission)

PERMISSIONS: Mapping[Role, frozenset[Permission]] = {
    Role.OWNER: _OWNER,
    Role.ADMIN: _OWNER - {Permission.ORG_DELETE},
    Role.DEVELOPER: _DEVELOPER,
    Role.VIEWER: _VIEWER,
    Role.BILLING: frozenset({
        Permission.ORG_READ, Permission.BILLING_READ, Permission.BILLING_WRITE
    }),
}  # fmt: skip
