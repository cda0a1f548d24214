"""The page of one receipt: document, fields, corrections, approval."""

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Request, Response
from fastapi.responses import JSONResponse

from recibo.errors import Conflict, NotFound, ServiceError, ValidationFailed
from recibo.extract.model import Category, PaymentMethod
from recibo.portal import (
    error_messages,
    evidence_boxes,
    field_labels,
    forms,
    list_changes,
    pages,
    photo_hints,
    receipt_history,
    request_context,
    review_checks,
    review_forms,
    routers,
    service_messages,
)
from recibo.portal.error_messages import ErrorMessage
from recibo.portal.receipt_lists import PAGE
from recibo.portal.request_context import RequestContext
from recibo.portal.review_checks import Check, Sum
from recibo.portal.review_lists import ReviewList
from recibo.portal.translations import gettext_noop, lazy_gettext
from recibo.schemas.permissions import Permission
from recibo.schemas.receipts import Receipt
from recibo.schemas.states import ReceiptStatus
from recibo.services.identity import actor_names
from recibo.services.reading import corrections, receipt_details, receipts
from recibo.services.reading.receipt_details import ReceiptDetails
from recibo.store.db import ReadSession

router = routers.make(PAGE)

#: Notices after a redirect, by the query parameter `notice`.
_NOTICES = {
    "taken": lazy_gettext("Uploaded. The results appear on this page."),
    "replaced": lazy_gettext(
        "Uploaded in place of the document that could not be read. The results appear on this page."
    ),
    "known": lazy_gettext("This file was uploaded before. It is not read or billed twice."),
    "again": lazy_gettext("The document is read again. A reading that improves nothing is free."),
    "no-better": lazy_gettext(
        "It is being read already, or high accuracy found nothing better before."
    ),
    "saved": lazy_gettext("Saved."),
    "approved": lazy_gettext("Approved."),
    "kept-approved": lazy_gettext("Saved. The receipt stays approved."),
    "unsettled": lazy_gettext(
        "Saved. The receipt stays approved, although something is left to check."
    ),
    "next": lazy_gettext("Approved. This is the next one."),
    "next-older": lazy_gettext("Approved. This one is of an earlier upload."),
    "next-other": lazy_gettext("Approved. This one was uploaded by someone else."),
    "kept": lazy_gettext("This receipt is kept, and the other one is deleted."),
    "not-duplicates": lazy_gettext("Both are kept: they are no longer listed as duplicates."),
    "withdrawn": lazy_gettext("The approval is withdrawn."),
}
_OF_OTHERS = {name: _NOTICES[name] for name in ("next-older", "next-other")}
_UNSETTLED = {"unsettled": _NOTICES["unsettled"]}
# A thousand line items, with long names.
_MAX_FORM_BYTES = 2 << 20
_MAX_FORM_FIELDS = 10_000
_MAX_PAGE_DIGITS = 4
_WIDTHS = range(64, 1601)
# Receipts that were uploaded with a longer pause between them are of two uploads.
_UPLOAD = dt.timedelta(hours=1)
_ZOOMS = (100, 150, 200, 300)

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_READ))]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_WRITE))]


@dataclass(frozen=True, slots=True)
class DocumentView:
    """How the document is shown: its size in percent, and how far it is turned, in degrees."""

    zoom: int = _ZOOMS[0]
    turn: int = 0
    #: Other values that its links keep.
    kept: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: Request) -> "DocumentView":
        """Return what the links of the tools chose."""
        query = request.query_params
        zooms = {str(one): one for one in _ZOOMS}
        turns = {str(one): one for one in range(0, 360, 90)}
        return cls(
            zooms.get(query.get("zoom", ""), _ZOOMS[0]),
            turns.get(query.get("rotate", ""), 0),
            ReviewList.of(query).kept,
        )

    def zoomed(self, steps: int) -> str:
        """Return the query for some steps larger or smaller."""
        at = _ZOOMS.index(self.zoom) + steps
        zoom = _ZOOMS[max(0, min(at, len(_ZOOMS) - 1))]
        return self._query(zoom, self.turn)

    @property
    def turned(self) -> str:
        """The query for a quarter turn more."""
        return self._query(self.zoom, (self.turn + 90) % 360)

    def _query(self, zoom: int, turn: int) -> str:
        return f"?{urlencode({**self.kept, 'zoom': zoom, 'rotate': turn})}"


async def _typed(request: Request) -> dict[str, str]:
    return await forms.submitted(request, max_bytes=_MAX_FORM_BYTES, max_fields=_MAX_FORM_FIELDS)


@router.get("/{receipt_id}")
async def show_receipt(caller: Reader, receipt_id: str) -> Response:
    """Show the results and the document."""
    return await show(caller, receipt_id)


@router.get("/{receipt_id}/pages/{number}")
async def show_page(caller: Reader, receipt_id: str, number: str, width: str = "") -> Response:
    """Return the picture of a page, counted from 1; its width for a smaller one."""
    if not _is_number(number) or (width and not _is_number(width)):
        raise NotFound
    if width and int(width) not in _WIDTHS:
        raise NotFound
    picture = await caller.services.page_images.get(
        caller.member, receipt_id, int(number), width=int(width) if width else None
    )
    return Response(
        picture,
        media_type="image/webp",
        headers={
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
            "Cache-Control": "private, max-age=3600",
        },
    )


@router.post("/{receipt_id}")
async def correct(
    caller: Writer, receipt_id: str, typed: Annotated[dict[str, str], Depends(_typed)]
) -> Response:
    """Save what was changed, approve the receipt or withdraw its approval, as the button says."""
    act, values = typed.get("do", "save"), review_forms.pressed(typed)
    approved = {"approve": True, "next": True, "keep": True, "withdraw": False}.get(act)
    listed = ReviewList.of(typed)
    try:
        async with caller.services.database.read() as session:
            before = await receipts.get(session, caller.member, receipt_id)
            # The correction may move the receipt to another place of the list.
            following = await listed.following(session, caller, receipt_id)
            step = await _step(session, caller, before, following)
        if approved:
            _refuse_unseen(before, typed)
        given = review_forms.correction(before, values, approved=approved)
        # Refused if the receipt has another version by now.
        async with caller.services.database.write() as writing:
            after = await corrections.apply(writing, caller.member, receipt_id, given)
    except (ValidationFailed, Conflict) as e:
        return await show(caller, receipt_id, error=e, typed=values)
    if act == "next" and following is None:
        return _saved(caller, listed.after(notice="reviewed"))
    if act == "next" and following:
        return _saved(caller, listed.page(following, notice=step))
    notice = {"approve": "approved", "withdraw": "withdrawn"}.get(act, "saved")
    if act == "keep":
        is_unsettled = review_checks.of(after, despite_approval=True)
        notice = "unsettled" if is_unsettled else "kept-approved"
    return _saved(caller, listed.page(receipt_id, notice=notice), is_same=True)


def _refuse_unseen(receipt: Receipt, typed: Mapping[str, str]) -> None:
    """Raise ValidationFailed if the page of a receipt did not show one of its duplicates."""
    unseen = set(receipt.duplicates) - set(typed.get("seen", "").split())
    if "seen" in typed and unseen:
        message = gettext_noop("A possible duplicate was found meanwhile. Compare both first.")
        raise ValidationFailed(message)


@router.post("/{receipt_id}/sums")
async def add_up(
    caller: Writer, receipt_id: str, typed: Annotated[dict[str, str], Depends(_typed)]
) -> Response:
    """Return how the typed amounts add up, what is wrong and what is left; nothing is saved."""
    async with caller.services.database.read() as session:
        details = await receipt_details.get(session, caller.member, receipt_id)
    before = details.receipt
    wrong = {one.field: one.message for one in review_forms.wrong(before, typed)}
    refusal = ErrorMessage(fields=wrong)
    sums = _typed_sums(before, typed, wrong)
    left = _left(details, typed, wrong)
    return JSONResponse(
        {
            "sums": {name: asdict(one) for name, one in sums.items()},
            "errors": {name: refusal.for_field(name, field_labels.of(name)) for name in wrong},
            "left": [one.field for one in left],
            "said": {one.field: _said(one) for one in left},
            "heading": review_checks.heading(len(left) + bool(details.duplicates)),
        }
    )


async def show(
    caller: RequestContext,
    receipt_id: str,
    *,
    error: ServiceError | None = None,
    typed: dict[str, str] | None = None,
) -> Response:
    """Render the page; with an error and what was typed, if a form was refused."""
    listed = ReviewList.of(caller.request.query_params if typed is None else typed)
    async with caller.services.database.read() as session:
        details = await receipt_details.get(session, caller.member, receipt_id)
        context = {
            "names": service_messages.actors(
                await actor_names.of(session, caller.member, _actors(details))
            ),
            "history": await receipt_history.of(session, caller, receipt_id),
        }
        neighbors = await listed.neighbors(session, caller, receipt_id)
    may_write = caller.may(Permission.RECEIPTS_WRITE)
    drawn = evidence_boxes.sheets(details)
    is_completed = details.receipt.status is ReceiptStatus.COMPLETED
    answer = pages.show(
        caller.request,
        "receipt.html",
        status=error.status if error else HTTPStatus.OK,
        details=details,
        receipt=details.receipt,
        notice="" if error else caller.notice(_NOTICES),
        may_stop=not error and caller.notice(_OF_OTHERS) != "",
        may_write=may_write,
        may_edit=may_write and is_completed and not details.is_in_work,
        is_own=details.receipt.created_by == caller.member.user_id,
        listed=listed,
        neighbors=neighbors,
        has_following=bool(neighbors.next or (listed.is_shrinking and neighbors.previous)),
        view=DocumentView.of(caller.request),
        sheets=drawn,
        excerpt_of=lambda found: evidence_boxes.excerpt(drawn, found),
        level=evidence_boxes.level,
        is_worth_high=receipt_details.is_worth_high,
        categories=list(Category),
        payment_methods=list(PaymentMethod),
        checks=review_checks.of(details.receipt, despite_approval=caller.notice(_UNSETTLED) != ""),
        checks_heading=review_checks.heading,
        hints=photo_hints.sentences(details.evidence.quality if details.evidence else None),
        sums=_sums(details.receipt, typed),
        lines_read=lambda name: _lines_read(details, name),
        base_url=caller.services.base_url or str(caller.request.base_url).rstrip("/"),
        **_form(details, error, typed),
        **context,
    )
    if error and error.retry_after is not None:
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer


def _said(check: Check) -> str:
    """Return what to check as one text, with the name of its field unless a sum names it."""
    sentences = " ".join(check.sentences)
    if check.ledger or not check.field:
        return sentences
    return f"{field_labels.of(check.field)}: {sentences}"


async def _step(
    session: ReadSession, caller: RequestContext, before: Receipt, following: str | None
) -> str:
    """Return the notice on the next receipt, which says when it is of another upload."""
    if following is None or before.created_by != caller.member.user_id:
        return "next"
    then = await receipts.get(session, caller.member, following)
    if then.created_by != before.created_by:
        return "next-other"
    return "next-older" if before.created_at - then.created_at > _UPLOAD else "next"


def _saved(caller: RequestContext, page: str, *, is_same: bool = False) -> Response:
    """Lead to the page after a change; `review_form.js` asks for its address instead."""
    if caller.request.headers.get("accept") == "application/json":
        return JSONResponse({"location": page, "is_same": is_same})
    return pages.see_other(page)


def _sums(receipt: Receipt, typed: dict[str, str] | None) -> dict[str, Sum]:
    """Return how the amounts add up, as stored or as typed."""
    if typed is None:
        return review_checks.added_up(receipt)
    return _typed_sums(receipt, typed, [one.field for one in review_forms.wrong(receipt, typed)])


def _lines_read(details: ReceiptDetails, name: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the lines of a list that a person changed, by their places, as they were read."""
    if details.machine is None:
        return []
    read, now = (
        [one.model_dump(mode="json") for one in getattr(version, name)]
        for version in (details.machine, details.receipt)
    )
    return list(list_changes.differing(read, now))


def _typed_sums(receipt: Receipt, typed: dict[str, str], wrong: Collection[str]) -> dict[str, Sum]:
    """Return how the typed amounts add up; nothing about those that are `wrong`."""
    shown = review_forms.with_amounts(receipt, typed, wrong=wrong)
    return review_checks.added_up(shown, unknown=wrong)


def _left(details: ReceiptDetails, typed: dict[str, str], wrong: Collection[str]) -> list[Check]:
    """Return what is to be checked after what was typed; all as before while a value is wrong."""
    before = details.receipt
    shown = review_forms.with_amounts(before, typed, wrong=wrong)
    if before.review is None or wrong:
        return review_checks.of(shown)
    given = review_forms.correction(before, typed)
    reasons = corrections.doubts_after(before, details.evidence, given)
    review = before.review.model_copy(update={"reasons": tuple(reasons)})
    return review_checks.of(shown.model_copy(update={"review": review}))


# Amounts that few receipts have.
_SELDOM = ("discount", "service_charge", "tip", "rounding")


def _form(
    details: ReceiptDetails, error: ServiceError | None, typed: dict[str, str] | None
) -> dict[str, Any]:
    """Return the values of the form, and what is wrong with them."""
    values, refusal, lost = review_forms.values_of(details.receipt), ErrorMessage(), []
    if isinstance(error, Conflict) and typed is not None:
        lost = review_forms.differences(details.receipt, typed)
    elif error and typed is not None:
        values |= typed
        refusal = ErrorMessage.of(error, review_forms.inputs(values))
    elif error:
        refusal = ErrorMessage(error_messages.sentence(error))
    return {
        "values": values,
        "rows": review_forms.row_counts(values),
        "absent": [name for name in _SELDOM if getattr(details.receipt, name) is None],
        "refusal": refusal,
        "lost": lost,
        # A line may be another one by now.
        "may_save_lost": not any(review_forms.is_of_line(name) for name, _ in lost),
        "has_conflict": isinstance(error, Conflict),
        "conflict": error_messages.sentence(error) if isinstance(error, Conflict) else "",
    }


def _actors(details: ReceiptDetails) -> list[str | None]:
    review = details.receipt.review
    return [details.receipt.created_by, review.by if review else None]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_PAGE_DIGITS
