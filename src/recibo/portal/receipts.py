"""Receipts: uploaded, listed, shown beside their papers, read again, deleted."""

from collections.abc import Collection
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from recibo.errors import NotFound, Overloaded, ServiceError
from recibo.extract.load import formats
from recibo.extract.model import Accuracy
from recibo.portal import (
    error_messages,
    forms,
    headers,
    pages,
    receipt_lists,
    receipt_uploads,
    request_context,
    routers,
)
from recibo.portal.error_messages import MESSAGES, ErrorMessage
from recibo.portal.receipt_lists import PAGE, Listed
from recibo.portal.receipt_uploads import UploadResults
from recibo.portal.request_context import RequestContext
from recibo.schemas.ids import ReceiptId
from recibo.schemas.permissions import Permission
from recibo.schemas.states import ReceiptStatus
from recibo.services.identity import actor_names
from recibo.services.reading import receipt_details, receipts, usage

router = routers.make(PAGE)

#: What is said of what was done, by what the address tells after it.
_NOTICES = {
    "taken": "Uploaded. The results appear on this page.",
    "known": "This file was uploaded before. It is not read or billed twice.",
    "some-known": "Uploaded. Files that were uploaded before are not read or billed twice.",
    "again": "The document is read again. A reading that improves nothing is free.",
    "no-better": "It is being read already, or high accuracy found nothing better before.",
    "deleted": "The receipt is deleted.",
}
# The pages look again at what is still being read, and show papers in the browser's own viewer.
_POLICY = (
    f"{headers.policy()}; script-src 'self'; connect-src 'self'; "
    "object-src 'self'; frame-src 'self'"
)
# Papers are somebody else's files: a page of ours may show one, and it may load nothing.
_PAPER_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; object-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Accept-Ranges": "none",
}

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_READ))]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_WRITE))]


class AgainForm(BaseModel):
    """How to read a receipt again."""

    accuracy: Accuracy


@router.get("")
async def show_receipts(caller: Reader) -> Response:
    """Show a page of the list, and the form of an upload to those who may."""
    return await _list(caller, await receipt_lists.listed(caller))


@router.post("")
async def upload(caller: Writer) -> Response:
    """Take files in and lead to them; what is refused, is said on the page."""
    sent = await receipt_uploads.sent(caller)
    if sent.error or sent.refused:
        return await _list(caller, await receipt_lists.newest(caller), sent)
    is_known = any(one.is_replay for one in sent.receipts)
    if len(sent.receipts) > 1:
        return pages.see_other(f"{PAGE}?notice={'some-known' if is_known else 'taken'}")
    only = sent.receipts[0].receipt_id
    return pages.see_other(f"{PAGE}/{only}?notice={'known' if is_known else 'taken'}")


@router.get("/{receipt_id}")
async def show_receipt(caller: Reader, receipt_id: str) -> Response:
    """Show what was read, and the paper beside it."""
    return await _one(caller, receipt_id)


@router.get("/{receipt_id}/file")
async def show_file(caller: Reader, receipt_id: str) -> Response:
    """Return the file as it was uploaded, to be shown by the browser."""
    async with caller.services.database.read() as session:
        paper = await receipt_details.get(session, caller.member, receipt_id)
    content = await caller.services.blobs.content(ReceiptId(paper.receipt.id))
    if content is None:
        message = "The file of this receipt is gone."
        raise NotFound(message)
    # Its type is one of the few that are taken in, and told by what is in it: never HTML or SVG.
    filename = f"{paper.receipt.id}.{formats.EXTENSIONS[paper.media_type]}"
    named = {
        "Content-Length": str(content.size),
        "Content-Disposition": f'inline; filename="{filename}"',
    }
    return StreamingResponse(
        content.chunks, media_type=paper.media_type, headers={**_PAPER_HEADERS, **named}
    )


@router.get("/{receipt_id}/json")
async def download_json(caller: Reader, receipt_id: str) -> Response:
    """Return the record as the API shows it, to be saved."""
    async with caller.services.database.read() as session:
        receipt = await receipts.get(session, caller.member, receipt_id)
    disposition = f'attachment; filename="{receipt.id}.json"'
    return Response(
        receipt.model_dump_json(indent=2),
        media_type="application/json",
        headers={"Content-Disposition": disposition},
    )


@router.post("/{receipt_id}/again")
async def read_again(
    caller: Writer,
    receipt_id: str,
    form: Annotated[AgainForm, Depends(forms.plain(AgainForm))],
) -> Response:
    """Have a receipt read again, and lead to it, or to the new one of a failed one's file."""
    extraction = caller.services.extraction
    try:
        async with extraction.again(caller.member, receipt_id, form.accuracy) as submitted:
            pass
    except (*MESSAGES, Overloaded) as e:
        return await _one(caller, receipt_id, error=e)
    known = "no-better" if submitted.receipt_id == receipt_id else "known"
    notice = known if submitted.is_replay else "again"
    return pages.see_other(f"{PAGE}/{submitted.receipt_id}?notice={notice}")


@router.get("/{receipt_id}/delete")
async def confirm_deletion(caller: Writer, receipt_id: str) -> Response:
    """Ask whether a receipt is really to be deleted."""
    async with caller.services.database.read() as session:
        receipt = await receipts.get(session, caller.member, receipt_id)
    return pages.show(caller.request, "receipt_delete.html", receipt=receipt)


@router.post("/{receipt_id}/delete")
async def delete(caller: Writer, receipt_id: str) -> Response:
    """Delete a receipt."""
    async with caller.services.database.write() as session:
        await receipts.soft_delete(session, caller.member, receipt_id)
    return pages.see_other(f"{PAGE}?notice=deleted")


async def _list(
    caller: RequestContext, listed: Listed, sent: UploadResults | None = None
) -> Response:
    """Return a page of the list, with what became of the files of a form, if one was sent."""
    sent = sent or UploadResults()
    refused = [one.error for one in sent.refused]
    error = next((one for one in (sent.error, *refused, listed.error) if one), None)
    async with caller.services.database.read() as session:
        quota = await usage.quota(session, caller.member)
    pending = [one for one in listed.slice.data if one.status is ReceiptStatus.PENDING]
    answer = pages.show(
        caller.request,
        "receipts.html",
        status=error.status if error else HTTPStatus.OK,
        listed=listed,
        sent=sent,
        quota=quota,
        pending=len(pending),
        uploading=_refusal(sent.error, {"file", "accuracy", "type"}),
        seeking=_refusal(listed.error, receipt_lists.ReceiptSearch.model_fields),
        notice="" if error else caller.notice(_NOTICES),
        may_write=caller.may(Permission.RECEIPTS_WRITE),
    )
    return _answered(answer, error)


async def _one(
    caller: RequestContext, receipt_id: str, *, error: ServiceError | None = None
) -> Response:
    async with caller.services.database.read() as session:
        paper = await receipt_details.get(session, caller.member, receipt_id)
        named = await actor_names.of(session, caller.member, [paper.receipt.created_by])
    answer = pages.show(
        caller.request,
        "receipt.html",
        status=error.status if error else HTTPStatus.OK,
        paper=paper,
        receipt=paper.receipt,
        error=error_messages.sentence(error) if error else "",
        notice="" if error else caller.notice(_NOTICES),
        uploader=named.get(paper.receipt.created_by, "a deleted user"),
        is_own=paper.receipt.created_by == caller.member.user_id,
        may_write=caller.may(Permission.RECEIPTS_WRITE),
    )
    return _answered(answer, error)


def _refusal(error: ServiceError | None, visible: Collection[str]) -> ErrorMessage:
    return ErrorMessage.of(error, visible) if error else ErrorMessage()


def _answered(answer: Response, error: ServiceError | None) -> Response:
    answer.headers["Content-Security-Policy"] = _POLICY
    if error and error.retry_after is not None:
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer
