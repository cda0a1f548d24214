"""GET and DELETE under /v1/receipts."""

from typing import Annotated, Any

from fastapi import Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from recibo.api import routers
from recibo.api.browser_sessions import SESSION_HEADERS
from recibo.api.deps import CanDelete, CanReadReceipts, refuse_repeated
from recibo.api.queries import Digits, bound
from recibo.api.responses import errors_of, receipt_answer
from recibo.errors import NotFound, ValidationFailed
from recibo.extract.document import formats
from recibo.extract.model import DocumentType
from recibo.schemas.receipts import DetailedReceipt, Receipt
from recibo.schemas.states import ReceiptStatus
from recibo.services.pagination import PageRequest
from recibo.services.reading import receipt_lists, receipts
from recibo.web.services import TheServices

router = routers.make("/v1/receipts", tag="receipts")

_INCLUDABLE = frozenset({"evidence", "text"})
_METADATA = "metadata."
# No receipt has more tags.
_MAX_TAGS = 16

_METADATA_PARAMETER: dict[str, Any] = {
    "parameters": [
        {
            "name": "metadata.<key>",
            "in": "query",
            "required": False,
            "schema": {"type": "string"},
            "description": "Only receipts whose metadata has this value under this key; may be "
            "given for several keys.",
        },
        SESSION_HEADERS,
    ]
}


class ListQuery(BaseModel):
    """The filters of a list."""

    after: str | None = Field(default=None, description="Issued on or after; ISO 8601.")
    before: str | None = Field(default=None, description="Issued strictly before; ISO 8601.")
    type: DocumentType | None = None
    status: ReceiptStatus | None = None
    limit: Digits = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")


class OneQuery(BaseModel):
    """What to include, and how long to wait."""

    include: str | None = Field(
        default=None, description="`evidence`, `text`, or both with a comma between."
    )
    wait: float = Field(
        default=0,
        ge=0,
        le=25,
        allow_inf_nan=False,
        description="Seconds to wait for a pending one.",
    )


class ReceiptList(BaseModel):
    """One page of receipts."""

    data: list[Receipt]
    has_more: bool
    next_cursor: str | None


@router.get(
    "",
    summary="List receipts",
    responses=errors_of(400, 401, 403, 429, 500),
    openapi_extra=_METADATA_PARAMETER,
)
async def list_receipts(
    request: Request,
    actor: CanReadReceipts,
    services: TheServices,
    query: Annotated[ListQuery, Query()],
) -> ReceiptList:
    """List the org's receipts, newest first. A receipt must match all filters.

    A date is compared with the date printed on the document, a timestamp as an instant; receipts
    without a date match neither.
    """
    refuse_repeated(request, ListQuery)
    filters = receipt_lists.Filters(
        type=query.type,
        status=query.status,
        after=bound("after", query.after),
        before=bound("before", query.before),
        tags=_tags(request),
    )
    async with services.database.read() as session:
        page = await receipt_lists.page(
            session,
            actor,
            filters,
            wanted=PageRequest(query.limit, query.cursor, services.cursor_key),
        )
    return ReceiptList(data=page.data, has_more=page.has_more, next_cursor=page.next_cursor)


@router.get(
    "/{receipt_id}",
    summary="Get a receipt",
    response_model=DetailedReceipt,
    openapi_extra={"parameters": [SESSION_HEADERS]},
    responses=errors_of(400, 401, 403, 404, 429, 500),
)
async def get_receipt(
    request: Request,
    receipt_id: str,
    actor: CanReadReceipts,
    services: TheServices,
    query: Annotated[OneQuery, Query()],
) -> Response:
    """Return one receipt."""
    refuse_repeated(request, OneQuery)
    receipt = await services.extraction.wait(
        actor, receipt_id, wait_seconds=query.wait, include=_included(query.include)
    )
    return receipt_answer(receipt)


@router.get(
    "/{receipt_id}/file",
    summary="Get the uploaded file",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file as it was uploaded.",
            "content": {
                mime: {"schema": {"type": "string", "format": "binary"}}
                for mime in formats.EXTENSIONS
            },
        },
        **errors_of(401, 403, 404, 429, 500, 503),
    },
    openapi_extra={"parameters": [SESSION_HEADERS]},
)
async def get_receipt_file(
    receipt_id: str, actor: CanReadReceipts, services: TheServices
) -> Response:
    """Return the uploaded file, as a download."""
    async with services.database.read() as session:
        file = await receipts.file_of(session, actor, receipt_id)
    content = await services.blobs.content(file.receipt_id)
    if content is None:
        message = "The file of this receipt is gone."
        raise NotFound(message)
    filename = f"{file.receipt_id}.{formats.EXTENSIONS[file.media_type]}"
    return StreamingResponse(
        content.chunks,
        media_type=file.media_type,
        headers={
            "Content-Length": str(content.size),
            "Content-Disposition": f'attachment; filename="{filename}"',
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
            "Cache-Control": "private, no-store",
            "Accept-Ranges": "none",
        },
    )


@router.delete(
    "/{receipt_id}",
    summary="Delete a receipt",
    status_code=204,
    # A 204 has no content type.
    response_class=Response,
    responses=errors_of(401, 403, 404, 429, 500),
)
async def delete_receipt(receipt_id: str, actor: CanDelete, services: TheServices) -> None:
    """Delete a receipt at once; it is purged with its file after 30 days.

    The quota that it used is not refunded.
    """
    async with services.database.write() as session:
        await receipts.soft_delete(session, actor, receipt_id)


def _tags(request: Request) -> tuple[tuple[str, str], ...]:
    given = request.query_params.multi_items()
    tags = [
        (name.removeprefix(_METADATA), value) for name, value in given if name.startswith(_METADATA)
    ]
    if len(tags) > _MAX_TAGS:
        raise ValidationFailed.of("metadata", f"asks for more than {_MAX_TAGS} keys")
    for key, value in tags:
        if "\0" in key or "\0" in value:
            raise ValidationFailed.of("metadata", "must not hold NUL")
    # Cursors depend on the filters, not on their order.
    return tuple(sorted(tags))


def _included(given: str | None) -> frozenset[str]:
    asked = frozenset(given.split(",")) if given else frozenset[str]()
    unknown = asked - _INCLUDABLE
    if unknown or given == "":
        message = f"must be {' or '.join(sorted(_INCLUDABLE))}, or both with a comma between"
        raise ValidationFailed.of("include", message)
    return asked
