"""The page of the audit log."""

import codecs
import csv
import json
import re
from collections.abc import Mapping
from pathlib import Path

import httpx
import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.lib import clock
from recibo.portal import audit_sentences, translations
from recibo.portal.audit_sentences import Known
from recibo.schemas.audit import AuditEvent
from recibo.schemas.ids import OrgId
from recibo.schemas.languages import Language
from recibo.schemas.states import AuditAction, Role
from tests import make, people
from tests.installation import Installation
from tests.portal import accounts, forms, pages, receipt_pages

PATH = "/portal/audit"
HOSTILE = '</pre><script>alert(1)</script>\u202e"&amp;'


async def shown(i: Installation, query: Mapping[str, str]) -> httpx.Response:
    """Return the page of some filters."""
    answer = await i.stranger.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    return answer


def actions(answer: httpx.Response) -> list[str]:
    """Return the actions of the entries on a page, from its top."""
    return re.findall(r"<dd><a [^>]*><code>([^<]+)</code></a></dd>", answer.text)


async def test_entries_are_listed_newest_first_with_their_changes(service: Installation) -> None:
    ana = await people.signed_up(service)
    await forms.sign_in_as(service, ana)
    await service.stranger.post("/v1/api-keys", json={"name": HOSTILE})
    answer = await shown(service, {})
    page = pages.parse(answer)

    assert ["apikey.created", "user.signed_up", "org.created"] == actions(answer)
    assert ana.email in page.text
    assert HOSTILE.replace('"', r"\"") in page.text
    assert f"created the API key {HOSTILE}" in page.text
    assert "<script>" not in answer.text


async def test_filters_are_those_of_the_api(service: Installation) -> None:
    ana = await people.signed_up(service)
    await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    await forms.sign_in_as(service, ana)
    await service.stranger.patch("/v1/org", json={"name": "Aurora"})
    today = clock.now().date()
    tomorrow = (today + accounts.DAY).isoformat()
    found = {
        "action=org.updated": ["org.updated"],
        "action=org.deleted": [],
        "resource_type=user": ["user.signed_up"],
        f"actor={ana.user_id}": ["org.updated", "user.signed_up", "org.created"],
        "actor=usr_unknown": [],
        f"since={tomorrow}": [],
        f"until={tomorrow}&resource_type=org": ["org.updated", "org.created"],
    }

    for query, expected in found.items():
        answer = await shown(service, dict(httpx.QueryParams(query)))
        assert expected == actions(answer), query
        assert bool(expected) != ("No entries match these filters" in answer.text)
        name, _, value = query.partition("&")[0].partition("=")
        assert re.search(f'name="{name}".*?"{re.escape(value)}"', answer.text, re.DOTALL)


async def test_full_page_is_not_heavy(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    for number in range(30):
        await sqlite_service.stranger.patch("/v1/org", json={"name": f"Aurora {number}"})
    page = await shown(sqlite_service, {})

    # What else a page loads weighs 73 kB, of the 150 kB that it may.
    assert len(page.content) < 70_000


async def test_links_to_pages_keep_the_filters(
    sqlite_service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.portal.audit._ENTRIES_A_PAGE", 2)
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    for name in ("One", "Two", "Three"):
        await sqlite_service.stranger.patch("/v1/org", json={"name": name})
    first = await shown(sqlite_service, {"action": "org.updated"})
    (older,) = [link for link in pages.parse(first).links if "cursor=" in link]
    second = await sqlite_service.stranger.get(older)
    mixed = await sqlite_service.stranger.get(older.replace("org.updated", "org.created"))

    assert ["org.updated"] * 2 == actions(first)
    assert ["org.updated"] == actions(second)
    assert f"{PATH}?action=org.updated" in pages.parse(second).links
    assert 400 == mixed.status_code
    assert "is not a cursor of this list" in pages.parse(mixed).alert


async def test_invalid_filter_has_an_error_at_its_field(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    bad = {"since": "soon", "until": "2026-13-01", "action": "a\0b", "actor": "x" * 999}
    for name, value in bad.items():
        answer = await sqlite_service.stranger.get(PATH, params={name: value})
        assert 400 == answer.status_code, name
        assert pages.parse(answer).by_id[f"{name}-error"]
        assert [] == actions(answer)


async def test_date_filters_include_both_days(sqlite_service: Installation) -> None:
    await forms.sign_in_as(sqlite_service, await people.signed_up(sqlite_service))
    answer = await shown(sqlite_service, {"since": "0001-01-01", "until": "9999-12-31"})

    assert ["user.signed_up", "org.created"] == actions(answer)


async def test_receipts_are_named_by_merchant_and_total(database_url: str, tmp_path: Path) -> None:
    reader = FakeReader({receipt_pages.RECEIPT: receipt_pages.make_reading()})
    async with receipt_pages.run_service(database_url, tmp_path, reader) as (service, owner):
        receipt_id = await receipt_pages.upload(service)
        await receipt_pages.read_receipt(service, owner, receipt_id)
        secret = await make.key(service.database, OrgId(owner.org_id))
        await service.patch(receipt_id, {"approved": True}, secret=secret)
        await service.patch(receipt_id, {"category": "fuel"}, secret=secret)
        page = await forms.get_page(service, PATH)
        await service.delete(f"/receipts/{receipt_id}", secret=secret)
        later = await forms.get_page(service, PATH)

    named = "the receipt of Padaria Aurora, 42.50 BRL"
    assert f"{owner.email} uploaded {named}" in page.text
    assert f"approved {named}" in page.text
    assert f"corrected {named}: Category; its approval was withdrawn" in page.text
    assert f"/portal/receipts/{receipt_id}" in page.links
    assert f"deleted {named}" in later.text
    assert f"/portal/receipts/{receipt_id}" not in later.links


@pytest.mark.parametrize("language", Language)
def test_every_action_has_a_sentence(language: Language) -> None:
    known = Known({}, {})
    with translations.using(language):
        sentences = {
            action: audit_sentences.sentence(entry(action), known) for action in AuditAction
        }

    assert set(AuditAction) == set(audit_sentences.SENTENCES)
    assert len(AuditAction) == len(set(sentences.values()))
    assert not any("%(" in one for one in sentences.values())


def test_sentence_of_an_action_of_another_release_names_it() -> None:
    assert "<b>The service</b>: thing.done" == audit_sentences.sentence(
        entry("thing.done"), Known({}, {})
    )


def entry(action: str) -> AuditEvent:
    """Return an entry without an actor, changes and names."""
    return AuditEvent(
        id="aud_1",
        action=action,
        resource_type="user",
        resource_id=None,
        actor_user_id=None,
        actor_api_key_id=None,
        ip_address=None,
        user_agent=None,
        before=None,
        after=None,
        request_id=None,
        created_at=clock.now(),
    )


async def test_export_has_the_entries_of_the_filters(service: Installation) -> None:
    ana = await people.signed_up(service)
    await people.signed_up(service, email="bea@people.test", org="Loja Bea")
    await forms.sign_in_as(service, ana)
    await service.stranger.post("/v1/api-keys", json={"name": "=1+1"})
    query = {"resource_type": "api_key", "since": "2020-01-01", "format": "csv"}
    table = await service.stranger.get(f"{PATH}/export", params=query)
    lines = await service.stranger.get(f"{PATH}/export", params={**query, "format": "jsonl"})
    api = await service.stranger.get("/v1/audit", params={"resource_type": "api_key"})
    exported = await people.audited(service, ana, AuditAction.AUDIT_EXPORTED)
    [row] = csv.DictReader(table.content.decode("utf-8-sig").splitlines())

    assert "text/csv; charset=utf-8" == table.headers["content-type"]
    assert re.fullmatch(
        r'attachment; filename="audit-[\d-]{10}\.csv"', table.headers["content-disposition"]
    )
    assert ("apikey.created", ana.email) == (row["action"], row["actor_name"])
    assert "=1+1" == json.loads(row["after"])["name"]
    assert api.json()["items"] == [json.loads(line) for line in lines.text.splitlines()]
    assert ["jsonl", "csv"] == [one["after"]["format"] for one in exported]
    assert {"resource_type": "api_key", "since": "2020-01-01"} == exported[0]["after"]["filters"]


async def test_export_holds_all_entries_and_runs_no_formula(
    sqlite_service: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recibo.services.audit_exports._BATCH", 2)
    ana = await people.signed_up(sqlite_service)
    client = await forms.sign_in_as(sqlite_service, ana)
    client.headers["User-Agent"] = "@SUM(A1)"
    await client.patch("/v1/auth/me", json={"name": "=cmd"})
    for name in ("One", "Two", "Three"):
        await client.patch("/v1/org", json={"name": name})
    table = await client.get(f"{PATH}/export")
    rows = list(csv.DictReader(table.content.decode("utf-8-sig").splitlines()))

    assert 7 == len(rows)
    assert {"'=cmd"} == {row["actor_name"] for row in rows}
    assert "'@SUM(A1)" in {row["user_agent"] for row in rows}


async def test_export_has_the_sentences_of_the_page_in_its_language(
    sqlite_service: Installation,
) -> None:
    ana = await people.signed_up(sqlite_service)
    client = await forms.sign_in_as(sqlite_service, ana)
    await client.patch("/v1/auth/me", json={"name": "Ana <b> & João"})
    await client.post("/v1/api-keys", json={"name": "Expenses"})
    answers = {
        language: await client.get(f"{PATH}/export", headers={"Accept-Language": language})
        for language in ("en", "pt-BR")
    }
    shown_texts = pages.parse(await shown(sqlite_service, {})).text
    tables = {
        language: list(
            csv.DictReader(answer.content.decode("utf-8-sig").splitlines(), delimiter=separator)
        )
        for (language, answer), separator in zip(answers.items(), ",;", strict=True)
    }

    # So that spreadsheets read accents.
    assert all(answer.content.startswith(codecs.BOM_UTF8) for answer in answers.values())
    english, portuguese = ({row["action"]: row for row in rows} for rows in tables.values())
    created = english["apikey.created"]
    assert "Ana <b> & João created the API key Expenses" == created["sentence"]
    assert created["sentence"] in shown_texts
    assert (
        "Ana <b> & João criou a chave de API Expenses" == (portuguese["apikey.created"]["sentence"])
    )
    assert ["created_at", "actor_name", "sentence", "action", "ip_address"] == [*created][:5]
    # What the API says of an entry is there, too.
    [entry] = (await client.get("/v1/audit", params={"action": "apikey.created"})).json()["items"]
    assert entry.keys() < created.keys()
    assert entry["created_at"] == created["created_at"]


async def test_export_is_for_those_who_may_read_the_log(sqlite_service: Installation) -> None:
    owner = await people.signed_up(sqlite_service)
    answers = {}
    for role in Role:
        await forms.sign_in_as(sqlite_service, await people.joined(sqlite_service, owner, role))
        answers[role] = (await sqlite_service.stranger.get(f"{PATH}/export")).status_code
    await forms.sign_in_as(sqlite_service, owner)
    bad = [
        (await sqlite_service.stranger.get(f"{PATH}/export", params=query)).status_code
        for query in ({"format": "exe"}, {"since": "soon"})
    ]

    assert {Role.OWNER, Role.ADMIN} == {role for role, status in answers.items() if status == 200}
    assert {200, 403} == set(answers.values())
    assert [400, 400] == bad
