"""List, get, correct, export and delete receipts under /v1/receipts."""

from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from recibo.api import json_body, routers
from recibo.api.browser_sessions import SESSION_HEADERS
from recibo.api.deps import (
    CanChange,
    CanRead,
    CanReadReceipts,
    refuse_repeated,
)
from recibo.api.queries import Amount, Digits, Flag, Text, bound
from recibo.api.responses import errors_of, receipt_answer
from recibo.errors import InsufficientScope, NotFound, ValidationFailed
from recibo.extract.document import formats
from recibo.extract.model import Category, DocumentType
from recibo.schemas.actor import KeyActor
from recibo.schemas.corrections import Correction
from recibo.schemas.receipts import DetailedReceipt, Receipt
from recibo.schemas.states import KeyKind, ReceiptStatus, ReviewStatus
from recibo.services.pagination import PageRequest
from recibo.services.reading import corrections, exports, receipt_lists, receipts
from recibo.services.reading.exports import Format, Rows
from recibo.web.exports import download
from recibo.web.services import TheServices

router = routers.make("/v1/receipts", tag="receipts")

_INCLUDABLE = ("evidence", "pages", "reading", "text")
_METADATA = "metadata."
_MAX_PAGE_DIGITS = 4
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


class FilterQuery(BaseModel):
    """The filters of a list and of an export; a receipt must match all."""

    after: str | None = Field(default=None, description="Issued on or after; ISO 8601.")
    before: str | None = Field(default=None, description="Issued strictly before; ISO 8601.")
    type: DocumentType | None = None
    status: ReceiptStatus | None = None
    q: Text | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Words, or beginnings of words, in the merchant, the numbers, the key, the "
        "items or the text of the pages; without regard to case and accents.",
    )
    review: ReviewStatus | None = None
    merchant: Text | None = Field(
        default=None,
        min_length=1,
        max_length=255,
        description="The whole name, without regard to case, accents and punctuation.",
    )
    currency: Text | None = Field(
        default=None, pattern="^[A-Z]{3}$", description="ISO 4217.", examples=["BRL"]
    )
    category: Category | None = None
    min_total: Amount | None = Field(default=None, description="At least.")
    max_total: Amount | None = Field(default=None, description="At most.")
    max_confidence: float | None = Field(
        default=None, ge=0, le=1, allow_inf_nan=False, description="At most."
    )
    duplicates: Flag = Field(default=False, description="`true`: only those with duplicates.")

    def filters(self, request: Request, actor: KeyActor) -> receipt_lists.Filters:
        """Return the filters of a request; raises ServiceError for one that is not allowed."""
        if actor.kind is KeyKind.PUBLISHABLE and (self.review or self.duplicates):
            # They would reveal receipts that the session does not see.
            message = "The filters `review` and `duplicates` need a secret key."
            raise InsufficientScope(message)
        return receipt_lists.Filters(
            tags=_tags(request),
            after=bound("after", self.after),
            before=bound("before", self.before),
            **self.model_dump(include=_PLAIN_FILTERS),
        )


# Those that go to the service as they are.
_PLAIN_FILTERS = set(FilterQuery.model_fields) - {"after", "before"}


class ListQuery(FilterQuery):
    """The filters of a list, and which page of it."""

    limit: Digits = Field(default=50, ge=1, le=200)
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")


class IncludeQuery(BaseModel):
    """What to include."""

    include: str | None = Field(
        default=None,
        description="`evidence`, `pages`, `reading`, `text`, or several with commas between.",
    )


class OneQuery(IncludeQuery):
    """What to include, and how long to wait."""

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
    async with services.database.read() as session:
        page = await receipt_lists.page(
            session,
            actor,
            query.filters(request, actor),
            wanted=PageRequest(query.limit, query.cursor, services.cursor_key),
        )
    return ReceiptList(data=page.data, has_more=page.has_more, next_cursor=page.next_cursor)


class ExportQuery(FilterQuery):
    """The filters of an export, and its form."""

    format: Format = Field(
        default=Format.CSV,
        description="`csv`, `xlsx`, `jsonl` (a receipt as the API returns it on each line), or "
        "`zip` (the uploaded files and a CSV file).",
    )
    rows: Rows = Field(default=Rows.RECEIPTS, description="What a row of a table is.")


@router.get(
    "/export",
    summary="Export receipts",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file, as a download.",
            "content": {
                media_type.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}
                for media_type in exports.MEDIA_TYPES.values()
            },
        },
        **errors_of(400, 401, 403, 429, 500, 503),
    },
    openapi_extra={"parameters": _METADATA_PARAMETER["parameters"][:1]},
)
async def export_receipts(
    request: Request,
    actor: CanRead,
    services: TheServices,
    query: Annotated[ExportQuery, Query()],
) -> Response:
    """Export the receipts that match all filters, newest first, as one file.

    The columns of a table are the fields of the API. In CSV, a text that a spreadsheet would take
    for a formula gets an apostrophe in front. The export is recorded in the audit log.
    """
    refuse_repeated(request, ExportQuery)
    wanted = exports.Wanted(query.format, query.rows, query.filters(request, actor))
    return await download(services.exports, actor, wanted)


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


def _included(given: str | None) -> frozenset[str]:
    asked = frozenset(given.split(",")) if given else frozenset[str]()
    unknown = asked.difference(_INCLUDABLE)
    if unknown or given == "":
        message = f"must be {', '.join(_INCLUDABLE)}, or several of them with commas between"
        raise ValidationFailed.of("include", message)
    return asked


def _asked(request: Request, query: Annotated[IncludeQuery, Query()]) -> frozenset[str]:
    refuse_repeated(request, IncludeQuery)
    return _included(query.include)


@router.patch(
    "/{receipt_id}",
    summary="Correct or approve a receipt",
    response_model=DetailedReceipt,
    openapi_extra=json_body.documented(Correction),
    responses=errors_of(400, 401, 403, 404, 409, 429, 500),
)
async def update_receipt(
    receipt_id: str,
    actor: CanChange,
    services: TheServices,
    include: Annotated[frozenset[str], Depends(_asked)],
    body: Annotated[Correction, Depends(json_body.json_body(Correction))],
) -> Response:
    """Change fields of a completed receipt, its metadata or its approval; nothing is billed.

    What the machine read is kept: `include=reading`. A change after an approval withdraws it,
    unless the request says `approved: true`. With `version`, a receipt that has changed meanwhile
    is not overwritten: 409.
    """
    async with services.database.write() as session:
        receipt = await corrections.apply(session, actor, receipt_id, body)
    if include:
        receipt = await services.extraction.wait(actor, receipt_id, wait_seconds=0, include=include)
    return receipt_answer(receipt)


class PageQuery(BaseModel):
    """How large the picture of a page is."""

    width: Digits | None = Field(
        default=None,
        ge=64,
        le=1600,
        description="Pixels. A page is never enlarged. Left out: the longest side has 1600.",
    )


@router.get(
    "/{receipt_id}/pages/{page}",
    summary="Get a picture of a page",
    response_class=Response,
    responses={
        200: {
            "description": "The upright page.",
            "content": {"image/webp": {"schema": {"type": "string", "format": "binary"}}},
        },
        **errors_of(400, 401, 403, 404, 429, 500, 503),
    },
    openapi_extra={"parameters": [SESSION_HEADERS]},
)
async def get_receipt_page(
    receipt_id: str,
    page: str,
    actor: CanReadReceipts,
    services: TheServices,
    query: Annotated[PageQuery, Query()],
) -> Response:
    """Return a page, counted from 1, set upright, as WebP; of HEIC, TIFF and PDF files, too."""
    if not (page.isascii() and page.isdigit()) or len(page) > _MAX_PAGE_DIGITS:
        raise NotFound
    picture = await services.page_images.get(actor, receipt_id, int(page), width=query.width)
    return Response(
        picture,
        media_type="image/webp",
        headers={
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
            "Cache-Control": "private, max-age=3600",
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
async def delete_receipt(receipt_id: str, actor: CanChange, services: TheServices) -> None:
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
