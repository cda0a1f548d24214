"""GET and PATCH /v1/org."""

from typing import Any

import httpx
import pytest

from recibo.schemas.states import AuditAction, Role
from tests import make, people
from tests.installation import Installation
from tests.people import Session

FIELDS = {"id", "name", "slug", "logo_url", "billing_email", "plan", "created_at"}


async def change(i: Installation, who: Session, **body: Any) -> httpx.Response:
    """Change who's org."""
    return await i.stranger.patch("/v1/org", json=body, headers=who.headers)


async def test_org_has_the_values_of_the_signup(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service, email="Ana@People.test", org="Padaria Aurora")

    org = (await idle_service.stranger.get("/v1/org", headers=ana.headers)).json()

    assert set(org) == FIELDS
    assert {
        "id": ana.org_id,
        "name": "Padaria Aurora",
        "slug": "padaria-aurora",
        "logo_url": None,
        "billing_email": "ana@people.test",
        "plan": "free",
    }.items() <= org.items()


async def test_what_the_body_names_is_changed_and_the_rest_stays(
    idle_service: Installation,
) -> None:
    ana = await people.signed_up(idle_service)
    before = (await idle_service.stranger.get("/v1/org", headers=ana.headers)).json()

    first = await change(idle_service, ana, name="Aurora", unknown=1)
    second = await change(
        idle_service, ana, logo_url="https://aurora.test/l.png", billing_email="Pay@Aurora.test"
    )

    assert (200, before | {"name": "Aurora"}) == (first.status_code, first.json())
    after = before | {
        "name": "Aurora",
        "logo_url": "https://aurora.test/l.png",
        "billing_email": "pay@aurora.test",
    }
    assert (200, after) == (second.status_code, second.json())
    assert after == (await idle_service.stranger.get("/v1/org", headers=ana.headers)).json()


async def test_null_clears_the_logo(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    await change(idle_service, ana, logo_url="anything at all")

    answer = await change(idle_service, ana, logo_url=None)

    assert (200, None) == (answer.status_code, answer.json()["logo_url"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("slug", "x"), ("slug", None), ("plan", "scale"), ("plan", None)),
        *(("name", ""), ("name", "x" * 256), ("name", None), ("name", 1), ("name", "a\0b")),
        *(("logo_url", "x" * 501), ("logo_url", 1), ("logo_url", {})),
        *(("billing_email", None), ("billing_email", ""), ("billing_email", "no address")),
    ],
)
async def test_what_does_not_hold_is_400_and_changes_nothing(
    door: Installation, field: str, value: object
) -> None:
    ana = await people.signed_up(door)
    before = (await door.stranger.get("/v1/org", headers=ana.headers)).json()

    answer = await change(door, ana, **{"name": "Another", field: value})

    assert (400, "validation_error") == (answer.status_code, answer.json()["error"]["code"])
    named = answer.json()["error"]["details"][0]["field"]
    assert named == ("body" if value == "a\0b" else field)
    assert before == (await door.stranger.get("/v1/org", headers=ana.headers)).json()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("name", "x"), ("name", "x" * 255), ("name", "a\r\nBcc: x@y.test\x1b[0m\x7f\u202e")),
        *(("name", "名" * 255), ("logo_url", "x" * 500), ("logo_url", "")),
    ],
)
async def test_texts_are_kept_as_they_are(
    idle_service: Installation, field: str, value: str
) -> None:
    ana = await people.signed_up(idle_service)

    answer = await change(idle_service, ana, **{field: value})

    assert (200, value) == (answer.status_code, answer.json()[field])


async def test_change_is_audited_with_before_and_after(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    before = (await idle_service.stranger.get("/v1/org", headers=ana.headers)).json()
    after = (await change(idle_service, ana, name="Aurora")).json()

    (event,) = await people.audited(idle_service, ana, AuditAction.ORG_UPDATED)

    assert ("org", ana.org_id, ana.user_id) == (
        event["resource_type"],
        event["resource_id"],
        event["actor_user_id"],
    )
    assert (before, after) == (event["before"], event["after"])


@pytest.mark.parametrize("body", [{"name": "Padaria Aurora"}, {"logo_url": None}])
async def test_change_to_what_it_is_is_audited(door: Installation, body: dict[str, Any]) -> None:
    ana = await people.signed_up(door)
    await change(door, ana, **body)

    (entry,) = await people.audited(door, ana, AuditAction.ORG_UPDATED)
    assert entry["before"] == entry["after"]


@pytest.mark.parametrize("body", [{}, {"x": 1}])
async def test_change_of_nothing_is_200_and_not_audited(
    door: Installation, body: dict[str, Any]
) -> None:
    ana = await people.signed_up(door)

    answer = await change(door, ana, **body)

    assert (200, "Padaria Aurora") == (answer.status_code, answer.json()["name"])
    assert [] == await people.audited(door, ana, AuditAction.ORG_UPDATED)


async def test_user_without_an_org_gets_404(door: Installation) -> None:
    tokens = await make.session(door.services.identity, None)
    outsider = people.bearer(tokens.access_token)

    answers = [
        await door.stranger.get("/v1/org", headers=outsider),
        await door.stranger.patch("/v1/org", json={"name": "x"}, headers=outsider),
    ]

    assert [(404, "not_found")] * 2 == [
        (answer.status_code, answer.json()["error"]["code"]) for answer in answers
    ]


async def test_orgs_do_not_touch_one_another(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)
    eve = await people.signed_up(idle_service, email="eve@people.test", org="Eve")

    await change(idle_service, eve, name="Eve's")

    org = (await idle_service.stranger.get("/v1/org", headers=ana.headers)).json()
    assert "Padaria Aurora" == org["name"]


async def test_plan_and_slug_stay_when_the_name_changes(idle_service: Installation) -> None:
    ana = await people.signed_up(idle_service)

    org = (await change(idle_service, ana, name="Quite another")).json()

    assert ("padaria-aurora", "free") == (org["slug"], org["plan"])


async def test_body_is_looked_at_after_the_permission(door: Installation) -> None:
    ana = await people.signed_up(door)
    vera = await people.joined(door, ana, Role.VIEWER)

    answer = await door.stranger.patch("/v1/org", content=b"{", headers=vera.headers)

    assert (403, "insufficient_scope") == (answer.status_code, answer.json()["error"]["code"])
