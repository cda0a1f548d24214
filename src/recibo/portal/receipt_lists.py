"""The list of receipts: filters and pages, as in the API."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ValidationInfo,
    field_validator,
)

from recibo.errors import ServiceError, ValidationFailed
from recibo.extract.model import DocumentType
from recibo.portal import forms
from recibo.portal.request_context import RequestContext
from recibo.schemas.states import ReceiptStatus
from recibo.services.pagination import PageRequest
from recibo.services.reading import receipt_lists
from recibo.services.reading.receipt_lists import Filters, ReceiptPage

PAGE = "/portal/receipts"
_A_PAGE = 25


def _date(given: object) -> object:
    if not isinstance(given, str) or not given:
        return None
    try:
        return dt.date.fromisoformat(given)
    except ValueError:
        message = "must be a date, such as 2026-03-14"
        raise ValueError(message) from None


def _storable(text: str) -> str:
    if "\0" in text:
        message = "must not contain NUL"
        raise ValueError(message)
    return text


# Forms also send empty fields.
_Blank = BeforeValidator(lambda given: given or None)
_Date = Annotated[dt.date | None, BeforeValidator(_date)]
_Text = Annotated[str, AfterValidator(_storable)]


class ReceiptSearch(BaseModel):
    """The filters of the form, combined with AND."""

    status: Annotated[ReceiptStatus | None, _Blank] = None
    type: Annotated[DocumentType | None, _Blank] = None
    after: _Date = None
    before: _Date = None
    tag: _Text = ""
    tagged: _Text = ""

    @field_validator("tagged")
    @classmethod
    def _has_a_name(cls, value: str, info: ValidationInfo) -> str:
        if value and not info.data.get("tag"):
            message = "Name the tag that has this value."
            raise ValueError(message)
        return value

    @property
    def filters(self) -> Filters:
        """The filters for the service."""
        tags = ((self.tag, self.tagged),) if self.tag else ()
        return Filters(self.type, self.status, self.after, self.before, tags)


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of the list, and the values of its form."""

    slice: ReceiptPage
    #: The submitted values, by field.
    values: Mapping[str, str]
    #: The applied filters; empty if the values are invalid.
    sought: Mapping[str, str]
    has_newer: bool = False
    #: Why the requested page cannot be shown.
    error: ServiceError | None = None

    @property
    def newest(self) -> str:
        """The URL of the first page."""
        return _address(self.sought)

    @property
    def older(self) -> str:
        """The URL of the next page; empty on the last page."""
        cursor = self.slice.next_cursor
        return _address({**self.sought, "cursor": cursor}) if cursor else ""


async def listed(caller: RequestContext) -> Listed:
    """Return the requested page; if that is invalid, the newest receipts and an error."""
    query = caller.request.query_params
    values = {name: query[name] for name in ReceiptSearch.model_fields if query.get(name)}
    cursor = query.get("cursor") or None
    try:
        filters = forms.checked(ReceiptSearch, values).filters
    except ValidationFailed as e:
        return Listed(await _page(caller, Filters(), None), values, {}, error=e)
    try:
        found = await _page(caller, filters, cursor)
        return Listed(found, values, values, has_newer=cursor is not None)
    except ValidationFailed:
        error = ValidationFailed("There is no such page of this list; these are the newest.")
        return Listed(await _page(caller, filters, None), values, values, error=error)


async def newest(caller: RequestContext) -> Listed:
    """Return the newest receipts, without filters."""
    return Listed(await _page(caller, Filters(), None), {}, {})


async def _page(caller: RequestContext, filters: Filters, cursor: str | None) -> ReceiptPage:
    wanted = PageRequest(_A_PAGE, cursor, caller.services.cursor_key)
    async with caller.services.database.read() as session:
        return await receipt_lists.page(session, caller.member, filters, wanted=wanted)


def _address(values: Mapping[str, str]) -> str:
    return f"{PAGE}?{urlencode(values)}" if values else PAGE
