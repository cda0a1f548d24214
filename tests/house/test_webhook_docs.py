"""The event types and the code in docs/webhooks.md are right."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from recibo.lib import clock
from recibo.schemas.states import EventType
from tests.house import source

WEBHOOKS = (source.ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", WEBHOOKS, re.DOTALL)
SECRET = "whsec_" + "c2VjcmV0" * 4
OTHER = "whsec_" + "b3RoZXIh" * 4
BODY = '{"id": "evt_1", "data": {"name": "Café"}}'


def headers(*secrets: str, age_s: float = 0) -> dict[str, str]:
    """Return the headers of a request with BODY, signed by each secret."""
    now = clock.now()
    at = now.fromtimestamp(int(now.timestamp() - age_s), tz=now.tzinfo)
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(Webhook(one).sign("evt_1", at, BODY) for one in secrets),
    }


def defined(program: str, **names: Any) -> dict[str, Any]:
    """Run a program of the document and return its names."""
    space: dict[str, Any] = dict(names)
    exec(compile(program, "webhooks.md", "exec"), space)  # noqa: S102 - our own document
    return space


def test_docs_list_exactly_the_event_types() -> None:
    table = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", WEBHOOKS, re.MULTILINE)

    assert [one.value for one in EventType] == table


def test_docs_contain_every_way_to_verify() -> None:
    by_library, by_hand, receiver = PROGRAMS

    assert "webhook.verify(body, headers)" in by_library
    assert "is_genuine" in by_hand
    assert "serve_forever" in receiver


@pytest.mark.parametrize("secrets", [(SECRET,), (OTHER, SECRET), (SECRET, OTHER)])
def test_code_accepts_a_signature_with_the_secret(secrets: tuple[str, ...]) -> None:
    by_library, by_hand, _ = PROGRAMS
    by_library = by_library.replace("whsec_...", SECRET)

    found = defined(by_library, body=BODY.encode(), headers=headers(*secrets))
    is_genuine = defined(by_hand)["is_genuine"]

    assert json.loads(BODY) == found["event"]
    assert is_genuine(SECRET, headers(*secrets), BODY.encode())


@pytest.mark.parametrize(
    ("made", "body"),
    [
        # Made when the test runs, because signatures expire before the end of the suite.
        (lambda: headers(OTHER), BODY),
        (lambda: headers(SECRET), BODY + " "),
        (lambda: headers(SECRET) | {"webhook-id": "evt_2"}, BODY),
        (lambda: headers(SECRET, age_s=600), BODY),
        (lambda: headers(SECRET, age_s=-600), BODY),
    ],
    ids=["another secret", "another body", "another id", "old", "from the future"],
)
def test_code_refuses_a_wrong_signature(made: Callable[[], dict[str, str]], body: str) -> None:
    given = made()
    by_library, by_hand, _ = PROGRAMS
    by_library = by_library.replace("whsec_...", SECRET)

    assert not defined(by_hand)["is_genuine"](SECRET, given, body.encode())
    with pytest.raises(WebhookVerificationError):
        defined(by_library, body=body.encode(), headers=given)
