"""Posting webhooks to receivers on this machine, whose names are made up."""

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

from recibo.adapters.webhook_client import CheckedWebhookClient, WebhookClient, WebhookResponse
from recibo.lib.webhook_urls import Address, Policy

DEVELOPMENT = Policy(https_only=False, private_allowed=True)
PRODUCTION = Policy(https_only=True, private_allowed=False)
BODY = b'{"id":"evt_1"}'
HEADERS = {"Content-Type": "application/json", "webhook-id": "evt_1"}
# Long enough for whatever is honest on a loaded machine, short enough for a test of what is not.
SHORT_TIMEOUT_S = 1.0


class FakeResolver:
    """Knows names by heart; each lookup takes the next answer, and the last one stays."""

    def __init__(self, **known: Sequence[Sequence[str]]) -> None:
        self.known = {name: list(answers) for name, answers in known.items()}
        self.asked: list[str] = []

    async def addresses(self, name: str) -> Sequence[Address]:
        """Look a name up; what is not known hangs when it is called so."""
        self.asked.append(name)
        if name == "hangs":
            raise TimeoutError
        answers = self.known.get(name, [[]])
        told = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ipaddress.ip_address(one) for one in told]


def checked_client(policy: Policy = DEVELOPMENT, **given: Any) -> CheckedWebhookClient:
    """Return what posts, with names that are made up."""
    known = given.pop("known", {})
    return CheckedWebhookClient(policy, given.pop("names", FakeResolver(**known)), **given)


async def post(
    sender: WebhookClient, url: str, headers: Mapping[str, str] = HEADERS
) -> WebhookResponse:
    """Post the same as ever."""
    return await sender.post(url, BODY, headers)
