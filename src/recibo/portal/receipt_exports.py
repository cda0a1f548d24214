"""Exports of the list or of selected receipts, as downloads."""

from typing import Annotated

from fastapi import Depends, Response
from pydantic import BaseModel

from recibo.portal import (
    export_columns,
    forms,
    receipt_lists,
    receipt_selection,
    request_context,
    routers,
    service_messages,
)
from recibo.portal.receipt_lists import ReceiptSearch
from recibo.portal.request_context import RequestContext
from recibo.schemas.permissions import Permission
from recibo.services.identity import actor_names
from recibo.services.reading import exports
from recibo.services.reading.exports import Format, Rows
from recibo.services.reading.receipt_lists import Filters
from recibo.web.exports import download

router = routers.make(f"{receipt_lists.PAGE}/export")

Reader = Annotated[RequestContext, Depends(request_context.context_with(Permission.RECEIPTS_READ))]


class ExportForm(BaseModel):
    """The form of the file."""

    format: Format = Format.CSV
    rows: Rows = Rows.RECEIPTS


@router.get("")
async def export(caller: Reader) -> Response:
    """Return the receipts that match the filters of the list, or the selected ones, as a file."""
    query = caller.request.query_params
    options = forms.checked(
        ExportForm, {name: query[name] for name in ExportForm.model_fields if query.get(name)}
    )
    filters = _filters(caller)
    async with caller.services.database.read() as session:
        makers = service_messages.actors(await actor_names.of_org(session, caller.member))
    look = export_columns.look(options.rows, makers)
    wanted = exports.Wanted(options.format, options.rows, filters, look)
    return await download(caller.services.exports, caller.member, wanted)


def _filters(caller: RequestContext) -> Filters:
    query = caller.request.query_params
    if values := query.getlist("id"):
        return Filters(ids=tuple(one.id for one in receipt_selection.selected(values)))
    return forms.checked(ReceiptSearch, receipt_lists.submitted(query)).filters
