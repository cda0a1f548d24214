"""Users of a running service, each with a session, in an org or in none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import httpx

from recibo.schemas.ids import InvitationId, OrgId
from recibo.schemas.states import AuditAction, Role
from recibo.services.identity import email_tokens
from tests import make
from tests.installation import Installation

PASSWORD = "correct horse battery staple"  # noqa: S105 - opens nothing


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in user with their ids and tokens."""

    user_id: str
    org_id: str
    email: str
    #: The token response.
    tokens: Mapping[str, Any]

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of their requests."""
        return bearer(self.tokens["access_token"])


def bearer(access_token: str) -> dict[str, str]:
    """Return the header with an access token."""
    return {"Authorization": f"Bearer {access_token}"}


async def signed_up(
    i: Installation, *, email: str = "ana@people.test", org: str = "Padaria Aurora"
) -> Session:
    """Sign up a user, the owner of a new org, over HTTP; the client keeps no cookie."""
    body = {"email": email, "password": PASSWORD, "org_name": org}
    answer = await i.stranger.post("/v1/auth/signup", json=body)
    assert answer.status_code == 201, answer.text
    i.stranger.cookies.clear()
    tokens = answer.json()
    return Session(tokens["user_id"], tokens["org_id"], email, tokens)


async def joined(i: Installation, owner: Session, role: Role = Role.DEVELOPER) -> Session:
    """Add a new user to an owner's org and return their session."""
    tokens = await make.session(i.services.identity, OrgId(owner.org_id), role=role)
    user_id = tokens.user_id
    return Session(user_id, owner.org_id, f"{user_id}@recibo.test", tokens.model_dump())


async def invited(
    i: Installation, owner: Session, email: str, role: Role = Role.DEVELOPER
) -> dict[str, Any]:
    """Invite an address to an owner's org and return the invitation."""
    body = {"email": email, "role": role}
    answer = await i.stranger.post("/v1/org/members", json=body, headers=owner.headers)
    assert answer.status_code == 201, answer.text
    return cast("dict[str, Any]", answer.json())


async def invitation_token(i: Installation, invitation_id: str) -> str:
    """Return a token as in the invitation's mail; only without a mail worker."""
    async with i.database.write() as session:
        token = await email_tokens.mint_invitation(session, InvitationId(invitation_id))
    assert token is not None
    return token


async def invite_with_token(
    i: Installation, owner: Session, email: str, role: Role = Role.DEVELOPER
) -> tuple[str, str]:
    """Invite an address; return the invitation's id and token; only without a mail worker."""
    invitation = await invited(i, owner, email, role)
    return invitation["id"], await invitation_token(i, invitation["id"])


async def accept(i: Installation, token: str, **headers: str) -> httpx.Response:
    """Accept an invitation; the client keeps no cookie."""
    url = "/v1/auth/accept-invite"
    answer = await i.stranger.post(url, json={"token": token}, headers=headers)
    i.stranger.cookies.clear()
    return answer


async def join_by_invitation(
    i: Installation, owner: Session, email: str, role: Role = Role.DEVELOPER
) -> Session:
    """Invite an address to an owner's org and accept; only without a mail worker."""
    invitation = await invited(i, owner, email, role)
    return await session_of(i, await accept(i, await invitation_token(i, invitation["id"])))


async def audited(i: Installation, owner: Session, action: AuditAction) -> list[dict[str, Any]]:
    """Return the audit log entries of an action in an owner's org, newest first."""
    query = {"action": action}
    answer = await i.stranger.get("/v1/audit", params=query, headers=owner.headers)
    assert answer.status_code == 200, answer.text
    return cast("list[dict[str, Any]]", answer.json()["items"])


async def session_of(i: Installation, answer: httpx.Response) -> Session:
    """Return the session of an answer; the client keeps no cookie."""
    i.stranger.cookies.clear()
    tokens = answer.json()
    me = await i.stranger.get("/v1/auth/me", headers=bearer(tokens["access_token"]))
    assert me.status_code == 200, me.text
    email = me.json()["user"]["email"]
    return Session(tokens["user_id"], tokens["org_id"], email, tokens)
