"""Two receipts that look like the same document, side by side, and what to do about it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Depends, Response
from pydantic import BaseModel

from recibo.portal import forms, pages, request_context, routers, service_messages
from recibo.portal.receipt_lists import PAGE
from recibo.portal.request_context import RequestContext
from recibo.portal.review_lists import ReviewList
from recibo.schemas.permissions import Permission
from recibo.schemas.receipts import Receipt
from recibo.services.identity import actor_names
from recibo.services.reading import duplicates, receipt_details, receipts

router = routers.make(PAGE)

_FIELDS = (
    "merchant_name", "merchant_tax_id", "document_number", "document_key", "issued_at", "total",
    "currency", "subtotal", "tax", "type", "category",
)  # fmt: skip

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_READ))]
Writer = Annotated[RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_WRITE))]


class Decision(StrEnum):
    """What to do with two receipts."""

    KEEP_THIS = "keep-this"
    KEEP_OTHER = "keep-other"
    KEEP_BOTH = "keep-both"


class DecisionForm(BaseModel):
    """The button that was pressed."""

    do: Decision


@dataclass(frozen=True, slots=True)
class Compared:
    """A field of both receipts."""

    name: str
    this: Any
    other: Any

    @property
    def differs(self) -> bool:
        """Whether both have it, with different values."""
        return bool(self.this != self.other)


@router.get("/{receipt_id}/duplicates/{other_id}")
async def show_both(caller: Reader, receipt_id: str, other_id: str) -> Response:
    """Show both documents and their fields next to each other."""
    async with caller.services.database.read() as session:
        this = await receipt_details.get(session, caller.member, receipt_id)
        other = await receipt_details.get(session, caller.member, other_id)
        makers = [this.receipt.created_by, other.receipt.created_by]
        names = await actor_names.of(session, caller.member, makers)
    return pages.show(
        caller.request,
        "duplicates.html",
        both=(this, other),
        this=this.receipt,
        other=other.receipt,
        compared=list(_compared(this.receipt, other.receipt)),
        names=service_messages.actors(names),
        is_listed=other.receipt.id in this.receipt.duplicates,
        may_write=caller.may(Permission.RECEIPTS_WRITE),
        listed=ReviewList.of(caller.request.query_params),
    )


@router.post("/{receipt_id}/duplicates/{other_id}")
async def decide(
    caller: Writer,
    receipt_id: str,
    other_id: str,
    form: Annotated[DecisionForm, Depends(forms.plain(DecisionForm))],
) -> Response:
    """Delete one of them, or note that they are different documents."""
    kept = other_id if form.do is Decision.KEEP_OTHER else receipt_id
    async with caller.services.database.read() as reading:
        await receipts.get(reading, caller.member, kept)
    async with caller.services.database.write() as session:
        if form.do is Decision.KEEP_BOTH:
            await duplicates.mark_different(session, caller.member, receipt_id, other_id)
        else:
            gone = receipt_id if form.do is Decision.KEEP_OTHER else other_id
            await receipts.soft_delete(session, caller.member, gone)
    notice = "not-duplicates" if form.do is Decision.KEEP_BOTH else "kept"
    listed = ReviewList.of(caller.request.query_params)
    return pages.see_other(listed.page(kept, notice=notice))


def _compared(this: Receipt, other: Receipt) -> Iterator[Compared]:
    """Yield the fields that one of them has, then the number of line items."""
    for name in _FIELDS:
        pair = getattr(this, name), getattr(other, name)
        if pair != (None, None):
            yield Compared(name, *pair)
    yield Compared("line_items", len(this.line_items), len(other.line_items))
