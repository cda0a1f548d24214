"""The list of receipts: tabs, search, filters and pages."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Annotated
from urllib.parse import parse_qsl, urlencode

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
)

from recibo.errors import ServiceError, ValidationFailed
from recibo.extract.model import Category, DocumentType
from recibo.lib import money
from recibo.portal import amount_inputs, forms, pages, receipt_sorting
from recibo.portal.receipt_sorting import Choice
from recibo.portal.request_context import RequestContext
from recibo.portal.translations import LazyText, gettext_noop, lazy_pgettext
from recibo.schemas.states import ReceiptStatus, ReviewStatus
from recibo.services.pagination import PageRequest
from recibo.services.reading import receipt_lists, sorted_lists
from recibo.services.reading.receipt_lists import Filters, ReceiptPage
from recibo.services.reading.sorted_lists import Order, Sort
from recibo.services.reading.spend import Period

PAGE = "/portal/receipts"
_A_PAGE, _A_LONG_PAGE = 25, 100
#: The field of addresses for the receipts on a page.
_SIZE = "size"
_DAY = dt.timedelta(days=1)
_MAX_QUERY, _MAX_NAME = 200, 255
_PERCENT = re.compile(r"\d{1,3}", re.ASCII)
_WHOLE = 100
# The step of a confidence. The portal shows whole percents, rounded down.
_SHARE_STEP = Decimal("0.0001")
# As many digits as both databases compare exactly.
_AMOUNT = re.compile(r"-?\d{1,12}(\.\d{1,4})?", re.ASCII)


def _date(given: object) -> object:
    if not isinstance(given, str) or not given:
        return None
    try:
        return dt.date.fromisoformat(given)
    except ValueError:
        message = gettext_noop("must be a date, such as 2026-03-14")
        raise ValueError(message) from None


def _amount(given: object) -> object:
    if not isinstance(given, str) or not given.strip():
        return None
    message = gettext_noop("must be an amount, such as 1234.50")
    try:
        text = amount_inputs.parsed(given.strip(), may_have_three_decimals=True)
    except amount_inputs.AmbiguousAmountError:
        raise ValueError(message) from None
    if not _AMOUNT.fullmatch(text):
        raise ValueError(message)
    return text


def _percent(given: object) -> object:
    if not isinstance(given, str) or not given.strip():
        return None
    text = given.strip().removesuffix("%").rstrip()
    if not _PERCENT.fullmatch(text) or int(text) > _WHOLE:
        message = gettext_noop("must be a whole number of percent, from 0 to 100")
        raise ValueError(message)
    return int(text)


def _currency(code: str | None) -> str | None:
    if code is not None and code.upper() not in money.CURRENCIES:
        message = gettext_noop("must be a currency code, such as BRL")
        raise ValueError(message)
    return code and code.upper()


def _storable(text: str) -> str:
    if "\0" in text:
        message = gettext_noop("must not contain NUL")
        raise ValueError(message)
    return text


# Forms also send empty fields.
_Blank = BeforeValidator(lambda given: given or None)
_Date = Annotated[dt.date | None, BeforeValidator(_date)]
_Amount = Annotated[Decimal | None, BeforeValidator(_amount)]
_Percent = Annotated[int | None, BeforeValidator(_percent)]
_Text = Annotated[str, AfterValidator(_storable)]


class ReceiptSearch(BaseModel):
    """The filters of the form, combined with AND."""

    status: Annotated[ReceiptStatus | None, _Blank] = None
    review: Annotated[ReviewStatus | None, _Blank] = None
    q: Annotated[forms.Trimmed, Field(max_length=_MAX_QUERY), AfterValidator(_storable)] = ""
    type: Annotated[DocumentType | None, _Blank] = None
    after: _Date = None
    #: The last day.
    until: _Date = None
    tag: _Text = ""
    tagged: _Text = ""
    merchant: Annotated[forms.Trimmed, Field(max_length=_MAX_NAME), AfterValidator(_storable)] = ""
    currency: Annotated[str | None, AfterValidator(_currency), _Blank] = None
    category: Annotated[Category | None, _Blank] = None
    min_total: _Amount = None
    max_total: _Amount = None
    #: In percent, as the page shows it.
    max_confidence: _Percent = None
    duplicates: Annotated[bool, BeforeValidator(lambda given: given == "true")] = False

    @field_validator("tagged")
    @classmethod
    def _has_a_name(cls, value: str, info: ValidationInfo) -> str:
        if value and not info.data.get("tag"):
            message = gettext_noop("Name the tag that has this value.")
            raise ValueError(message)
        return value

    @property
    def _before(self) -> dt.date | None:
        # The calendar has no day after its last one.
        return min(self.until, dt.date.max - _DAY) + _DAY if self.until else None

    @property
    def _max_confidence(self) -> float | None:
        if self.max_confidence is None:
            return None
        return float(Decimal(self.max_confidence + 1) / _WHOLE - _SHARE_STEP)

    @property
    def filters(self) -> Filters:
        """The filters for the service."""
        return Filters(
            type=self.type,
            status=self.status,
            after=self.after,
            before=self._before,
            tags=((self.tag, self.tagged),) if self.tag else (),
            q=self.q or None,
            review=self.review,
            merchant=self.merchant or None,
            currency=self.currency,
            category=self.category,
            min_total=self.min_total,
            max_total=self.max_total,
            max_confidence=self._max_confidence,
            duplicates=self.duplicates,
        )


#: The fields that show their errors themselves.
IN_MENUS = ReceiptSearch.model_fields.keys() - {"status", "review", "q", "duplicates"}


@dataclass(frozen=True, slots=True)
class Tab:
    """Receipts of one state."""

    name: LazyText
    #: The status icon; empty for all receipts.
    mark: str = ""
    #: The filters that it represents.
    values: Mapping[str, str] = field(default_factory=dict)


ALL = Tab(lazy_pgettext("receipts", "All"))
PROCESSING = Tab(
    lazy_pgettext("receipts", "Processing"), "processing", {"status": ReceiptStatus.PENDING.value}
)
TO_REVIEW = Tab(
    lazy_pgettext("receipts", "To review"), "review", {"review": ReviewStatus.NEEDS_REVIEW.value}
)
READY = Tab(lazy_pgettext("receipts", "Ready"), "ready", {"review": ReviewStatus.READY.value})
FAILED = Tab(lazy_pgettext("receipts", "Failed"), "failed", {"status": ReceiptStatus.FAILED.value})
TABS = (
    ALL,
    TO_REVIEW,
    READY,
    Tab(lazy_pgettext("receipts", "Approved"), "approved", {"review": ReviewStatus.APPROVED.value}),
    PROCESSING,
    FAILED,
)
#: The fields by which tabs differ.
_TAB_FIELDS = ("status", "review")
#: The address of the list with the form for uploads.
UPLOAD = f"{PAGE}?upload=yes#upload"


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of the list, and the values of its form."""

    slice: ReceiptPage
    #: The submitted values, by field.
    values: Mapping[str, str]
    #: The applied filters; empty if the values are invalid.
    sought: Mapping[str, str]
    #: The numbers of receipts of some tabs, by their status icons.
    counts: Mapping[str, int]
    cursor: str = ""
    order: Order = receipt_sorting.NEWEST
    is_long: bool = False
    #: Why the requested page cannot be shown.
    error: ServiceError | None = None

    @property
    def has_newer(self) -> bool:
        """Whether it is not the first page."""
        return bool(self.cursor)

    @property
    def shows_new(self) -> bool:
        """Whether a receipt that is uploaded now appears on this page."""
        return not (self.values or self.cursor) and self.order == receipt_sorting.NEWEST

    @property
    def newest(self) -> str:
        """The URL of the first page."""
        return self._address(self.sought)

    @property
    def older(self) -> str:
        """The URL of the next page; empty on the last page."""
        cursor = self.slice.next_cursor
        return self._address({**self.sought, "cursor": cursor}) if cursor else ""

    @property
    def query(self) -> str:
        """The query of this page, to return to it after an action."""
        cursor = {"cursor": self.cursor} if self.cursor else {}
        return urlencode({**self.sought, **self._sized, **self._sorted, **cursor})

    @property
    def tab(self) -> Tab | None:
        """The current tab; None if the filters are those of no tab."""
        return tab_of(self.values)

    @property
    def narrowed(self) -> Mapping[str, str]:
        """The applied filters without those of the tab."""
        known = _TAB_FIELDS if self.tab else ()
        return {name: text for name, text in self.sought.items() if name not in known}

    @property
    def of_tab_only(self) -> str:
        """The URL of the current tab without other filters."""
        return self._address(self.tab.values if self.tab else {})

    def of_tab(self, tab: Tab) -> str:
        """Return the URL of a tab with the same filters."""
        kept = {name: text for name, text in self.sought.items() if name not in _TAB_FIELDS}
        return self._address({**tab.values, **kept})

    def without(self, *names: str) -> str:
        """Return the URL of the list without some filters."""
        kept = {name: text for name, text in self.sought.items() if name not in names}
        return self._address(kept)

    def with_value(self, name: str, text: str) -> str:
        """Return the URL of the list with one more filter."""
        return self._address({**self.sought, name: text})

    def of_period(self, period: Period) -> str:
        """Return the URL of the list with the receipts of a period."""
        return self._address({**self.sought, **_dates(period)})

    def is_of(self, period: Period) -> bool:
        """Return whether the list holds the receipts of just this period."""
        dates = _dates(period)
        return dates == {name: self.sought.get(name, "") for name in dates}

    @property
    def sort(self) -> str:
        """The parameter of the order; empty for the newest first."""
        return receipt_sorting.spelled(self.order)

    @property
    def sort_name(self) -> str:
        """What the list is sorted by, within a sentence."""
        return str(receipt_sorting.name(self.order)).lower()

    @property
    def sort_direction(self) -> LazyText:
        """Which receipts come first."""
        return receipt_sorting.direction(self.order)

    @property
    def sorts(self) -> Mapping[str, Choice]:
        """The links that sort the list, by what they sort."""
        return receipt_sorting.choices(self.order, self._currency)

    @property
    def resized(self) -> str:
        """The URL of the first page with another number of receipts."""
        return replace(self, is_long=not self.is_long).newest

    def sorted_by(self, choice: Choice) -> str:
        """Return the URL of the list in another order."""
        values = {**self.sought, **self._sized, **choice.values}
        return address({name: text for name, text in values.items() if text})

    @property
    def _sorted(self) -> Mapping[str, str]:
        return {"sort": self.sort} if self.sort else {}

    @property
    def _sized(self) -> Mapping[str, str]:
        return {_SIZE: f"{_A_LONG_PAGE}"} if self.is_long else {}

    @property
    def _currency(self) -> str:
        """The currency whose totals are compared: that of the filter, or of most receipts here."""
        if given := self.sought.get("currency"):
            return given
        counted = Counter(one.currency for one in self.slice.data if one.currency)
        return counted.most_common(1)[0][0] if counted else ""

    def _address(self, values: Mapping[str, str]) -> str:
        """Return the URL of the list in this order, if it still compares what it may."""
        is_comparable = self.order.sort is not Sort.TOTAL or "currency" in values
        return address({**values, **self._sized, **(self._sorted if is_comparable else {})})

    def export(self, **options: str) -> str:
        """Return the URL of an export of the receipts that match."""
        return f"{PAGE}/export?{urlencode({**self.sought, **options})}"


async def listed(caller: RequestContext) -> Listed:
    """Return the requested page; if that is invalid, the newest receipts and an error."""
    query = caller.request.query_params
    values, cursor = submitted(query), query.get("cursor") or ""
    try:
        filters = forms.checked(ReceiptSearch, values).filters
    except ValidationFailed as e:
        return await _page(caller, Filters(), values, {}, error=e)
    order = receipt_sorting.applied(query.get("sort") or "", filters)
    is_long = query.get(_SIZE) == f"{_A_LONG_PAGE}"
    try:
        return await _page(
            caller, filters, values, values, cursor=cursor, order=order, is_long=is_long
        )
    except ValidationFailed:
        error = ValidationFailed(
            gettext_noop("There is no such page of this list; these are the newest.")
        )
        return await _page(caller, filters, values, values, error=error)


def of_period(period: Period, **more: str) -> str:
    """Return the URL of the list with the receipts of a period."""
    return address({**_dates(period), **more})


def _dates(period: Period) -> dict[str, str]:
    return {"after": f"{period.first}", "until": f"{period.last}"}


def tab_of(values: Mapping[str, str]) -> Tab | None:
    """Return the tab of a list's values; None if the filters are those of no tab."""
    of_tab = {name: values[name] for name in _TAB_FIELDS if name in values}
    return next((one for one in TABS if one.values == of_tab), None)


async def newest(caller: RequestContext) -> Listed:
    """Return the newest receipts, without filters."""
    return await _page(caller, Filters(), {}, {})


def submitted(query: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the form in a query, without the empty ones."""
    return {name: query[name] for name in ReceiptSearch.model_fields if query.get(name)}


def back_to(query: str, **more: str) -> str:
    """Return the URL of the list that a form was sent from; only its own fields are kept."""
    given = dict(parse_qsl(query))
    kept = {name: given[name] for name in ("sort", _SIZE, "cursor") if given.get(name)}
    return address({**submitted(given), **kept, **more})


def address(values: Mapping[str, str]) -> str:
    """Return the URL of the list with these values."""
    return f"{PAGE}?{urlencode(values)}" if values else PAGE


async def _page(
    caller: RequestContext,
    filters: Filters,
    values: Mapping[str, str],
    sought: Mapping[str, str],
    *,
    cursor: str = "",
    order: Order = receipt_sorting.NEWEST,
    is_long: bool = False,
    error: ServiceError | None = None,
) -> Listed:
    wanted = PageRequest(
        _A_LONG_PAGE if is_long else _A_PAGE, cursor or None, caller.services.cursor_key
    )
    async with caller.services.database.read() as session:
        found = await sorted_lists.page(session, caller.member, filters, order, wanted=wanted)
        counts = {
            tab.mark: await receipt_lists.count(
                session, caller.member, chosen, most=pages.MOST_COUNTED
            )
            for tab, chosen in _COUNTED
        }
    return Listed(found, values, sought, counts, cursor, order, is_long, error)


_COUNTED: Sequence[tuple[Tab, Filters]] = [
    (tab, ReceiptSearch.model_validate(tab.values).filters)
    for tab in (PROCESSING, TO_REVIEW, READY, FAILED)
]
