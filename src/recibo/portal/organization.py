"""The page of the organization: show, change, leave and delete it."""

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
from recibo.portal.translations import lazy_gettext
from recibo.schemas.permissions import Permission
from recibo.services import org_deletion
from recibo.services.billing import subscriptions
from recibo.services.identity import members, orgs

router = routers.make("/portal/organization")

_PAGE = "/portal/organization"
_NOTICES = {"changed": lazy_gettext("Your changes are saved.")}
_LEFT = f"{SIGN_IN}?notice=left"
_DELETED = f"{SIGN_IN}?notice=org-deleted"

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.ORG_READ))]
Deleter = Annotated[RequestContext, Depends(request_context.context_with(Permission.ORG_DELETE))]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.ORG_WRITE))]


class OrgForm(BaseModel):
    """The settings of the org; validated by the service."""

    name: Trimmed = ""
    billing_email: Trimmed = ""
    logo_url: Trimmed = ""


class ViewersForm(BaseModel):
    """What viewers may do."""

    #: A form without a checked box would be empty.
    form: str = ""
    viewers_write: bool = False


class DeletionForm(BaseModel):
    """The short name, typed to confirm."""

    slug: Trimmed = ""


@router.get("")
async def show_organization(caller: Reader) -> Response:
    """Show the org, with a form for members who may change it."""
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


@router.post("/viewers")
async def change_viewers(
    caller: Writer, form: Annotated[ViewersForm, Depends(forms.plain(ViewersForm))]
) -> Response:
    """Let viewers change receipts, or only read them."""
    may_write = form.viewers_write
    await orgs.let_viewers_write(caller.services.identity, caller.member, may_write=may_write)
    return pages.see_other(f"{_PAGE}?notice=changed")


@router.post("/leave")
async def leave(caller: Reader) -> Response:
    """Leave the org; this ends the session."""
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
    """Delete the org; this ends the session."""
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
    stored = {"name": org.name, "billing_email": org.billing_email, "logo_url": org.logo_url or ""}
    logo = _shown_logo(org.logo_url)
    plans = caller.services.identity.plans
    async with caller.services.database.read() as session:
        bought = await subscriptions.of_org(session, caller.member) if plans.are_sold else None
    answer = pages.section(
        caller.request,
        "organization.html",
        error=error,
        values={**stored, **values} if values else stored,
        org=org,
        logo=logo,
        notice="" if error else caller.notice(_NOTICES),
        may_write=caller.may(Permission.ORG_WRITE),
        takes_mail=bool(caller.services.receipt_address) and caller.may(Permission.RECEIPTS_WRITE),
        viewers_write=caller.user.viewers_write,
        may_delete=caller.may(Permission.ORG_DELETE),
        # Cancel the subscription first, so that a deleted org is not charged.
        must_cancel=bought is not None and subscriptions.costs_on(bought),
    )
    if logo:
        policy = headers.policy(images=[headers.source_of(logo)], connects=True)
        answer.headers["Content-Security-Policy"] = policy
    return answer


def _shown_logo(url: str | None) -> str:
    """Return the URL of a logo if pages may show it (https), else an empty string."""
    try:
        parts = urlsplit(url or "")
        is_good = parts.scheme == "https" and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        return ""
    return url or "" if is_good else ""
