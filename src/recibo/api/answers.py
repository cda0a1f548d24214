"""How answers look, and how they are documented."""

from typing import Any

from fastapi import Response

from recibo.api.errors import ErrorAnswer
from recibo.shapes.receipts import Receipt

_MEANINGS = {
    400: "The request is not valid; `details` name the fields.",
    401: "The API key is missing, not valid or expired.",
    403: "The API key lacks the scope.",
    404: "There is no such thing in this org.",
    409: "The Idempotency-Key was used with another file.",
    422: "The document is unreadable; nothing is billed.",
    429: "The quota is used up; `retry_after` tells when it renews.",
    500: "Something went wrong on our side; try again.",
    503: "The service is busy; nothing was kept or billed. Try again after `retry_after`.",
}


def errors_of(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of the errors that a route answers."""
    return {status: {"model": ErrorAnswer, "description": _MEANINGS[status]} for status in statuses}


def receipt_answer(receipt: Receipt) -> Response:
    """Return a receipt as JSON; extras that nobody asked for are left out."""
    body = receipt.model_dump_json(exclude_unset=True)
    return Response(body, media_type="application/json")
