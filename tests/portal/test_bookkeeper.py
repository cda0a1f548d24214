"""What docs/company.md says about working with a bookkeeper: who may do what in the portal."""

from pathlib import Path

import pytest

from recibo.schemas.states import Role
from recibo.store import tables
from tests import people
from tests.installation import Installation
from tests.people import Session
from tests.portal import forms, pages, receipt_pages, webhook_pages
from tests.portal.receipt_pages import PATH

SETTING = "/portal/organization/viewers"
ADMINISTRATION = {
    SETTING: {"viewers_write": "true"},
    "/portal/members/invite": {"email": "bea@people.test", "role": "viewer"},
    "/portal/organization": {"name": "Other", "billing_email": "bea@people.test"},
    "/portal/billing/checkout": {"plan": "indie"},
}


async def works(i: Installation, owner: Session, receipt_id: str) -> list[int]:
    """Upload, correct, approve, export and delete; return the statuses."""
    sent = await receipt_pages.send_files(i, ("other.jpg", receipt_pages.OTHER_RECEIPT))
    if sent.status_code == 303:
        other = sent.headers["location"].removeprefix(f"{PATH}/").partition("?")[0]
        await receipt_pages.read_receipt(i, owner, other)
    version = (await receipt_pages.read_receipt(i, owner, receipt_id))["version"]
    saved = {"version": str(version), "do": "approve", "tax": "1.50"}
    return [
        sent.status_code,
        (await i.stranger.post(f"{PATH}/{receipt_id}", data=saved)).status_code,
        (await i.stranger.get(f"{PATH}/export?format=csv")).status_code,
        (await i.stranger.post(f"{PATH}/{receipt_id}/delete")).status_code,
    ]


@pytest.mark.parametrize(
    ("role", "viewers_write", "statuses", "keys"),
    [
        (Role.DEVELOPER, False, [303, 303, 200, 303], True),
        (Role.VIEWER, False, [403, 403, 200, 403], False),
        (Role.VIEWER, True, [303, 303, 200, 303], False),
        (Role.BILLING, True, [403, 403, 403, 403], False),
    ],
)
async def test_roles_for_a_bookkeeper_may_what_the_docs_say(
    sqlite_url: str,
    tmp_path: Path,
    role: Role,
    statuses: list[int],
    *,
    viewers_write: bool,
    keys: bool,
) -> None:
    async with receipt_pages.run_service(sqlite_url, tmp_path) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        await webhook_pages.submit(service, url=webhook_pages.URL)
        if viewers_write:
            await forms.submit(service, SETTING, viewers_write="true")
        await forms.sign_in_as(service, await people.joined(service, owner, role))
        done = await works(service, owner, receipt_id)
        made = await service.stranger.post("/portal/keys", data={"name": "Till", "read": "on"})
        webhooks = await service.stranger.get("/portal/webhooks")
        audit = await service.stranger.get("/portal/audit")
        refused = {
            path: (await service.stranger.post(path, data=form)).status_code
            for path, form in ADMINISTRATION.items()
        }

    assert statuses == done
    assert (keys, keys) == (made.status_code == 200, "whsec_" in webhooks.text)
    assert keys == ("sk_live_" in made.text)
    assert 403 == audit.status_code
    is_payer = role is Role.BILLING
    assert [403, 403, 403, not is_payer] == [
        *list(refused.values())[:3],
        refused["/portal/billing/checkout"] == 403,
    ]


async def test_setting_for_viewers_is_audited_and_taken_back(
    database_url: str, tmp_path: Path
) -> None:
    async with receipt_pages.run_service(database_url, tmp_path) as (service, owner):
        viewer = await people.joined(service, owner, Role.VIEWER)
        allowed = await forms.submit(service, SETTING, viewers_write="true")
        await forms.submit(service, "/portal/members/invite", email="b@people.test", role="viewer")
        again = await forms.submit(service, SETTING, viewers_write="true")
        back = await forms.submit(service, SETTING, form="viewers")
        log = pages.parse(await service.stranger.get("/portal/audit")).text
        audited = [
            (row.before, row.after)
            for row in await service.rows(tables.AuditEvent)
            if row.action == "org.updated"
        ]
        await forms.sign_in_as(service, viewer)
        refused = await receipt_pages.send_files(service, ("a.jpg", receipt_pages.OTHER_RECEIPT))

        invitations = [
            one.names["role"]
            for one in await service.rows(tables.Mail)
            if one.recipient == "b@people.test"
        ]

    assert ["bookkeeper"] == invitations
    off, on = {"viewers_write": False}, {"viewers_write": True}
    assert "checked" in allowed.inputs["viewers_write"]
    assert "checked" in again.inputs["viewers_write"]
    assert "checked" not in back.inputs["viewers_write"]
    assert [(on, off), (off, on)] == sorted(audited, key=str, reverse=True)
    assert "allowed viewers to upload, correct, approve and delete receipts" in log
    assert "no longer allows viewers to change receipts" in log
    assert 403 == refused.status_code
