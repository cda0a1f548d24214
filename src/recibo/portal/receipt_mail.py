"""The page of receipts by email: the address, who may send, and the mails that came."""

from typing import Annotated

from fastapi import Depends, Response
from pydantic import BaseModel

from recibo.errors import NotFound, ServiceError
from recibo.portal import forms, pages, request_context, routers
from recibo.portal.error_messages import MESSAGES
from recibo.portal.forms import Trimmed
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import LazyText, lazy_gettext
from recibo.schemas.permissions import Permission
from recibo.schemas.states import MailOutcome
from recibo.services.receipt_mail import addresses, received_mails

router = routers.make("/portal/organization/email")

_PAGE = "/portal/organization/email"
_SHOWN_MAILS = 20
_NOTICES = {
    "created": lazy_gettext("The organization has a new address for receipts."),
    "removed": lazy_gettext("The address is removed. Mails to it are ignored."),
    "changed": lazy_gettext("Your changes are saved."),
}
_OUTCOMES: dict[str, LazyText] = {
    MailOutcome.RECEIVED: lazy_gettext("Received"),
    MailOutcome.EMPTY: lazy_gettext("It has no document"),
    MailOutcome.DAMAGED: lazy_gettext("It cannot be taken apart"),
    MailOutcome.TOO_LARGE: lazy_gettext("It is larger than 25 MB"),
    MailOutcome.NOT_PERMITTED: lazy_gettext("The role of the sender does not allow it"),
    MailOutcome.FOREIGN: lazy_gettext("The sender is neither a member nor allowed"),
    MailOutcome.UNCONFIRMED: lazy_gettext("The mail server did not confirm the sender"),
}

# Members who may upload receipts may also mail them.
Uploader = Annotated[
    RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_WRITE))
]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.ORG_WRITE))]


class SendersForm(BaseModel):
    """The senders who are not members, one per line."""

    senders: Trimmed = ""


@router.get("")
async def show_address(caller: Uploader) -> Response:
    """Show the address and the newest mails."""
    return await _shown(caller)


@router.post("/create")
async def create_address(caller: Writer) -> Response:
    """Create the address, or replace it."""
    _base(caller)
    keyring = caller.services.identity.keyring
    async with caller.services.database.write() as session:
        await addresses.create(session, keyring, caller.member)
    return pages.see_other(f"{_PAGE}?notice=created")


@router.post("/remove")
async def remove_address(caller: Writer) -> Response:
    """Remove the address."""
    keyring = caller.services.identity.keyring
    async with caller.services.database.write() as session:
        await addresses.remove(session, keyring, caller.member)
    return pages.see_other(f"{_PAGE}?notice=removed")


@router.post("/senders")
async def set_senders(
    caller: Writer, form: Annotated[SendersForm, Depends(forms.plain(SendersForm))]
) -> Response:
    """Set the senders who are not members."""
    try:
        async with caller.services.database.write() as session:
            await addresses.allow(session, caller.member, form.senders.split())
    except MESSAGES as e:
        return await _shown(caller, error=e, senders=form.senders)
    return pages.see_other(f"{_PAGE}?notice=changed")


async def _shown(
    caller: RequestContext, *, error: ServiceError | None = None, senders: str | None = None
) -> Response:
    base = _base(caller)
    async with caller.services.database.read() as session:
        address = await addresses.get(session, caller.services.identity.keyring, caller.member)
        mails = await received_mails.newest(session, caller.member, limit=_SHOWN_MAILS)
    stored = "\n".join(address.senders) if address else ""
    return pages.section(
        caller.request,
        "receipt_mail.html",
        error=error,
        values={"senders": stored if senders is None else senders},
        address=address.written(base) if address else "",
        mails=mails,
        outcomes=_OUTCOMES,
        notice="" if error else caller.notice(_NOTICES),
        may_write=caller.may(Permission.ORG_WRITE),
    )


def _base(caller: RequestContext) -> str:
    """Return the address of the installation's mailbox."""
    if not caller.services.receipt_address:
        raise NotFound
    return caller.services.receipt_address
