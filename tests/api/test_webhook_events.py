"""GET /v1/webhooks/events: who may see it, filters, pages."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from recibo.schemas.ids import OrgId
from recibo.schemas.states import EventType, Scope
from recibo.store import tables
from tests import events, installation, make, people
from tests.installation import Installation, document

COMPLETED, DELETED = EventType.RECEIPT_COMPLETED, EventType.RECEIPT_DELETED
TEST = EventType.WEBHOOK_TEST


@pytest.fixture
async def service(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """A service that sends nothing, on each kind of database."""
    async with installation.start(database_url, tmp_path, with_worker=False) as started:
        yield started


@pytest.fixture
async def door(sqlite_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """The same for rules that have little to do with rows."""
    async with installation.start(
        sqlite_url, tmp_path, with_worker=False, extract_wait_seconds=0
    ) as started:
        yield started


class Reader:
    """A key of a new org, and its webhook events."""

    def __init__(self, i: Installation, org_id: OrgId, secret: str) -> None:
        self.i = i
        self.org_id = org_id
        self.secret = secret

    async def ask(self, query: str = "") -> httpx.Response:
        """Ask for a list."""
        headers = {"X-API-Key": self.secret}
        return await self.i.stranger.get(f"/v1/webhooks/events?{query}", headers=headers)

    async def page(self, query: str = "") -> dict[str, Any]:
        """Return a list."""
        answer = await self.ask(query)
        assert 200 == answer.status_code, answer.text
        return cast("dict[str, Any]", answer.json())

    async def ids(self, query: str = "") -> list[str]:
        """Return the ids of a list, in its order."""
        return [one["id"] for one in (await self.page(query))["data"]]

    async def sent(self, *types: EventType) -> list[str]:
        """Have events sent, and return their ids."""
        return [await events.deliver_event(self.i.database, self.org_id, one) for one in types]


async def reader(i: Installation) -> Reader:
    """Add an org with a key that reads."""
    org_id = await make.org(i.database)
    return Reader(i, org_id, await make.key(i.database, org_id, scopes=[Scope.READ]))


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return status and code of an error."""
    return answer.status_code, answer.json()["error"]["code"]


async def test_events_are_listed_as_they_were_sent(service: Installation) -> None:
    one = await reader(service)
    receipt = {"id": "rcp_1", "total": "34.15", "confidence": 0.1234567890123, "tags": [None, {}]}
    data = {"receipt": {**receipt, "merchant_name": "Café <b>'\u2028"}}
    await events.deliver_event(service.database, one.org_id, COMPLETED, data)

    result = await one.page()
    (body,) = [row.body for row in await service.rows(tables.WebhookEvent)]

    assert {"data", "has_more", "next_cursor"} == set(result)
    assert (False, None) == (result["has_more"], result["next_cursor"])
    (event,) = result["data"]
    assert ["id", "type", "org_id", "created_at", "data"] == list(event)
    assert ("receipt.completed", one.org_id, data) == (
        event["type"],
        event["org_id"],
        event["data"],
    )
    assert httpx.Response(200, text=body).json() == event


async def test_deleted_receipt_remains_in_its_earlier_events(
    database_url: str, tmp_path: Path
) -> None:
    async with installation.start(database_url, tmp_path) as i:
        receipt = await i.extracted(make.jpeg("a"), webhook_url="http://127.0.0.1:9/hook")
        (event,) = await i.rows(tables.WebhookEvent)
        await events.attempt(i.database, event.id)
        await i.delete(f"/receipts/{receipt['id']}")

        body = (await i.get("/webhooks/events")).json()["data"]

    assert [receipt] == [one["data"]["receipt"] for one in body]


async def test_only_attempted_events_are_listed(service: Installation) -> None:
    one = await reader(service)
    refused = await events.emit_event(service.database, one.org_id)
    await events.attempt(service.database, refused, status=500)
    await events.emit_event(service.database, one.org_id)

    assert [refused] == await one.ids()


async def test_list_is_newest_first_and_of_the_type_that_is_asked_for(
    service: Installation,
) -> None:
    one = await reader(service)
    first, second, third = await one.sent(COMPLETED, TEST, COMPLETED)

    expected = {
        "": [third, second, first],
        "type=receipt.completed": [third, first],
        "type=webhook.test": [second],
        "type=receipt.failed": [],
        "colour=red": [third, second, first],
    }
    assert expected == {query: await one.ids(query) for query in expected}


async def test_pages_hold_every_event_once(service: Installation) -> None:
    one = await reader(service)
    sent = await one.sent(*[TEST] * 5)

    for limit in (1, 2, 3, 5, 200):
        pages = [await one.page(f"limit={limit}")]
        while pages[-1]["has_more"]:
            pages.append(await one.page(f"limit={limit}&cursor={pages[-1]['next_cursor']}"))

        assert sent[::-1] == [event["id"] for page in pages for event in page["data"]], limit
        assert -(-5 // limit) == len(pages), limit
        assert pages[-1]["next_cursor"] is None, limit


async def test_page_is_50_by_default_and_200_at_most(door: Installation) -> None:
    one = await reader(door)
    await one.sent(*[TEST] * 201)

    default, most = await one.page(), await one.page("limit=200")

    assert (50, 200) == (len(default["data"]), len(most["data"]))
    assert (True, True) == (default["has_more"], most["has_more"])


async def test_pages_do_not_shift_when_events_come(service: Installation) -> None:
    one = await reader(service)
    first, _ = await one.sent(TEST, TEST)
    page = await one.page("limit=1")
    await one.sent(TEST)

    assert [first] == await one.ids(f"limit=1&cursor={page['next_cursor']}")


async def test_cursor_is_bound_to_its_type_its_org_and_its_bytes(service: Installation) -> None:
    one, other = await reader(service), await reader(service)
    await one.sent(TEST, TEST)
    await other.sent(TEST, TEST)
    cursor = (await one.page("limit=1&type=webhook.test"))["next_cursor"]
    changed = ("b" if cursor[0] == "a" else "a") + cursor[1:]

    statuses = [
        (await asking.ask(query)).status_code
        for asking, query in [
            (one, f"limit=1&type=webhook.test&cursor={cursor}"),
            (one, f"limit=2&type=webhook.test&cursor={cursor}"),
            (one, f"limit=1&cursor={cursor}"),
            (one, f"limit=1&type=receipt.failed&cursor={cursor}"),
            (one, f"limit=1&type=webhook.test&cursor={changed}"),
            (other, f"limit=1&type=webhook.test&cursor={cursor}"),
        ]
    ]

    assert [200, 200, 400, 400, 400, 400] == statuses


REFUSED = [
    *("limit=0", "limit=201", "limit=-1", "limit=ten", "limit=", "limit=1e2", "limit=%205"),
    *("type=", "type=receipt", "type=receipt.exploded", "type=%00", "type=RECEIPT.COMPLETED"),
    *("cursor=", "cursor=broken", "cursor=%00", "cursor=" + "a" * 5000),
    *("limit=1&limit=1", "type=webhook.test&type=webhook.test", "cursor=a&cursor=b"),
]


async def test_invalid_parameters_are_400(door: Installation) -> None:
    one = await reader(door)
    answers = {query: await one.ask(query) for query in REFUSED}

    assert dict.fromkeys(REFUSED, (400, "validation_error")) == {
        query: refusal(answer) for query, answer in answers.items()
    }
    for name in ("limit", "type", "cursor"):
        (detail,) = answers[f"{name}="].json()["error"]["details"]
        assert name == detail["field"]


async def test_events_of_other_orgs_are_not_listed(service: Installation) -> None:
    one, other = await reader(service), await reader(service)
    await other.sent(TEST)

    assert [] == await one.ids()


@pytest.mark.parametrize(
    ("scopes", "status"),
    [
        ([Scope.READ], 200),
        ([Scope.WRITE, Scope.READ], 200),
        ([Scope.WRITE], 403),
        ([Scope.EXTRACT_WRITE], 403),
        ([Scope.WRITE, Scope.EXTRACT_WRITE], 403),
    ],
)
async def test_scope_read_is_needed(door: Installation, scopes: list[Scope], status: int) -> None:
    secret = await make.key(door.database, await make.org(door.database), scopes=scopes)

    answer = await door.get("/webhooks/events", secret=secret)

    assert status == answer.status_code
    if status == 403:
        error = answer.json()["error"]
        assert "insufficient_scope" == error["code"]
        assert [("scope", "`read` is missing")] == [
            (one["field"], one["message"]) for one in error["details"]
        ]


async def test_publishable_key_is_refused_with_and_without_a_session(door: Installation) -> None:
    secret = await make.publishable_key(door.database, await make.org(door.database))
    uploaded = await door.extract(make.jpeg("a"), secret=secret)
    token = {"X-Session-Token": uploaded.headers["X-Session-Token"]}

    answers = [
        await door.stranger.get("/v1/webhooks/events", headers={"X-API-Key": secret, **more})
        for more in ({}, token)
    ]

    assert [(403, "insufficient_scope")] * 2 == [refusal(answer) for answer in answers]


async def test_session_is_no_credential_here(door: Installation) -> None:
    ana = await people.signed_up(door)
    cookie = {"Cookie": f"service_access={ana.tokens['access_token']}"}

    answers = [
        await door.stranger.get("/v1/webhooks/events", headers=headers)
        for headers in ({}, ana.headers, cookie, {"X-API-Key": "sk_live_x"})
    ]

    assert [(401, "unauthorized")] * 4 == [refusal(answer) for answer in answers]


async def test_credential_and_scope_are_judged_before_the_query(door: Installation) -> None:
    org_id = await make.org(door.database)
    secret = await make.key(door.database, org_id, scopes=[Scope.WRITE])

    answers = [
        await door.stranger.get("/v1/webhooks/events?limit=0"),
        await door.get("/webhooks/events", secret=secret, limit="0"),
    ]

    assert [401, 403] == [answer.status_code for answer in answers]


async def test_responses_have_rate_limit_headers(door: Installation) -> None:
    answer = await (await reader(door)).ask()

    assert ("5000", "4999") == (
        answer.headers["X-RateLimit-Limit"],
        answer.headers["X-RateLimit-Remaining"],
    )
    assert "X-RateLimit-Reset" in answer.headers


async def test_answer_is_what_the_documents_say(door: Installation) -> None:
    one = await reader(door)
    await one.sent(TEST)

    body = await one.page()

    schemas = document()["components"]["schemas"]
    assert set(schemas["EventList"]["properties"]) == set(body)
    assert set(schemas["WebhookEvent"]["properties"]) == set(body["data"][0])
    assert [one.value for one in EventType] == schemas["EventType"]["enum"]
