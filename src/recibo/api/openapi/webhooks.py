"""The events that Recibo sends to your server, as the `webhooks` of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

from recibo.api.openapi import examples
from recibo.schemas.states import EventType

_RECEIPT: Mapping[str, Any] = {
    "type": "object",
    "required": ["receipt"],
    "properties": {"receipt": {"$ref": "#/components/schemas/Receipt"}},
}
_CORRECTED = {
    "type": "object",
    "required": ["receipt", "changes"],
    "properties": {
        **_RECEIPT["properties"],
        "changes": {
            "type": "object",
            "description": "Each changed field with its value before and after.",
            "additionalProperties": {
                "type": "object",
                "required": ["before", "after"],
                "properties": {"before": {}, "after": {}},
            },
        },
    },
}
_USAGE = {
    "type": "object",
    "required": ["threshold", "used", "quota"],
    "properties": {
        "threshold": {"type": "integer", "enum": [80, 100], "description": "Percent."},
        "used": {"type": "integer", "description": "Receipts completed this calendar month, UTC."},
        "quota": {"type": "integer", "description": "Receipts a calendar month."},
    },
}
_EMPTY = {"type": "object", "maxProperties": 0}

_EVENTS: Mapping[EventType, tuple[str, str, Mapping[str, Any]]] = {
    EventType.RECEIPT_COMPLETED: (
        "A receipt is completed",
        "Recibo read the document. Sent again after a reread that improved the receipt.",
        _RECEIPT,
    ),
    EventType.RECEIPT_FAILED: (
        "A receipt failed",
        "The document could not be read; `failure` says why. Nothing is billed.",
        _RECEIPT,
    ),
    EventType.RECEIPT_CORRECTED: (
        "A receipt is corrected",
        "A person or an API key changed fields or metadata, or withdrew the approval.",
        _CORRECTED,
    ),
    EventType.RECEIPT_APPROVED: (
        "A receipt is approved",
        "A person or an API key approved it; `review` says who.",
        _RECEIPT,
    ),
    EventType.RECEIPT_DELETED: (
        "A receipt is deleted",
        "`receipt` is the receipt as it was before.",
        _RECEIPT,
    ),
    EventType.USAGE_THRESHOLD_REACHED: (
        "80 or 100 percent of the quota are used",
        "Sent once a month for each threshold.",
        _USAGE,
    ),
    EventType.WEBHOOK_TEST: (
        "A test event",
        'Sent by the button "Send a test event" in the portal.',
        _EMPTY,
    ),
}

_HEADERS = {
    "webhook-id": ("The event's id, the same at every attempt.", examples.EVENT_ID),
    "webhook-timestamp": ("The Unix second of this attempt.", "1781006400"),
    "webhook-signature": (
        "One or more Standard Webhooks signatures, separated by spaces: `v1,` and Base64.",
        "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    ),
}
_PARAMETERS = [
    {
        "name": name,
        "in": "header",
        "required": True,
        "schema": {"type": "string"},
        "description": description,
        "example": example,
    }
    for name, (description, example) in _HEADERS.items()
]
_RESPONSES = {
    "2XX": {"description": "You have the event. Answer within 15 seconds; the body is ignored."},
    "410": {"description": "Recibo does not try this event again."},
    "default": {
        "description": "Anything else is a failure. Recibo makes ten attempts over three days; "
        "`Retry-After` with 429 or 503 is honored."
    },
}


def _webhook(event: EventType) -> Mapping[str, Any]:
    summary, description, data = _EVENTS[event]
    schema = {
        "allOf": [
            {"$ref": "#/components/schemas/WebhookEvent"},
            {"type": "object", "properties": {"type": {"const": event.value}, "data": data}},
        ]
    }
    content = {"schema": schema, "examples": examples.EVENTS[event]}
    return {
        "post": {
            "operationId": f"receive_{event.replace('.', '_')}",
            "summary": summary,
            "description": description,
            "tags": ["webhooks"],
            "parameters": _PARAMETERS,
            "requestBody": {"required": True, "content": {"application/json": content}},
            "responses": _RESPONSES,
        }
    }


WEBHOOKS: Mapping[str, Any] = {event.value: _webhook(event) for event in EventType}
