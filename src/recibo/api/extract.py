"""POST /v1/extract."""

from contextlib import AsyncExitStack
from typing import Any

from fastapi import Request, Response

from recibo.api import routers, upload_form
from recibo.api.browser_sessions import SESSION_HEADERS
from recibo.api.deps import CanExtract
from recibo.api.responses import errors_of, receipt_answer
from recibo.extract.model import Accuracy, DocumentType
from recibo.lib import webhook_urls
from recibo.schemas.actor import KeyActor
from recibo.schemas.receipts import Receipt
from recibo.schemas.states import KeyKind
from recibo.web.services import Services, TheServices

router = routers.make("/v1", tag="extraction")

_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "format": "binary",
                            "description": "JPG, PNG, HEIC, WEBP, TIFF or PDF, at most 15 MB, "
                            "30 pages and 100 megapixels a page.",
                        },
                        "accuracy": {
                            "type": "string",
                            "enum": list(Accuracy),
                            "default": Accuracy.STANDARD,
                            "description": "`high` reads crumpled, faded or tilted receipts "
                            "better and costs 5 credits instead of 1.",
                        },
                        "type": {
                            "type": "string",
                            "enum": list(DocumentType),
                            "description": "A hint; used only if the document is ambiguous.",
                        },
                        "metadata": {
                            "type": "string",
                            "description": "A JSON object: at most 16 keys of 1 to 64 "
                            "characters; values are strings of at most 256 characters, numbers "
                            "or booleans.",
                            "example": '{"project": "apollo"}',
                        },
                        "webhook_url": {
                            "type": "string",
                            "format": "uri",
                            "description": "Not with a publishable key.",
                        },
                        "reread": {
                            "type": "boolean",
                            "default": False,
                            "description": "Read a known file again at the given accuracy, "
                            "under the same receipt id.",
                        },
                    },
                }
            }
        },
    },
    "parameters": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
            "description": "A repeated key within 24 hours returns the original receipt.",
        },
        SESSION_HEADERS,
    ],
}


@router.post(
    "/extract",
    summary="Extract a receipt",
    response_model=Receipt,
    responses=errors_of(400, 401, 403, 404, 409, 422, 429, 500, 503),
    openapi_extra=_FORM,
)
async def extract_receipt(request: Request, actor: CanExtract, services: TheServices) -> Response:
    """Upload a document and get its receipt.

    If extraction takes longer than the server waits, the receipt is `pending`: get it with
    GET /v1/receipts/{id}?wait=25, or wait for the webhook. The same file sent again within 24
    hours returns the same receipt, with the header `Idempotent-Replayed: true`, and is free.
    """
    extraction = services.extraction
    async with AsyncExitStack() as in_flight:
        async with (
            extraction.arrivals.arriving(actor),
            upload_form.received(request, services.spool, _webhooks(actor, services)) as upload,
        ):
            submitted = await in_flight.enter_async_context(extraction.submitted(actor, upload))
        receipt = await extraction.outcome(
            actor, submitted, wait_seconds=services.extract_wait_seconds
        )
    answer = receipt_answer(receipt)
    if submitted.is_replay:
        answer.headers["Idempotent-Replayed"] = "true"
    return answer


def _webhooks(actor: KeyActor, services: Services) -> webhook_urls.Policy | None:
    """Return the rules for `webhook_url`; None for publishable keys, which may not set one."""
    return None if actor.kind is KeyKind.PUBLISHABLE else services.webhook_policy
