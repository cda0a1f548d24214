"""The actor of a request, which every service function takes."""

import datetime as dt
from dataclasses import dataclass
from typing import TypeAlias

from recibo.lib import ip_addresses
from recibo.schemas.ids import KeyId, OrgId, SessionId, UserId
from recibo.schemas.languages import Language
from recibo.schemas.orgs import Org
from recibo.schemas.permissions import PERMISSIONS, Permission
from recibo.schemas.plans import Plan
from recibo.schemas.states import KeyKind, Role, Scope


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """The client of a request."""

    request_id: str
    ip_address: str | None = None
    user_agent: str | None = None
    #: The language of a page; None for requests to the API.
    language: Language | None = None
    #: Whether limits per IP may refuse it; they spare a developer's own machine.
    is_limited_by_ip: bool = True

    @property
    def limit_subject(self) -> str:
        """The rate limit key of the address: an IPv4 address, or the /64 of an IPv6 one."""
        return ip_addresses.limit_subject(self.ip_address)


@dataclass(frozen=True, slots=True)
class _InOrg:
    """A user or API key that acts in an org."""

    org_id: OrgId
    plan: Plan
    visit: ClientInfo


@dataclass(frozen=True, slots=True)
class KeyActor(_InOrg):
    """An API key at work in its org."""

    key_id: KeyId
    kind: KeyKind
    scopes: frozenset[Scope]
    #: The browser session of a publishable key, the only one whose receipts it sees.
    browser_session: str | None = None

    @property
    def created_by(self) -> str:
        """The id recorded as creator."""
        return self.browser_session or self.key_id


@dataclass(frozen=True, slots=True)
class Member(_InOrg):
    """A member at work in an org, with the role of this very request."""

    user_id: UserId
    role: Role
    #: Of the session's token; None where no session is shown.
    epoch: int | None = None
    #: Whether viewers of the org may upload and correct receipts.
    viewers_write: bool = False

    @property
    def created_by(self) -> str:
        """The id recorded as creator."""
        return self.user_id

    def may(self, permission: Permission) -> bool:
        """Return whether the role has a permission, by itself or by the setting of the org."""
        is_bookkeeper = self.role is Role.VIEWER and self.viewers_write
        return permission in PERMISSIONS[self.role] or (
            is_bookkeeper and permission == Permission.RECEIPTS_WRITE
        )


@dataclass(frozen=True, slots=True)
class MailSender(_InOrg):
    """Someone who mails receipts to an org's address without being a member."""

    address_id: str
    #: There is none.
    user_id: None = None

    @property
    def created_by(self) -> str:
        """The id recorded as creator."""
        return self.address_id


Actor: TypeAlias = KeyActor | Member | MailSender


@dataclass(frozen=True, slots=True)
class Person:
    """A user at work on an account, not on an org's things."""

    #: None if the given address is unknown.
    user_id: UserId | None
    #: The org whose audit log gets the entry.
    org_id: OrgId | None
    visit: ClientInfo


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user with a session, in an org or in none."""

    user_id: UserId
    session_id: SessionId
    epoch: int
    email: str
    full_name: str | None
    created_at: dt.datetime
    is_email_verified: bool
    has_second_factor: bool
    #: None for a user without a membership, as are `plan` and `role`.
    org: Org | None
    plan: Plan | None
    role: Role | None
    visit: ClientInfo
    viewers_write: bool = False

    @property
    def member(self) -> Member | None:
        """The user at work in the org; None without one."""
        if self.org is None or self.plan is None or self.role is None:
            return None
        org_id = OrgId(self.org.id)
        return Member(
            org_id, self.plan, self.visit, self.user_id, self.role, self.epoch, self.viewers_write
        )

    @property
    def person(self) -> Person:
        """The user at work on the own account."""
        return Person(self.user_id, OrgId(self.org.id) if self.org else None, self.visit)
