"""Webhook events on pages: how they stand, every attempt, tests and repeats."""

import datetime as dt
import re
from typing import Any

import pytest

from recibo.schemas.states import AuditAction, DeliveryState, EventType
from recibo.services.identity.throttles import Limit
from tests import events
from tests.databases import ON_SQLITE
from tests.installation import Installation
from tests.portal import pages, webhook_pages

pytestmark = ON_SQLITE

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror='x'>\u202e\"&amp;"
UNKNOWN = "evt_" + "0" * 32


async def test_test_event_is_pending_and_listed(service: Installation) -> None:
    await webhook_pages.sign_up_owner(service)
    await webhook_pages.submit(service, url=webhook_pages.URL)
    page = await webhook_pages.submit(service, "/test")

    (event,) = await events.event_bodies(service.database)
    (delivery,) = await events.deliveries(service.database)
    assert ("webhook.test", {}) == (event["type"], event["data"])
    assert DeliveryState.PENDING == delivery.state
    assert "A test event is on its way." == page.by_role["status"]
    assert re.search(r"webhook\.test Waiting \w{3} \d+, \d{4}, [:\d]{8} UTC", page.text)
    assert "Next attempt in a moment." in page.text


async def test_every_attempt_is_shown_with_its_escaped_response(service: Installation) -> None:
    org_id = await webhook_pages.sign_up_owner(service)
    event_id = await events.emit_event(service.database, org_id, EventType.RECEIPT_FAILED)
    late: dict[str, Any] = {"status": None, "error": "timed out after 15 s", "duration_ms": 15_012}
    await events.attempt(service.database, event_id, **late)
    await events.attempt(service.database, event_id, status=500, duration_ms=321, answer=HOSTILE)
    listed, alone = (
        await webhook_pages.get(service),
        await webhook_pages.get(service, f"/events/{event_id}"),
    )

    for answer in (listed, alone):
        page = pages.parse(answer)
        assert "receipt.failed" in page.text
        assert "Retrying" in page.text
        assert "No answer after 15.0 s" in page.text
        assert "Timed out after 15 s." in page.text
        assert re.search(r"500 after 321 ms \w{3} \d+, \d{4}, [:\d]{8} UTC ", page.text)
        assert f"UTC {events.OWN_URL} {HOSTILE}" in page.text
        assert page.text.index("321 ms") < page.text.index("Timed out")
        assert "<script>" not in answer.text
        assert "<img src=x" not in answer.text


async def test_event_content_is_shown_as_sent(service: Installation) -> None:
    org_id = await webhook_pages.sign_up_owner(service)
    data = {"receipt": {"id": "rcp_1", "merchant_name": HOSTILE, "total": "34.15"}}
    event_id = await events.deliver_event(
        service.database, org_id, EventType.RECEIPT_COMPLETED, data
    )
    answer = await webhook_pages.get(service, f"/events/{event_id}")

    page = pages.parse(answer)
    assert "receipt.completed · Recibo" == page.title
    assert f'"id": "{event_id}"' in page.text
    assert '"total": "34.15"' in page.text
    assert f"Sent to {events.OWN_URL}" in page.text
    assert "<script>" not in answer.text


async def test_event_is_sent_again(service: Installation) -> None:
    org_id = await webhook_pages.sign_up_owner(service)
    event_id = await events.deliver_event(service.database, org_id)
    page = await webhook_pages.submit(service, f"/events/{event_id}/resend")

    (delivery,) = await events.deliveries(service.database)
    assert (DeliveryState.PENDING, 0) == (delivery.state, delivery.tries)
    assert "The event is on its way again." == page.by_role["status"]
    assert "Waiting" in page.text
    assert (await audited(service))[0] == AuditAction.WEBHOOK_EVENT_RESENT


async def audited(i: Installation) -> list[str]:
    """Return the actions of the audit log, newest first."""
    answer = await i.stranger.get("/v1/audit")
    return [one["action"] for one in answer.json()["items"]]


async def test_events_come_in_pages(service: Installation) -> None:
    org_id = await webhook_pages.sign_up_owner(service)
    sent = [await events.deliver_event(service.database, org_id) for _ in range(41)]
    answers = [await webhook_pages.get(service)]
    while older := re.search(r'href="/portal/webhooks(\?cursor=[^"]+)">Older', answers[-1].text):
        answers.append(await webhook_pages.get(service, older[1]))

    found = [re.findall(r"/events/(evt_\w+)\"", page.text) for page in answers]
    assert [20, 20, 1] == [len(one) for one in found]
    assert sent[::-1] == [event_id for one in found for event_id in one]
    assert [False, True, True] == ["Newest" in page.text for page in answers]


async def test_page_of_failing_events_is_not_heavy(sqlite_service: Installation) -> None:
    org_id = await webhook_pages.sign_up_owner(sqlite_service)
    for _ in range(20):
        event_id = await events.emit_event(sqlite_service.database, org_id)
        for _ in range(4):
            await events.attempt(sqlite_service.database, event_id, status=500)
    page = await webhook_pages.get(sqlite_service)

    # What else a page loads weighs 73 kB, of the 150 kB that it may.
    assert len(page.content) < 70_000


async def test_attempts_at_an_event_come_in_pages(service: Installation) -> None:
    org_id = await webhook_pages.sign_up_owner(service)
    event_id = await events.emit_event(service.database, org_id)
    for number in range(51):
        await events.attempt(service.database, event_id, status=500, duration_ms=100 + number)
    listed = pages.parse(await webhook_pages.get(service)).text
    first = await webhook_pages.get(service, f"/events/{event_id}")
    older = re.search(r'href="/portal/webhooks(/events/\w+\?cursor=[^"]+)">Older', first.text)
    assert older is not None
    second = pages.parse(await webhook_pages.get(service, older[1])).text

    assert 2 == len(re.findall(r"1\d\d ms", listed))
    assert "Older attempts are not shown here." in listed
    assert 50 == len(re.findall(r"1\d\d ms", pages.parse(first).text))
    assert ["100 ms"] == re.findall(r"1\d\d ms", second)


async def test_too_many_clicks_say_when_to_retry(
    sqlite_service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = Limit("webhooks-asked-for", 1, dt.timedelta(minutes=1))
    monkeypatch.setattr("recibo.services.webhooks.manual_sends._LIMIT", limit)
    await webhook_pages.sign_up_owner(sqlite_service)
    await webhook_pages.submit(sqlite_service, url=webhook_pages.URL)
    answers = [await webhook_pages.post(sqlite_service, "/test") for _ in range(2)]

    assert [303, 429] == [answer.status_code for answer in answers]
    assert "Too many attempts. Try again in a minute." == pages.parse(answers[1]).alert
    assert 0 < int(answers[1].headers["retry-after"]) <= 60
    assert 1 == len(await events.event_bodies(sqlite_service.database))


@pytest.mark.parametrize("query", ["?cursor=broken", "?cursor=", "?cursor=%00"])
async def test_broken_cursor_is_refused(sqlite_service: Installation, query: str) -> None:
    org_id = await webhook_pages.sign_up_owner(sqlite_service)
    event_id = await events.deliver_event(sqlite_service.database, org_id)
    answers = [
        await sqlite_service.stranger.get(f"{webhook_pages.PATH}{query}"),
        await sqlite_service.stranger.get(f"{webhook_pages.PATH}/events/{event_id}{query}"),
    ]

    assert [400, 400] == [answer.status_code for answer in answers]


@pytest.mark.parametrize("event_id", [UNKNOWN, "evt_1", "%00", "..%2f", "x" * 3000])
async def test_unknown_event_is_404(sqlite_service: Installation, event_id: str) -> None:
    await webhook_pages.sign_up_owner(sqlite_service)
    await webhook_pages.submit(sqlite_service, url=webhook_pages.URL)
    shown_ = await sqlite_service.stranger.get(f"{webhook_pages.PATH}/events/{event_id}")
    sent = await sqlite_service.stranger.post(f"{webhook_pages.PATH}/events/{event_id}/resend")

    assert [404, 404] == [shown_.status_code, sent.status_code]
