"""The pages of receipts: upload, list, show, read again, delete."""

from collections.abc import Collection
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from recibo.errors import NotFound, Overloaded, ServiceError
from recibo.extract.document import formats
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

#: Notices after a redirect, by the query parameter `notice`.
_NOTICES = {
    "taken": "Uploaded. The results appear on this page.",
    "known": "This file was uploaded before. It is not read or billed twice.",
    "some-known": "Uploaded. Files that were uploaded before are not read or billed twice.",
    "again": "The document is read again. A reading that improves nothing is free.",
    "no-better": "It is being read already, or high accuracy found nothing better before.",
    "deleted": "The receipt is deleted.",
}
# The pages poll pending receipts, and show documents in the browser's viewer.
_POLICY = (
    f"{headers.policy()}; script-src 'self'; connect-src 'self'; "
    "object-src 'self'; frame-src 'self'"
)
# Uploaded files are untrusted: our pages may embed them, but they may load nothing.
_FILE_HEADERS = {
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
    """The accuracy of a second reading."""

    accuracy: Accuracy


@router.get("")
async def show_receipts(caller: Reader) -> Response:
    """Show a page of the list, with an upload form for members who may upload."""
    return await _list(caller, await receipt_lists.listed(caller))


@router.post("")
async def upload(caller: Writer) -> Response:
    """Accept files and redirect to them; errors are shown on the page."""
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
    """Show the results and the document."""
    return await _one(caller, receipt_id)


@router.get("/{receipt_id}/file")
async def show_file(caller: Reader, receipt_id: str) -> Response:
    """Return the uploaded file, for display in the browser."""
    async with caller.services.database.read() as session:
        details = await receipt_details.get(session, caller.member, receipt_id)
    content = await caller.services.blobs.content(ReceiptId(details.receipt.id))
    if content is None:
        message = "The file of this receipt is gone."
        raise NotFound(message)
    # The media type was detected from the content; HTML and SVG are never accepted.
    filename = f"{details.receipt.id}.{formats.EXTENSIONS[details.media_type]}"
    named = {
        "Content-Length": str(content.size),
        "Content-Disposition": f'inline; filename="{filename}"',
    }
    return StreamingResponse(
        content.chunks, media_type=details.media_type, headers={**_FILE_HEADERS, **named}
    )


@router.get("/{receipt_id}/json")
async def download_json(caller: Reader, receipt_id: str) -> Response:
    """Return the receipt as in the API, for download."""
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
    """Read a receipt again, and redirect to it, or to the new receipt if it had failed."""
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
    """Show the confirmation page for deleting a receipt."""
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
    """Render a page of the list, with the results of an upload, if there was one."""
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
        details = await receipt_details.get(session, caller.member, receipt_id)
        named = await actor_names.of(session, caller.member, [details.receipt.created_by])
    answer = pages.show(
        caller.request,
        "receipt.html",
        status=error.status if error else HTTPStatus.OK,
        details=details,
        receipt=details.receipt,
        error=error_messages.sentence(error) if error else "",
        notice="" if error else caller.notice(_NOTICES),
        uploader=named.get(details.receipt.created_by, "a deleted user"),
        is_own=details.receipt.created_by == caller.member.user_id,
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
