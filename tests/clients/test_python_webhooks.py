"""The Python client verifies webhooks of a running server, and no others."""

import base64
import copy
import datetime as dt
import json
from decimal import Decimal

import pytest
from standardwebhooks import Webhook

from recibo.lib import clock
from recibo_client import errors, webhooks

SECRET = "whsec_" + base64.b64encode(b"a secret of the tests").decode()
EVENT = {
    "id": "evt_1",
    "type": "usage.threshold_reached",
    "org_id": "org_1",
    "created_at": "2026-06-09T12:00:00.120931Z",
    "data": {"threshold": 80, "used": 8, "quota": 10},
}


def signed(body: str, *, age: dt.timedelta = dt.timedelta(0)) -> dict[str, str]:
    """Return the headers of a webhook."""
    moment = clock.now() - age
    return {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": str(int(moment.timestamp())),
        "Webhook-Signature": Webhook(SECRET).sign("evt_1", moment, body),
    }


@pytest.mark.parametrize("encode", [str, str.encode], ids=["text", "bytes"])
def test_signed_event_is_returned(encode: type[str]) -> None:
    body = json.dumps(EVENT)

    event = webhooks.verify(encode(body), signed(body), SECRET)

    assert ("usage.threshold_reached", 80) == (event.type, event.data.threshold)
    assert event.data.receipt is None


def test_receipt_of_an_event_is_typed() -> None:
    receipt = {
        "id": "rcp_1",
        "org_id": "org_1",
        "status": "completed",
        "total": "34.10",
        "metadata": {},
        "created_by": "key_1",
        "accuracy": "standard",
        "version": 2,
        "created_at": "2026-06-09T12:00:00Z",
        "updated_at": "2026-06-09T12:00:00Z",
    }
    changes = {"total": {"before": "34.15", "after": "34.10"}}
    data = {"receipt": receipt, "changes": changes}
    body = json.dumps({**EVENT, "type": "receipt.corrected", "data": data})

    event = webhooks.verify(body, signed(body), SECRET)

    assert event.data.receipt is not None
    assert Decimal("34.10") == event.data.receipt.total
    assert event.data.changes is not None
    assert "34.15" == event.data.changes["total"].before


def test_type_of_a_later_release_is_returned() -> None:
    body = json.dumps({**EVENT, "type": "receipt.framed", "data": {"frame": "oak"}})

    assert "receipt.framed" == webhooks.verify(body, signed(body), SECRET).type


BODY = json.dumps(EVENT)


@pytest.mark.parametrize(
    ("body", "change"),
    [
        (BODY.replace("80", "81"), {}),
        (BODY, {"Webhook-Signature": "nonsense"}),
        (BODY, {"Webhook-Signature": "v1,=/="}),
        (BODY, {"Webhook-Timestamp": "nan"}),
        (b"\xff\xfe", {}),
    ],
    ids=["changed", "no form", "no Base64", "no time", "no text"],
)
def test_other_webhooks_are_refused(body: str | bytes, change: dict[str, str]) -> None:
    with pytest.raises(errors.SignatureError):
        webhooks.verify(body, signed(BODY) | change, SECRET)


@pytest.mark.parametrize("minutes", [6, -6], ids=["old", "of the future"])
def test_webhooks_of_another_time_are_refused(minutes: int) -> None:
    headers = signed(BODY, age=dt.timedelta(minutes=minutes))

    with pytest.raises(errors.SignatureError):
        webhooks.verify(BODY, headers, SECRET)


def test_webhook_without_headers_is_refused() -> None:
    with pytest.raises(errors.SignatureError):
        webhooks.verify(BODY, {}, SECRET)


def test_one_of_several_signatures_is_enough() -> None:
    headers = signed(BODY)
    others = f"v1a,AAAA v1,AAAA {headers['Webhook-Signature']}"

    event = webhooks.verify(BODY, {**headers, "Webhook-Signature": others}, SECRET)

    assert "evt_1" == event.id


@pytest.mark.parametrize("body", ["{}", "hello"])
def test_signed_body_that_is_no_event_has_an_error(body: str) -> None:
    with pytest.raises(errors.UnexpectedResponseError, match="no event"):
        webhooks.verify(body, signed(body), SECRET)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_a", "whsec_@@@", "whsec_é"])
def test_broken_secret_is_named(secret: str) -> None:
    with pytest.raises(errors.ConfigurationError, match="whsec_"):
        webhooks.verify(BODY, signed(BODY), secret)


def test_errors_travel_between_processes() -> None:
    error = errors.LowConfidenceError("Blurred.", status=422, receipt_id="rcp_1")

    copied = copy.copy(error)

    assert (type(error), str(error), error.__dict__) == (type(copied), str(copied), copied.__dict__)
