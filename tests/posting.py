"""Sends webhooks to receivers on this machine with made-up host names."""

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

from recibo.adapters.webhook_client import CheckedWebhookClient, WebhookClient, WebhookResponse
from recibo.lib.webhook_urls import Address, Policy

DEVELOPMENT = Policy(https_only=False, private_allowed=True)
PRODUCTION = Policy(https_only=True, private_allowed=False)
BODY = b'{"id":"evt_1"}'
HEADERS = {"Content-Type": "application/json", "webhook-id": "evt_1"}
# Long enough for a normal answer on a loaded machine, short enough for a test that times out.
SHORT_TIMEOUT_S = 1.0


class FakeResolver:
    """Returns fixed answers: each lookup takes the next one, and the last one stays."""

    def __init__(self, **known: Sequence[Sequence[str]]) -> None:
        self.known = {name: list(answers) for name, answers in known.items()}
        self.asked: list[str] = []

    async def addresses(self, name: str) -> Sequence[Address]:
        """Return the next answer for a name; the name `hangs` times out."""
        self.asked.append(name)
        if name == "hangs":
            raise TimeoutError
        answers = self.known.get(name, [[]])
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ipaddress.ip_address(one) for one in found]


def checked_client(policy: Policy = DEVELOPMENT, **given: Any) -> CheckedWebhookClient:
    """Return a client with made-up names."""
    known = given.pop("known", {})
    return CheckedWebhookClient(policy, given.pop("resolver", FakeResolver(**known)), **given)


async def post(
    sender: WebhookClient, url: str, headers: Mapping[str, str] = HEADERS
) -> WebhookResponse:
    """Post the standard body."""
    return await sender.post(url, BODY, headers)
