"""How answers look, and how they are documented."""

from typing import Any, Literal

from fastapi import Response
from pydantic import BaseModel

from recibo.api.errors import ErrorAnswer
from recibo.schemas.receipts import Receipt
from recibo.schemas.sessions import TokenResponse

#: What each status of an error means.
MEANINGS = {
    400: "The request is not valid; `details` name the fields.",
    401: "The credential is missing, not right, or over.",
    403: "The scope or permission is missing, or a page of another site asks.",
    404: "There is no such thing in this org.",
    408: "The request arrived too slowly; nothing was kept.",
    409: "It conflicts with what is there already.",
    422: "The document is unreadable; nothing is billed.",
    429: "A limit or the quota is reached; `retry_after` tells when to try again.",
    431: "The address and the headers are larger than 64 KB together.",
    500: "Something went wrong on our side; try again.",
    503: "The service is busy; nothing was kept or billed. Try again after `retry_after`.",
}


class Ok(BaseModel):
    """It was done."""

    ok: Literal[True] = True


class OkWithSession(TokenResponse):
    """It was done; the caller's session goes on with this pair."""

    ok: Literal[True] = True

    @classmethod
    def of(cls, tokens: TokenResponse) -> "OkWithSession":
        """Return the answer with these tokens."""
        return cls(**tokens.model_dump())


def errors_of(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of the errors that a route answers."""
    return {status: {"model": ErrorAnswer, "description": MEANINGS[status]} for status in statuses}


def model_answer(model: BaseModel) -> Response:
    """Return what is checked already; the framework would make and check it once more."""
    return Response(model.model_dump_json(), media_type="application/json")


def receipt_answer(receipt: Receipt) -> Response:
    """Return a receipt as JSON; extras that nobody asked for are left out."""
    body = receipt.model_dump_json(exclude_unset=True)
    return Response(body, media_type="application/json")
