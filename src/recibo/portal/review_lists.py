"""The list in which a receipt was clicked: the way back, and which receipt is next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl, urlencode

from recibo.errors import ValidationFailed
from recibo.portal import forms, receipt_lists, receipt_sorting
from recibo.portal.receipt_lists import PAGE, TO_REVIEW, ReceiptSearch, Tab
from recibo.portal.request_context import RequestContext
from recibo.schemas.states import ReviewStatus
from recibo.services.reading import sorted_lists
from recibo.services.reading.receipt_lists import Filters
from recibo.services.reading.sorted_lists import Neighbors, Order
from recibo.store.db import ReadSession

#: The field of forms and addresses that holds the query of the list.
FIELD = "list"
_TO_REVIEW = Filters(review=ReviewStatus.NEEDS_REVIEW)
# Longer ones come from no page of ours.
_MAX_LENGTH = 2000
# Approved receipts leave these lists.
_SHRINKING = (ReviewStatus.NEEDS_REVIEW, ReviewStatus.READY)


@dataclass(frozen=True, slots=True)
class ReviewList:
    """A list of receipts that are reviewed one after the other."""

    filters: Filters
    order: Order = receipt_sorting.NEWEST
    #: The query of the list; None if the receipt was not clicked in a list.
    query: str | None = None

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Self:
        """Return the list that a form or an address names; receipts to review without one."""
        return cls.named(values.get(FIELD))

    @classmethod
    def named(cls, query: str | None) -> Self:
        """Return the list with a query, or receipts to review."""
        if query is not None and len(query) <= _MAX_LENGTH:
            given = dict(parse_qsl(query))
            try:
                filters = forms.checked(ReceiptSearch, receipt_lists.submitted(given)).filters
            except ValidationFailed:
                return cls(_TO_REVIEW)
            return cls(filters, receipt_sorting.applied(given.get("sort", ""), filters), query)
        return cls(_TO_REVIEW)

    @property
    def tab(self) -> Tab | None:
        """The tab of the list; None if it has none, or is unknown."""
        if self.query is None:
            return None
        return receipt_lists.tab_of(dict(parse_qsl(self.query)))

    @property
    def address(self) -> str:
        """The URL of the same page of the list."""
        return receipt_lists.back_to(self.query or "")

    @property
    def is_shrinking(self) -> bool:
        """Whether approved receipts leave it, so that it has an end."""
        return self.filters.review in _SHRINKING

    @property
    def kept(self) -> dict[str, str]:
        """The values that keep the list in an address."""
        return {} if self.query is None else {FIELD: self.query}

    @property
    def suffix(self) -> str:
        """The query that keeps the list in an address."""
        return f"?{urlencode(self.kept)}" if self.kept else ""

    def page(self, receipt_id: str, **more: str) -> str:
        """Return the URL of the page of a receipt within the list."""
        values = {**self.kept, **more}
        return f"{PAGE}/{receipt_id}" + (f"?{urlencode(values)}" if values else "")

    def after(self, **more: str) -> str:
        """Return the URL of the list, from its first page on, once all are approved."""
        given = dict(parse_qsl(urlencode(TO_REVIEW.values) if self.query is None else self.query))
        given.pop("cursor", None)
        return receipt_lists.back_to(urlencode(given), **more)

    async def neighbors(
        self, session: ReadSession, caller: RequestContext, receipt_id: str
    ) -> Neighbors:
        """Return the receipts before and after one."""
        return await sorted_lists.neighbors(
            session, caller.member, self.filters, self.order, receipt_id
        )

    async def following(
        self, session: ReadSession, caller: RequestContext, receipt_id: str
    ) -> str | None:
        """Return the receipt to review after one is approved; None if none is left.

        After the last receipt of a tab come those that were skipped, from the first one on.
        """
        found = await self.neighbors(session, caller, receipt_id)
        if found.next or not (self.is_shrinking and found.previous):
            return found.next
        return await sorted_lists.first(session, caller.member, self.filters, self.order)
