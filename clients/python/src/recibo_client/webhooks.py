"""Verifies webhooks: that Recibo sent them, and when."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pydantic
import standardwebhooks

from recibo_client import errors, models

if TYPE_CHECKING:
    from collections.abc import Mapping


def verify(body: bytes | str, headers: Mapping[str, str], secret: str) -> models.WebhookEvent:
    """Return the event of a webhook.

    Args:
        body: The raw body, before any parsing.
        headers: The headers of the request, in upper or lower case.
        secret: The endpoint's: `whsec_...`.

    Raises:
        SignatureError: Recibo did not send it, or more than five minutes ago.
        UnexpectedResponseError: It is signed, but no event.
        ConfigurationError: The secret is none.
    """
    webhook = _webhook(secret)
    try:
        webhook.verify(body, dict(headers), json_parse=False)
    except (standardwebhooks.WebhookVerificationError, ValueError) as error:
        # ValueError: a header or a body of another form.
        raise errors.SignatureError(str(error)) from error
    try:
        return models.WebhookEvent.model_validate_json(body)
    except pydantic.ValidationError as error:
        message = f"The webhook is no event of Recibo: {error}"
        raise errors.UnexpectedResponseError(message) from error


def _webhook(secret: str) -> standardwebhooks.Webhook:
    try:
        # Padding may be missing; more than is needed is ignored.
        key = base64.b64decode(secret.removeprefix("whsec_") + "==")
    except ValueError:
        key = b""
    if not key:
        message = "The secret of a webhook begins with whsec_: copy it from the portal."
        raise errors.ConfigurationError(message)
    return standardwebhooks.Webhook(key)
