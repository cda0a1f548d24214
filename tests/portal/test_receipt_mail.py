"""The page of receipts by email."""

import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from recibo.schemas.states import AuditAction, Role
from tests import installation, people
from tests.installation import Installation
from tests.portal import forms

PATH = "/portal/organization/email"
ADDRESS = re.compile(r"receipts\+[a-z2-7]{20}@recibo\.test")
#: Receipts by email are on; nothing listens there.
SETTINGS: Mapping[str, Any] = {
    "inbox_url": "imap://receipts:secret@127.0.0.1:1",
    "inbox_address": "receipts@recibo.test",
}


@pytest.fixture
async def mailed(database_url: str, tmp_path: Path) -> AsyncIterator[Installation]:
    """An installation with a mailbox, on each database."""
    async with installation.start(database_url, tmp_path, with_worker=False, **SETTINGS) as i:
        yield i


async def test_address_is_created_replaced_and_removed_by_admins(mailed: Installation) -> None:
    ana = await people.signed_up(mailed)
    await forms.sign_in_as(mailed, ana)
    [first] = ADDRESS.findall((await forms.submit(mailed, f"{PATH}/create")).text)
    [second] = ADDRESS.findall((await forms.submit(mailed, f"{PATH}/create")).text)
    settings = await forms.get_page(mailed, "/portal/organization")
    removed = await forms.submit(mailed, f"{PATH}/remove")
    entries = await people.audited(mailed, ana, AuditAction.ORG_UPDATED)

    assert first != second
    assert "Receipts by email" in settings.text
    assert not ADDRESS.search(removed.text)
    assert 3 == len(entries)
    assert first[9:29] not in str(entries)


async def test_other_senders_are_addresses_or_domains(mailed: Installation) -> None:
    client = await forms.sign_in_as(mailed, await people.signed_up(mailed))
    await forms.submit(mailed, f"{PATH}/create")
    page = await forms.submit(
        mailed, f"{PATH}/senders", senders="Bea@people.test\r\n@supplier.test"
    )
    refused = await forms.submit_refused(mailed, f"{PATH}/senders", 400, senders="@@")

    assert "Your changes are saved." in page.text
    assert "bea@people.test\n@supplier.test</textarea>" in (await client.get(PATH)).text
    assert "contains a line that is no address: @@" in refused.text


@pytest.mark.parametrize(
    ("role", "shown", "written"),
    [(Role.DEVELOPER, 200, 403), (Role.VIEWER, 403, 403), (Role.BILLING, 403, 403)],
)
async def test_uploaders_see_the_address_and_only_admins_change_it(
    sqlite_url: str, tmp_path: Path, role: Role, shown: int, written: int
) -> None:
    async with installation.start(sqlite_url, tmp_path, with_worker=False, **SETTINGS) as i:
        ana = await people.signed_up(i)
        await forms.sign_in_as(i, ana)
        await forms.submit(i, f"{PATH}/create")
        client = await forms.sign_in_as(i, await people.joined(i, ana, role))

        page = await client.get(PATH)
        assert (shown, shown == 200) == (page.status_code, bool(ADDRESS.search(page.text)))
        for action in ("create", "remove", "senders"):
            answer = await client.post(f"{PATH}/{action}", data={"senders": ""})
            assert written == answer.status_code


async def test_page_does_not_exist_without_a_mailbox(sqlite_service: Installation) -> None:
    client = await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))

    assert 404 == (await client.get(PATH)).status_code
    assert 404 == (await client.post(f"{PATH}/create", data={})).status_code
    assert PATH not in (await client.get("/portal/organization")).text
