"""The organization: what it says of itself, and the form that changes it."""

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel

from recibo.errors import NotFound, ServiceError
from recibo.portal import callers, forms, headers, pages
from recibo.portal.callers import Caller
from recibo.portal.forms import Trimmed
from recibo.portal.refusals import SAID
from recibo.services.identity import orgs
from recibo.shapes.permissions import Permission

router = APIRouter(prefix="/portal/organization")

_PAGE = "/portal/organization"
_NOTICES = {"changed": "The organization is changed."}

Reader = Annotated[Caller, Depends(callers.who_may(Permission.ORG_READ))]
Writer = Annotated[Caller, Depends(callers.who_may(Permission.ORG_WRITE))]


class OrgForm(BaseModel):
    """What the org says of itself; whether it holds, is judged by the services."""

    name: Trimmed = ""
    billing_email: Trimmed = ""
    logo_url: Trimmed = ""


@router.get("")
async def show_organization(caller: Reader) -> Response:
    """Show the org, and to those who may change it the form."""
    return _shown(caller)


@router.post("")
async def change_organization(
    caller: Writer, form: Annotated[OrgForm, Depends(forms.plain(OrgForm))]
) -> Response:
    """Change name, billing address and logo."""
    changes: orgs.Changes = {
        "name": form.name,
        "billing_email": form.billing_email,
        "logo_url": form.logo_url or None,
    }
    try:
        await orgs.change(caller.services.identity, caller.member, changes)
    except SAID as e:
        return _shown(caller, error=e, values=form.model_dump())
    return pages.lead_to(f"{_PAGE}?notice=changed")


def _shown(
    caller: Caller,
    *,
    error: ServiceError | None = None,
    values: Mapping[str, str] | None = None,
) -> Response:
    org = caller.user.org
    if org is None:
        raise NotFound
    kept = {"name": org.name, "billing_email": org.billing_email, "logo_url": org.logo_url or ""}
    logo = _shown_logo(org.logo_url)
    answer = pages.section(
        caller.request,
        "organization.html",
        error=error,
        values=values or kept,
        org=org,
        logo=logo,
        notice="" if error else caller.notice(_NOTICES),
        may_write=caller.may(Permission.ORG_WRITE),
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
