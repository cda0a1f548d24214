"""GET /v1/audit: who may see it, filters, pages."""

import datetime as dt
from typing import Any

import httpx
import pytest

from recibo.lib import clock, ids
from recibo.schemas.actor import ClientInfo, Member
from recibo.schemas.ids import OrgId, UserId
from recibo.schemas.plans import PLANS, PlanName
from recibo.schemas.states import AuditAction, ResourceType, Role
from recibo.services import audit
from tests import make
from tests.installation import Installation

HOUR = dt.timedelta(hours=1)
FIELDS = {
    *("id", "action", "resource_type", "resource_id", "actor_user_id", "actor_api_key_id"),
    *("ip_address", "user_agent", "before", "after", "request_id", "created_at"),
}


@pytest.fixture
def service(idle_service: Installation) -> Installation:
    """A service without a worker: no test here uploads."""
    return idle_service


class Reader:
    """A member of a new org who reads the log."""

    def __init__(self, service: Installation, org_id: OrgId, token: str, user_id: str) -> None:
        self._service = service
        self.token = token
        self.org_id = org_id
        self.user_id = UserId(user_id)

    async def ask(self, query: str = "") -> httpx.Response:
        """Ask for a list."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return await self._service.stranger.get(f"/v1/audit?{query}", headers=headers)

    async def page(self, query: str = "") -> dict[str, Any]:
        """Return a list."""
        answer = await self.ask(query)
        assert 200 == answer.status_code, answer.text
        return dict(answer.json())

    async def actions(self, query: str = "") -> list[str]:
        """Return the actions that a list holds, in its order."""
        return [item["action"] for item in (await self.page(query))["items"]]

    async def act(self, *actions: AuditAction, type_: ResourceType = ResourceType.ORG) -> None:
        """Write entries of this member."""
        visit = ClientInfo(request_id="req_1", ip_address="203.0.113.7", user_agent="curl/8")
        who = Member(self.org_id, PLANS[PlanName.FREE], visit, self.user_id, Role.OWNER)
        async with self._service.database.write() as session:
            for action in actions:
                audit.record(session, who, action, resource=(type_, "thing_1"))


async def reader(service: Installation, *, role: Role = Role.OWNER) -> Reader:
    """Add an org with a member who reads the log."""
    org_id = await make.org(service.database)
    tokens = await make.session(service.services.identity, org_id, role=role)
    return Reader(service, org_id, tokens.access_token, tokens.user_id)


async def test_entry_has_the_fields_of_the_specification(service: Installation) -> None:
    one = await reader(service)
    await one.act(AuditAction.ORG_UPDATED)

    body = await one.page()

    assert {"items", "next_cursor"} == set(body)
    (item,) = body["items"]
    assert set(item) == FIELDS
    assert {
        "action": "org.updated",
        "resource_type": "org",
        "resource_id": "thing_1",
        "actor_user_id": one.user_id,
        "actor_api_key_id": None,
        "ip_address": "203.0.113.7",
        "user_agent": "curl/8",
        "before": None,
        "after": None,
        "request_id": "req_1",
    }.items() <= item.items()
    assert dt.timedelta(0) == dt.datetime.fromisoformat(item["created_at"]).utcoffset()


@pytest.mark.parametrize("role", Role)
async def test_owners_and_admins_read_it(service: Installation, role: Role) -> None:
    answer = await (await reader(service, role=role)).ask()

    if role in {Role.OWNER, Role.ADMIN}:
        assert 200 == answer.status_code
    else:
        error = answer.json()["error"]
        assert (403, "insufficient_scope") == (answer.status_code, error["code"])
        assert "audit:read" in error["details"][0]["message"]


async def test_user_without_an_org_is_403(service: Installation) -> None:
    tokens = await make.session(service.services.identity, None)
    headers = {"Authorization": f"Bearer {tokens.access_token}"}

    answer = await service.stranger.get("/v1/audit", headers=headers)

    assert (403, "insufficient_scope") == (answer.status_code, answer.json()["error"]["code"])


async def test_api_key_is_not_accepted(service: Installation) -> None:
    answers = [
        await service.client.get("/v1/audit"),
        await service.stranger.get("/v1/audit"),
        await service.stranger.get("/v1/audit?limit=0"),
    ]

    assert [(401, "unauthorized")] * 3 == [
        (answer.status_code, answer.json()["error"]["code"]) for answer in answers
    ]


async def test_permission_is_checked_before_the_query(service: Installation) -> None:
    answer = await (await reader(service, role=Role.VIEWER)).ask("limit=0")

    assert 403 == answer.status_code


async def test_list_is_newest_first_and_all_filters_must_fit(service: Installation) -> None:
    one = await reader(service)
    await one.act(AuditAction.USER_SIGNED_IN, type_=ResourceType.USER)
    await one.act(AuditAction.ORG_UPDATED)
    await one.act(AuditAction.USER_UPDATED, type_=ResourceType.USER)
    signed_in, updated, renamed = "user.signed_in", "org.updated", "user.updated"

    expected = {
        "": [renamed, updated, signed_in],
        "action=org.updated": [updated],
        "action=org": [],
        "action=org.exploded": [],
        "action=": [],
        "resource_type=user": [renamed, signed_in],
        "resource_type=spaceship": [],
        f"actor={one.user_id}": [renamed, updated, signed_in],
        f"actor={one.user_id}&action=org.updated&resource_type=org": [updated],
        "action=org.updated&resource_type=user": [],
        "actor=key_1": [],
        "actor=nobody": [],
        "since=2020-01-01": [renamed, updated, signed_in],
        "until=2020-01-01": [],
        "since=0001-01-01&until=9999-12-31": [renamed, updated, signed_in],
        "since=2020-01-01T00:00:00+02:00": [renamed, updated, signed_in],
        "colour=red": [renamed, updated, signed_in],
    }
    assert expected == {query: await one.actions(query) for query in expected}


async def test_time_filters_are_inclusive(
    service: Installation,
) -> None:
    one = await reader(service)
    await one.act(AuditAction.USER_SIGNED_IN)
    await one.act(AuditAction.ORG_UPDATED)
    await one.act(AuditAction.USER_UPDATED)
    middle = (await one.page("action=org.updated"))["items"][0]["created_at"]
    today = f"{clock.now():%Y-%m-%d}"

    assert "org.updated" == (await one.actions(f"since={middle}"))[-1]
    assert "org.updated" == (await one.actions(f"until={middle}"))[0]
    assert ["org.updated"] == await one.actions(f"since={middle}&until={middle}")
    assert 3 == len(await one.actions(f"since={today}&until={today}"))


REFUSED = [
    *("limit=0", "limit=501", "limit=-1", "limit=ten", "limit=", "limit=1e2", "limit=%205"),
    *("since=", "since=yesterday", "since=2026-02-30", "since=%00", "until=2026-13-01"),
    *("until=0001-01-01T00:00:00%2B14:00", "until=9999-12-31T23:59:59-01:00"),
    *("cursor=", "cursor=broken", "cursor=%00", "cursor=" + "a" * 5000),
    *("action=%00", "resource_type=a%00", "actor=usr_%00"),
    *("action=a&action=a", "resource_type=org&resource_type=org", "limit=1&limit=2"),
    *("since=2026-01-01&since=2026-01-02", "until=2026-01-01&until=2026-01-01"),
    *("actor=usr_1&actor=usr_1", "cursor=a&cursor=b"),
]


async def test_invalid_parameters_are_400(service: Installation) -> None:
    one = await reader(service)
    answers = {query: await one.ask(query) for query in REFUSED}

    assert dict.fromkeys(REFUSED, (400, "validation_error")) == {
        query: (answer.status_code, answer.json()["error"]["code"])
        for query, answer in answers.items()
    }
    error = answers["limit=501"].json()["error"]
    assert ["limit"] == [detail["field"] for detail in error["details"]]


async def test_pages_hold_every_entry_once(service: Installation) -> None:
    one = await reader(service)
    await one.act(*[AuditAction.ORG_UPDATED] * 5)
    whole = await one.page()
    assert whole["next_cursor"] is None

    for limit in (1, 2, 3, 5, 500):
        pages = [await one.page(f"limit={limit}")]
        while cursor := pages[-1]["next_cursor"]:
            pages.append(await one.page(f"limit={limit}&cursor={cursor}"))

        assert whole["items"] == [item for page in pages for item in page["items"]], limit
        assert -(-5 // limit) == len(pages), limit


async def test_page_is_50_by_default_and_500_at_most(service: Installation) -> None:
    one = await reader(service)
    await one.act(*[AuditAction.ORG_UPDATED] * 501)

    default, most = await one.page(), await one.page("limit=500")

    assert (50, 500) == (len(default["items"]), len(most["items"]))
    assert None not in (default["next_cursor"], most["next_cursor"])


async def test_cursor_is_bound_to_its_filters_its_org_and_its_bytes(service: Installation) -> None:
    one, other = await reader(service), await reader(service)
    await one.act(*[AuditAction.ORG_UPDATED] * 3)
    await other.act(*[AuditAction.ORG_UPDATED] * 3)
    cursor = (await one.page("limit=1&action=org.updated"))["next_cursor"]
    of_receipts = await receipts_cursor(service)
    changed = ("b" if cursor[0] == "a" else "a") + cursor[1:]

    statuses = [
        (await asking.ask(query)).status_code
        for asking, query in [
            (one, f"limit=1&action=org.updated&cursor={cursor}"),
            (one, f"limit=2&action=org.updated&cursor={cursor}"),
            (one, f"limit=1&cursor={cursor}"),
            (one, f"limit=1&action=org.updated&since=2020-01-01&cursor={cursor}"),
            (one, f"limit=1&action=org.updated&cursor={changed}"),
            (one, f"limit=1&cursor={of_receipts}"),
            (other, f"limit=1&action=org.updated&cursor={cursor}"),
        ]
    ]

    assert [200, 200, 400, 400, 400, 400, 400] == statuses


async def receipts_cursor(service: Installation) -> str:
    """Return a cursor of another list."""
    actor = await make.actor_of(service.database, service.secret)
    async with service.database.write() as session:
        session.add_all([make.receipt(actor) for _ in range(2)])
    return str((await service.get("/receipts", limit="1")).json()["next_cursor"])


async def test_pages_do_not_shift_when_entries_come(service: Installation) -> None:
    one = await reader(service)
    await one.act(AuditAction.USER_SIGNED_IN, AuditAction.ORG_UPDATED)
    first = await one.page("limit=1")
    await one.act(AuditAction.USER_UPDATED)

    assert ["user.signed_in"] == await one.actions(f"limit=1&cursor={first['next_cursor']}")


async def test_entries_of_other_orgs_and_without_an_org_are_not_listed(
    service: Installation,
) -> None:
    one, other = await reader(service), await reader(service)
    await other.act(AuditAction.ORG_UPDATED)
    async with service.database.write() as session:
        resource = (ResourceType.USER, ids.new("usr"))
        audit.record_by_operator(session, None, AuditAction.USER_DISABLED, resource=resource)

    assert [] == await one.actions()
    assert [] == await one.actions(f"actor={other.user_id}")
