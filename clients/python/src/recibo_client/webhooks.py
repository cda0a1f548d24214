"""Verifies webhooks: that Recibo sent them, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        ConfigurationError: The secret is none.
    """
    webhook = _webhook(secret)
    try:
        webhook.verify(body, dict(headers))
    except (standardwebhooks.WebhookVerificationError, ValueError) as error:
        # ValueError: a header or a body of another form.
        raise errors.SignatureError(str(error)) from error
    return models.WebhookEvent.model_validate_json(body)


def _webhook(secret: str) -> standardwebhooks.Webhook:
    message = "The secret of a webhook begins with whsec_: copy it from the portal."
    if not secret.removeprefix("whsec_"):
        raise errors.ConfigurationError(message)
    try:
        return standardwebhooks.Webhook(secret)
    except ValueError as error:
        raise errors.ConfigurationError(message) from error
