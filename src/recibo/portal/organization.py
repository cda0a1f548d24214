"""The organization: what it says of itself, the form that changes it, and the ways out of it."""

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Response
from pydantic import BaseModel

from recibo.errors import NotFound, ServiceError
from recibo.portal import forms, headers, pages, request_context, request_user, routers
from recibo.portal.error_messages import MESSAGES
from recibo.portal.forms import Trimmed
from recibo.portal.request_context import RequestContext
from recibo.portal.request_user import SIGN_IN
from recibo.schemas.permissions import Permission
from recibo.services import org_deletion
from recibo.services.billing import subscriptions
from recibo.services.identity import members, orgs

router = routers.make("/portal/organization")

_PAGE = "/portal/organization"
_NOTICES = {"changed": "Your changes are saved."}
_LEFT = f"{SIGN_IN}?notice=left"
_DELETED = f"{SIGN_IN}?notice=org-deleted"

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.ORG_READ))]
Deleter = Annotated[RequestContext, Depends(request_context.context_with(Permission.ORG_DELETE))]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.ORG_WRITE))]


class OrgForm(BaseModel):
    """What the org says of itself; whether it holds, is judged by the services."""

    name: Trimmed = ""
    billing_email: Trimmed = ""
    logo_url: Trimmed = ""


class DeletionForm(BaseModel):
    """What is typed to be sure which org is meant."""

    slug: Trimmed = ""


@router.get("")
async def show_organization(caller: Reader) -> Response:
    """Show the org, and to those who may change it the form."""
    return await _shown(caller)


@router.post("")
async def change_organization(
    caller: Writer, form: Annotated[OrgForm, Depends(forms.plain(OrgForm))]
) -> Response:
    """Change name, billing address and logo."""
    changes: orgs.Changes = {"name": form.name, "logo_url": form.logo_url or None}
    if caller.services.identity.plans.are_sold:
        changes["billing_email"] = form.billing_email
    try:
        await orgs.change(caller.services.identity, caller.member, changes)
    except MESSAGES as e:
        return await _shown(caller, error=e, values=form.model_dump())
    return pages.see_other(f"{_PAGE}?notice=changed")


@router.post("/leave")
async def leave(caller: Reader) -> Response:
    """Leave the org; the session was of it and ends, too."""
    try:
        await members.leave(caller.services.database, caller.member)
    except MESSAGES as e:
        return await _shown(caller, error=e)
    request_user.end(caller.request)
    return pages.see_other(_LEFT)


@router.post("/delete")
async def delete(
    caller: Deleter, form: Annotated[DeletionForm, Depends(forms.plain(DeletionForm))]
) -> Response:
    """Delete the org, and with it the session."""
    try:
        await org_deletion.begin(
            caller.services.database,
            caller.member,
            slug=form.slug,
            plans=caller.services.identity.plans,
        )
    except MESSAGES as e:
        return await _shown(caller, error=e, values=form.model_dump())
    request_user.end(caller.request)
    return pages.see_other(_DELETED)


async def _shown(
    caller: RequestContext,
    *,
    error: ServiceError | None = None,
    values: Mapping[str, str] | None = None,
) -> Response:
    org = caller.user.org
    if org is None:
        raise NotFound
    kept = {"name": org.name, "billing_email": org.billing_email, "logo_url": org.logo_url or ""}
    logo = _shown_logo(org.logo_url)
    plans = caller.services.identity.plans
    async with caller.services.database.read() as session:
        bought = await subscriptions.of_org(session, caller.member) if plans.are_sold else None
    answer = pages.section(
        caller.request,
        "organization.html",
        error=error,
        values={**kept, **values} if values else kept,
        org=org,
        logo=logo,
        notice="" if error else caller.notice(_NOTICES),
        may_write=caller.may(Permission.ORG_WRITE),
        may_delete=caller.may(Permission.ORG_DELETE),
        # What is still paid for is canceled first, so that nobody pays for a deleted org.
        must_cancel=bought is not None and subscriptions.costs_on(bought),
    )
    if logo:
        policy = headers.policy(images=[headers.source_of(logo)])
        answer.headers["Content-Security-Policy"] = policy
    return answer


def _shown_logo(url: str | None) -> str:
    """Return the address of a logo that pages may show: an https one."""
    try:
        parts = urlsplit(url or "")
        is_good = parts.scheme == "https" and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        return ""
    return url or "" if is_good else ""
