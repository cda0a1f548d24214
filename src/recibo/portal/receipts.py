"""The pages of receipts: upload, list, files, read again, delete; `review.py` shows one."""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from recibo.errors import Conflict, NotFound, Overloaded, ServiceError
from recibo.extract.document import formats
from recibo.extract.model import Accuracy, Category
from recibo.lib import clock
from recibo.portal import (
    forms,
    names,
    pages,
    periods,
    receipt_lists,
    receipt_selection,
    receipt_uploads,
    request_context,
    review,
    routers,
)
from recibo.portal.error_messages import MESSAGES, ErrorMessage
from recibo.portal.receipt_lists import PAGE, Listed
from recibo.portal.receipt_uploads import UploadResults
from recibo.portal.request_context import RequestContext
from recibo.portal.review_lists import ReviewList
from recibo.portal.translations import gettext_noop, lazy_gettext
from recibo.schemas.ids import ReceiptId
from recibo.schemas.permissions import Permission
from recibo.schemas.states import AuditAction, ReceiptStatus, ReviewStatus
from recibo.services import audit
from recibo.services.reading import receipt_details, receipts, spend, usage
from recibo.services.reading.spend import Period
from recibo.store.db import ReadSession

router = routers.make(PAGE)

_MONTHS_TO_EXPORT = 12
# What a member approved without so long a pause was one review.
_PAUSE = dt.timedelta(hours=1)
_REVIEW = dt.timedelta(hours=12)
_MOST_REVIEWED = 500
#: Notices after a redirect, by the query parameter `notice`.
_NOTICES = {
    "taken": lazy_gettext("Uploaded. The results appear on this page."),
    "known": lazy_gettext("This file was uploaded before. It is not read or billed twice."),
    "some-known": lazy_gettext(
        "Uploaded. Files that were uploaded before are not read or billed twice."
    ),
    "deleted": lazy_gettext("The receipt is deleted."),
    "reviewed": lazy_gettext("Approved. That was the last one of this list."),
    "stopped": lazy_gettext("The other receipts stay here until you review them."),
}
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


@dataclass(frozen=True, slots=True)
class Finished:
    """What a member may export after a review."""

    #: What they approved just now and is still there; empty if a link cannot name so many.
    ids: Sequence[str]
    #: Months and how many approved receipts each has, the one reviewed most first.
    months: Sequence[tuple[Period, int]]

    def export(self, format_: str, **more: str) -> str:
        """Return the URL of an export of what was approved just now."""
        chosen = [("id", one) for one in self.ids]
        return f"{PAGE}/export?{urlencode([('format', format_), *more.items(), *chosen])}"


class AgainForm(BaseModel):
    """The accuracy of a second reading, and the query of the list that shows the receipt."""

    accuracy: Accuracy
    list: str | None = None


@router.get("")
async def show_receipts(caller: Reader) -> Response:
    """Show a page of the list, with an upload form for members who may upload."""
    return await _list(caller, await receipt_lists.listed(caller))


@router.post("")
async def upload(caller: Writer) -> Response:
    """Accept files and redirect to them; errors are shown on the page."""
    sent = await receipt_uploads.sent(caller)
    if caller.request.headers.get("accept") == "application/json":
        return receipt_uploads.as_json(sent)
    if sent.error or sent.refused:
        return await _list(caller, await receipt_lists.newest(caller), sent)
    is_known = any(one.is_replay for one in sent.receipts)
    if len(sent.receipts) > 1:
        return pages.see_other(f"{PAGE}?notice={'some-known' if is_known else 'taken'}")
    only = sent.receipts[0].receipt_id
    return pages.see_other(f"{PAGE}/{only}?notice={'known' if is_known else 'taken'}")


@router.get("/{receipt_id}/file")
async def show_file(caller: Reader, receipt_id: str) -> Response:
    """Return the uploaded file, for display in the browser."""
    async with caller.services.database.read() as session:
        details = await receipt_details.get(session, caller.member, receipt_id)
    content = await caller.services.blobs.content(ReceiptId(details.receipt.id))
    if content is None:
        message = gettext_noop("The file of this receipt is gone.")
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
    """Read a receipt again, and redirect to it, or to the receipt that replaces a failed one."""
    extraction = caller.services.extraction
    try:
        async with extraction.again(caller.member, receipt_id, form.accuracy) as submitted:
            pass
    except NotFound as e:
        # Buttons are pressed twice.
        async with caller.services.database.read() as session:
            shown = await receipts.replacement_of(session, caller.member, receipt_id)
        if shown is None:
            return await review.show(caller, receipt_id, error=e)
        return pages.see_other(ReviewList.named(form.list).page(shown, notice="again"))
    except (*MESSAGES, Overloaded) as e:
        return await review.show(caller, receipt_id, error=e)
    if submitted.receipt_id != receipt_id and not submitted.is_replay:
        async with caller.services.database.write() as session:
            new_id = submitted.receipt_id
            await receipts.replace_failed(session, caller.member, receipt_id, new_id)
    known = "no-better" if submitted.receipt_id == receipt_id else "known"
    notice = known if submitted.is_replay else "again"
    return pages.see_other(ReviewList.named(form.list).page(submitted.receipt_id, notice=notice))


@router.post("/{receipt_id}/copy")
async def replace(caller: Writer, receipt_id: str) -> Response:
    """Accept a new copy of a document that could not be read, in place of its receipt."""
    is_script = caller.request.headers.get("accept") == "application/json"
    try:
        async with caller.services.database.read() as session:
            await receipts.refuse_unless_failed(session, caller.member, receipt_id)
    except Conflict as e:
        if is_script:
            return receipt_uploads.as_json(UploadResults(error=e))
        return await review.show(caller, receipt_id, error=e)
    sent = await receipt_uploads.sent(caller)
    for new_id in [one.receipt_id for one in sent.receipts[:1]]:
        async with caller.services.database.write() as session:
            await receipts.replace_failed(session, caller.member, receipt_id, new_id, is_own=False)
    if is_script:
        return receipt_uploads.as_json(sent)
    errors = [one for one in (sent.error, *(each.error for each in sent.refused)) if one]
    if errors:
        return await review.show(caller, receipt_id, error=errors[0])
    notice = "known" if sent.receipts[0].is_replay else "replaced"
    listed = ReviewList.of(caller.request.query_params)
    return pages.see_other(listed.page(sent.receipts[0].receipt_id, notice=notice))


@router.get("/{receipt_id}/delete")
async def confirm_deletion(caller: Writer, receipt_id: str) -> Response:
    """Show the confirmation page for deleting a receipt."""
    async with caller.services.database.read() as session:
        receipt = await receipts.get(session, caller.member, receipt_id)
    listed = ReviewList.of(caller.request.query_params)
    return pages.show(caller.request, "receipt_delete.html", receipt=receipt, listed=listed)


@router.post("/{receipt_id}/delete")
async def delete(caller: Writer, receipt_id: str) -> Response:
    """Delete a receipt."""
    async with caller.services.database.write() as session:
        await receipts.soft_delete(session, caller.member, receipt_id)
    listed = ReviewList.of(caller.request.query_params)
    return pages.see_other(receipt_lists.back_to(listed.query or "", notice="deleted"))


async def _list(
    caller: RequestContext, listed: Listed, sent: UploadResults | None = None
) -> Response:
    """Render a page of the list, with the results of an upload, if there was one."""
    sent = sent or UploadResults()
    refused = [one.error for one in sent.refused]
    error = next((one for one in (sent.error, *refused, listed.error) if one), None)
    quota = await usage.quota(caller.services.database, caller.member)
    async with caller.services.database.read() as session:
        finished = await _finished(session, caller, listed)
    pending = [one for one in listed.slice.data if one.status is ReceiptStatus.PENDING]
    answer = pages.show(
        caller.request,
        "receipts.html",
        status=error.status if error else HTTPStatus.OK,
        listed=listed,
        sent=sent,
        quota=quota,
        tabs=receipt_lists.TABS,
        periods=[(one.name, one.of(clock.now().date())) for one in periods.OF_BOOKS],
        upload_path=receipt_lists.UPLOAD,
        is_worth_high=receipt_details.is_worth_high,
        category_options=[(one.value, names.category(one)) for one in Category],
        is_uploading=_shows_form(caller, listed, sent),
        pending=len(pending),
        finished=finished,
        uploading=_refusal(sent.error, {"file", "accuracy", "type"}),
        seeking=_refusal(listed.error, receipt_lists.IN_MENUS),
        notice="" if error else _notice(caller),
        may_write=caller.may(Permission.RECEIPTS_WRITE),
    )
    return _answered(answer, error)


def _shows_form(caller: RequestContext, listed: Listed, sent: UploadResults) -> bool:
    """Return whether the form for uploads is shown: on request, with its errors, or at first."""
    is_empty = not (listed.slice.data or listed.values)
    return bool(is_empty or sent.error or sent.refused or caller.request.query_params.get("upload"))


def _notice(caller: RequestContext) -> str:
    return receipt_selection.notice(caller.request.query_params) or caller.notice(_NOTICES)


async def _finished(
    session: ReadSession, caller: RequestContext, listed: Listed
) -> Finished | None:
    """Return what to export once a list is approved, or a member stops."""
    query = caller.request.query_params
    is_approved = receipt_selection.has_approved(query) and not listed.slice.data
    if not (is_approved or query.get("notice") in ("reviewed", "stopped")):
        return None
    approved = audit.Filters(
        action=AuditAction.RECEIPT_APPROVED,
        actor=caller.member.user_id,
        since=clock.now() - _REVIEW,
    )
    known = await audit.newest_resources(session, caller.member, approved, limit=_MOST_REVIEWED)
    uploaded = await receipts.approved_of(session, caller.member, list(known))
    chosen = _of_one_review(known, uploaded)
    reviewed = await spend.months_of(session, caller.member, chosen)
    newest = await spend.newest_months(
        session, caller.member, most=_MONTHS_TO_EXPORT, review=ReviewStatus.APPROVED
    )
    months = list(dict.fromkeys((*reviewed, *newest)))[:_MONTHS_TO_EXPORT]
    if not months and not chosen:
        return None
    ids = chosen if len(chosen) <= receipt_selection.MAX_SELECTED else []
    counts = await spend.counts_of(session, caller.member, months, review=ReviewStatus.APPROVED)
    newest_first = sorted(months, reverse=True)
    return Finished(ids, [(periods.month_of(first), counts[first]) for first in newest_first])


def _of_one_review(
    approved: Mapping[str, dt.datetime], uploaded: Mapping[str, dt.datetime]
) -> list[str]:
    """Return what was approved and is still there, newest first, up to the end of another review.

    A review ends with a long pause, or before anything of the next one was uploaded.
    """
    chosen: list[str] = []
    after = begin = clock.now()
    for receipt_id, at in approved.items():
        if after - at > _PAUSE or (chosen and at < begin):
            break
        after = at
        if receipt_id in uploaded:
            chosen.append(receipt_id)
            begin = min(begin, uploaded[receipt_id])
    return chosen


def _refusal(error: ServiceError | None, visible: Collection[str]) -> ErrorMessage:
    return ErrorMessage.of(error, visible) if error else ErrorMessage()


def _answered(answer: Response, error: ServiceError | None) -> Response:
    if error and error.retry_after is not None:
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer
