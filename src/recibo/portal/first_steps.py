"""The checklist of a new organization, which the home page shows until all is done or hidden."""

from dataclasses import dataclass

from fastapi import Request, Response

from recibo.portal import receipt_lists
from recibo.portal.translations import LazyText, lazy_gettext
from recibo.schemas.actor import Member, SignedIn
from recibo.schemas.permissions import Permission
from recibo.schemas.states import KeyKind
from recibo.services.identity import invitations, keys, members
from recibo.services.identity.keys import NewKey
from recibo.store.db import ReadSession
from recibo.web.cookies import LAX, is_secure
from recibo.web.services import Services

CREATE_KEY = "/portal/first-steps/key"
HIDE = "/portal/first-steps/hide"
#: The cookie with the organization whose checklist was hidden.
COOKIE = "service_first_steps"
_YEAR_SECONDS = 365 * 86_400


@dataclass(frozen=True, slots=True)
class Step:
    """A step, and the button that leads to it."""

    name: LazyText
    about: LazyText
    is_done: bool = False
    #: Empty if it is not done in the portal.
    path: str = ""
    label: LazyText | None = None
    #: Whether the button sends a form.
    is_form: bool = False
    #: Whether the command of a first request belongs to it.
    has_command: bool = False


async def steps(
    session: ReadSession, user: SignedIn, member: Member, services: Services, *, has_receipts: bool
) -> list[Step]:
    """Return the steps that the member's role allows."""
    found = [
        Step(
            lazy_gettext("Confirm your email address"),
            lazy_gettext("Open the link that we sent you."),
            user.is_email_verified,
        ),
        Step(
            lazy_gettext("Upload a receipt"),
            lazy_gettext("A photo, a scan or a PDF. The results appear after a few seconds."),
            has_receipts,
            receipt_lists.UPLOAD,
            lazy_gettext("Upload"),
        ),
    ]
    if member.may(Permission.KEYS_WRITE):
        found += await _of_keys(session, member, services)
    if member.may(Permission.TEAM_INVITE):
        found.append(await _invite(session, member))
    return found


def new_key(name: str) -> NewKey:
    """Return the key that the checklist creates."""
    return NewKey(name=name, kind=KeyKind.SECRET)


def are_hidden(request: Request, member: Member) -> bool:
    """Return whether this browser hides the checklist of the member's org."""
    return request.cookies.get(COOKIE) == member.org_id


def hide(answer: Response, request: Request, member: Member, services: Services) -> None:
    """Hide the checklist of the member's org in this browser."""
    answer.set_cookie(
        COOKIE,
        member.org_id,
        max_age=_YEAR_SECONDS,
        path="/portal",
        httponly=True,
        samesite=LAX,
        secure=is_secure(request, services),
    )


async def _of_keys(session: ReadSession, member: Member, services: Services) -> list[Step]:
    made = await keys.newest_first(session, member, services.identity.key_uses)
    create = Step(
        lazy_gettext("Create an API key"),
        lazy_gettext("For programs that upload receipts. You see it once, in a command to copy."),
        bool(made),
        CREATE_KEY,
        lazy_gettext("Create key"),
        is_form=True,
    )
    call = Step(
        lazy_gettext("Make your first API call"),
        lazy_gettext("Run this command with your key, in a folder with a receipt."),
        any(one.last_used_at for one in made),
        has_command=True,
    )
    return [create, call]


async def _invite(session: ReadSession, member: Member) -> Step:
    team = await members.in_join_order(session, member)
    return Step(
        lazy_gettext("Invite your team"),
        lazy_gettext("Each person gets a role, such as admin, developer or viewer."),
        len(team) > 1 or bool(await invitations.pending(session, member)),
        "/portal/members#invite",
        lazy_gettext("Invite"),
    )
