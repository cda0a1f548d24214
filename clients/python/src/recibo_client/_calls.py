"""The requests of the API, one function for each operation, named as in the OpenAPI document."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from recibo_client import params

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recibo_client._uploads import Upload

# A server holds a request for this long at most.
MAX_WAIT_SECONDS = 25.0


@dataclass(frozen=True)
class Call:
    """A request.

    Attributes:
        is_repeatable: Whether the same request, sent twice, does what it does once.
        wait_seconds: For how long the server may hold it.
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    form: Mapping[str, str] = field(default_factory=dict)
    upload: Upload | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = True
    wait_seconds: float = 0

    def content(self) -> dict[str, Any]:
        """Return the body as arguments of httpx; for each attempt a new one."""
        if self.upload is not None:
            return {"data": dict(self.form), "files": {"file": self.upload.part()}}
        return {} if self.json is None else {"json": self.json}


def extract_receipt(
    upload: Upload, form: Mapping[str, str], idempotency_key: str | None = None
) -> Call:
    """Upload a document; all attempts have one Idempotency-Key, so it is billed once."""
    headers = {"Idempotency-Key": idempotency_key or str(uuid.uuid4())}
    return Call(
        "POST",
        "/v1/extract",
        form=form,
        upload=upload,
        headers=headers,
        wait_seconds=MAX_WAIT_SECONDS,
    )


def get_receipt(receipt_id: str, *, include: Sequence[str] = (), wait: float = 0) -> Call:
    """Get a receipt."""
    names = include if isinstance(include, str) else ",".join(include)
    query = params.query({}, include=names or None, wait=wait or None)
    return Call("GET", _path(receipt_id), query, wait_seconds=wait)


def list_receipts(
    filters: params.Filters, *, limit: int | None = None, cursor: str | None = None
) -> Call:
    """Get a page of receipts."""
    return Call("GET", "/v1/receipts", params.query(filters, limit=limit, cursor=cursor))


def update_receipt(receipt_id: str, correction: params.Correction) -> Call:
    """Correct or approve a receipt.

    With a version the second attempt would conflict with the first, so it is not repeatable.
    """
    return Call(
        "PATCH",
        _path(receipt_id),
        json=params.body(correction),
        is_repeatable="version" not in correction,
    )


def delete_receipt(receipt_id: str) -> Call:
    """Delete a receipt; the second attempt would not find it."""
    return Call("DELETE", _path(receipt_id), is_repeatable=False)


def get_receipt_file(receipt_id: str) -> Call:
    """Get the uploaded file."""
    return Call("GET", f"{_path(receipt_id)}/file")


def get_receipt_page(receipt_id: str, page: int, *, width: int | None = None) -> Call:
    """Get a picture of a page."""
    query = params.query({}, width=width)
    return Call("GET", f"{_path(receipt_id)}/pages/{page}", query)


def export_receipts(filters: params.Filters, *, file_format: str, rows: str) -> Call:
    """Export all receipts that match."""
    query = params.query(filters, format=file_format, rows=rows)
    return Call("GET", "/v1/receipts/export", query)


def list_webhook_events(
    event_type: str | None = None, *, limit: int | None = None, cursor: str | None = None
) -> Call:
    """Get a page of the events that were sent."""
    query = params.query({}, type=event_type, limit=limit, cursor=cursor)
    return Call("GET", "/v1/webhooks/events", query)


def get_own_key() -> Call:
    """Get the record of the calling key."""
    return Call("GET", "/v1/key")


def _path(receipt_id: str) -> str:
    # `.` and `..` would name another operation.
    return f"/v1/receipts/{quote(receipt_id, safe='').replace('.', '%2E')}"
