"""Common answers, and the documentation of errors."""

from typing import Any, Literal

from fastapi import Response
from pydantic import BaseModel

from recibo.api.errors import ErrorAnswer
from recibo.schemas.receipts import Receipt
from recibo.schemas.sessions import TokenResponse

#: What each status of an error means.
MEANINGS = {
    400: "The request is not valid; `details` name the fields.",
    401: "The credential is missing, wrong or expired.",
    403: "The scope or permission is missing, or the request is from a page of another site.",
    404: "Not found in this org.",
    408: "The request arrived too slowly; nothing was stored.",
    409: "The request conflicts with what is stored.",
    422: "The document is unreadable; nothing is billed.",
    429: "A limit or the quota is reached; try again after `retry_after` seconds.",
    431: "The URL and the headers are larger than 64 KB together.",
    500: "Something went wrong on our side; try again.",
    503: "The service is busy; nothing was stored or billed. Wait `retry_after` seconds.",
}


class Ok(BaseModel):
    """Done."""

    ok: Literal[True] = True


class OkWithSession(TokenResponse):
    """Done; the caller's session continues with this pair."""

    ok: Literal[True] = True

    @classmethod
    def of(cls, tokens: TokenResponse) -> "OkWithSession":
        """Return the answer with these tokens."""
        return cls(**tokens.model_dump())


def errors_of(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of the errors that a route answers."""
    return {status: {"model": ErrorAnswer, "description": MEANINGS[status]} for status in statuses}


def model_answer(model: BaseModel) -> Response:
    """Return a validated model as JSON, without the framework's second validation."""
    return Response(model.model_dump_json(), media_type="application/json")


def receipt_answer(receipt: Receipt) -> Response:
    """Return a receipt as JSON, without the extras that were not requested."""
    body = receipt.model_dump_json(exclude_unset=True)
    return Response(body, media_type="application/json")
