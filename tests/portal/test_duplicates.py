"""Two receipts that look like the same document, side by side."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.schemas.ids import OrgId
from recibo.schemas.states import AuditAction, Role
from recibo.store import tables
from tests import make, people
from tests.installation import Installation
from tests.people import Session
from tests.portal import forms, pages, receipt_pages
from tests.portal.receipt_pages import PATH

UNKNOWN = "rcp_" + "0" * 32


@asynccontextmanager
async def two_duplicates(
    database_url: str, folder: Path
) -> AsyncIterator[tuple[Installation, Session, str, str]]:
    """Run an installation with two receipts of one document; give their ids."""
    reading = receipt_pages.make_reading()
    reader = FakeReader({make.jpeg(name): reading for name in "012"})
    async with receipt_pages.run_service(database_url, folder, reader) as (service, owner):
        ids = [await receipt_pages.upload(service, make.jpeg(name)) for name in "01"]
        for one in ids:
            await receipt_pages.read_receipt(service, owner, one)
        yield service, owner, ids[0], ids[1]


async def duplicates_of(i: Installation, owner: Session, receipt_id: str) -> list[str]:
    """Return the duplicates that the API lists."""
    receipt: dict[str, Any] = dict(await receipt_pages.read_receipt(i, owner, receipt_id))
    return list(receipt["duplicates"])


async def correct(i: Installation, owner: Session, receipt_id: str, **changes: str) -> None:
    """Correct a receipt with the API."""
    secret = await make.key(i.database, OrgId(owner.org_id))
    answer = await i.patch(receipt_id, changes, secret=secret)
    assert answer.status_code == 200, answer.text


async def test_both_are_shown_with_what_differs(database_url: str, tmp_path: Path) -> None:
    async with two_duplicates(database_url, tmp_path) as (service, owner, first, second):
        review = await service.stranger.get(f"{PATH}/{second}")
        await correct(service, owner, second, tax="1.50")
        answer = await service.stranger.get(f"{PATH}/{second}/duplicates/{first}")

    page = pages.parse(answer)
    assert f"{PATH}/{second}/duplicates/{first}" in pages.parse(review).links
    for one in (first, second):
        assert f'src="{PATH}/{one}/pages/1?width=640"' in answer.text
    assert "Merchant Padaria Aurora Padaria Aurora" in page.text
    assert "1 field differs" in page.text
    assert "Tax differs 1.50" in page.text
    assert 1 == answer.text.count('class="differs"')


async def test_names_of_keys_are_translated(sqlite_url: str, tmp_path: Path) -> None:
    async with two_duplicates(sqlite_url, tmp_path) as (service, owner, first, _):
        secret = await make.key(service.database, OrgId(owner.org_id))
        other = (await service.extracted(make.jpeg("2"), secret=secret))["id"]
        answer = await service.stranger.get(
            f"{PATH}/{other}/duplicates/{first}", headers={"Accept-Language": "pt-BR"}
        )

    assert "Chave de API" in answer.text
    assert "API key" not in answer.text


async def test_list_is_kept_through_the_comparison(database_url: str, tmp_path: Path) -> None:
    kept = {"list": "q=aurora"}
    async with two_duplicates(database_url, tmp_path) as (service, _, first, second):
        review = pages.parse(await service.stranger.get(f"{PATH}/{first}", params=kept))
        comparison = f"{PATH}/{first}/duplicates/{second}?{urlencode(kept)}"
        page = pages.parse(await service.stranger.get(comparison))
        decided = await service.stranger.post(comparison, data={"do": "keep-both"})

    assert comparison in review.links
    assert f"{PATH}/{first}?{urlencode(kept)}" in page.links
    assert {comparison} == {to for _, to in page.forms if to and "/duplicates/" in to}
    assert (
        f"{PATH}/{first}?{urlencode({**kept, 'notice': 'not-duplicates'})}"
        == decided.headers["location"]
    )


async def test_approval_of_a_duplicate_asks_and_shows_the_other_one(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with two_duplicates(sqlite_url, tmp_path) as (service, owner, first, second):
        review = await service.stranger.get(f"{PATH}/{second}")
        await correct(service, owner, first, total="1.00")
        alone = await service.stranger.get(f"{PATH}/{second}")

    asked = review.text.partition('id="despite-next"')[2]
    assert "Approve a possible duplicate?" in asked
    assert f'src="{PATH}/{first}/pages/1?width=88"' in asked
    assert 'popovertarget="despite-next" data-approve' in review.text
    assert 'name="do" value="next" data-approve' in alone.text
    assert "Approve a possible duplicate?" not in alone.text


async def test_selected_duplicates_are_approved_after_a_question(
    database_url: str, tmp_path: Path
) -> None:
    reading = receipt_pages.make_reading()
    other = receipt_pages.make_reading("Mercado Sol")
    reader = FakeReader({**{make.jpeg(name): reading for name in "01"}, make.jpeg("2"): other})
    async with receipt_pages.run_service(database_url, tmp_path, reader) as (service, owner):
        ids = [await receipt_pages.upload(service, make.jpeg(name)) for name in "012"]
        for one in ids:
            await receipt_pages.read_receipt(service, owner, one)
        form = {"id": [f"{one}:1" for one in ids], "back": "q=aurora"}

        async def approved(**answer: str) -> list[str]:
            await service.stranger.post(f"{PATH}/selection/approve", data={**form, **answer})
            listed = await service.stranger.get(f"{PATH}?review=approved")
            return receipt_pages.listed_ids(listed)

        versions = [
            (await receipt_pages.read_receipt(service, owner, one))["version"] for one in ids
        ]
        form["id"] = [f"{one}:{version}" for one, version in zip(ids, versions, strict=True)]
        question = await service.stranger.post(f"{PATH}/selection/approve", data=form)
        steps = [await approved(), await approved(duplicates="leave")]
        steps.append(await approved(duplicates="approve"))

    page = pages.parse(question)
    assert "Approve 2 possible duplicates?" in page.text
    assert "Approve only the other one" in page.text
    assert f"{PATH}/{ids[0]}/duplicates/{ids[1]}?{urlencode({'list': 'q=aurora'})}" in page.links
    assert [[], [ids[2]], ids[::-1]] == steps


@pytest.mark.parametrize(("do", "keeps_first"), [("keep-this", True), ("keep-other", False)])
async def test_one_is_kept_and_the_other_deleted(
    database_url: str, tmp_path: Path, do: str, *, keeps_first: bool
) -> None:
    async with two_duplicates(database_url, tmp_path) as (service, owner, first, second):
        answer = await service.stranger.post(f"{PATH}/{first}/duplicates/{second}", data={"do": do})
        kept, gone = (first, second) if keeps_first else (second, first)
        left = await duplicates_of(service, owner, kept)
        page = pages.parse(await service.stranger.get(answer.headers["location"]))
        deleted = await service.stranger.get(f"{PATH}/{gone}")

    assert f"{PATH}/{kept}?notice=kept" == answer.headers["location"]
    assert "the other one is deleted" in page.by_role["status"]
    assert ([], 404) == (left, deleted.status_code)


async def test_receipts_marked_as_different_stay_so(database_url: str, tmp_path: Path) -> None:
    async with two_duplicates(database_url, tmp_path) as (service, owner, first, second):
        before = await duplicates_of(service, owner, first)
        answer = await service.stranger.post(
            f"{PATH}/{first}/duplicates/{second}", data={"do": "keep-both"}
        )
        after = [await duplicates_of(service, owner, one) for one in (first, second)]
        # A correction finds duplicates again.
        await correct(service, owner, second, tax="1.50")
        corrected = [await duplicates_of(service, owner, one) for one in (first, second)]
        rows = await service.rows(tables.AuditEvent)
        page = pages.parse(await service.stranger.get(f"{PATH}/{first}/duplicates/{second}"))

    assert [second] == before
    assert f"{PATH}/{first}?notice=not-duplicates" == answer.headers["location"]
    assert [[], []] == after == corrected
    (entry,) = [one for one in rows if one.action == AuditAction.RECEIPT_NOT_DUPLICATE]
    assert (first, {"not_duplicates": [second]}) == (entry.resource_id, entry.after)
    assert "These receipts are not listed as duplicates of each other." in page.text


@pytest.mark.parametrize("do", ["keep-both", "keep-this"])
async def test_spend_counts_what_is_kept_once_by_its_state(
    database_url: str, tmp_path: Path, do: str
) -> None:
    async with two_duplicates(database_url, tmp_path) as (service, owner, first, second):
        both = await _spent(service)
        await service.stranger.post(f"{PATH}/{first}/duplicates/{second}", data={"do": do})
        kept = [first, second] if do == "keep-both" else [first]
        secret = await make.key(service.database, OrgId(owner.org_id))
        for one in kept:
            await service.patch(one, {"approved": True}, secret=secret)
        approved = await _spent(service)
        for one in kept:
            await service.stranger.delete(f"/v1/receipts/{one}", headers={"X-API-Key": secret})

        assert {"needs_review": (2, Decimal("85.00"))} == both
        assert {"approved": (len(kept), len(kept) * Decimal("42.50"))} == approved
        assert {} == await _spent(service)


async def _spent(i: Installation) -> dict[str, tuple[int, Decimal]]:
    """Return how many receipts analytics count in each state of review, and their total."""
    rows = await i.rows(tables.SpendMonth)
    return {one.review_status: (one.receipts, one.total_spent) for one in rows}


async def test_duplicate_found_while_the_page_was_open_is_shown_before_the_approval(
    database_url: str, tmp_path: Path
) -> None:
    reading = receipt_pages.make_reading()
    reader = FakeReader({make.jpeg(name): reading for name in "01"})
    async with receipt_pages.run_service(database_url, tmp_path, reader) as (service, owner):
        first = await receipt_pages.upload(service, make.jpeg("0"))
        await receipt_pages.read_receipt(service, owner, first)
        page = await forms.get_page(service, f"{PATH}/{first}")
        opened = {name: page.inputs[name]["value"] for name in ("version", "seen")}
        second = await receipt_pages.upload(service, make.jpeg("1"))
        await receipt_pages.read_receipt(service, owner, second)
        sent = {**opened, "do": "approve", "tax": "1.50"}
        refused = await service.stranger.post(f"{PATH}/{first}", data=sent)
        shown = pages.parse(refused)
        seen = {**sent, "seen": shown.inputs["seen"]["value"]}
        approved = await service.stranger.post(f"{PATH}/{first}", data=seen)

    assert (400, second, "1.50") == (
        refused.status_code, seen["seen"], shown.inputs["tax"]["value"],
    )  # fmt: skip
    assert "A possible duplicate was found meanwhile." in shown.text
    assert f"{PATH}/{first}/duplicates/{second}" in shown.links
    assert 303 == approved.status_code


async def test_a_third_receipt_is_still_found(database_url: str, tmp_path: Path) -> None:
    async with two_duplicates(database_url, tmp_path) as (service, owner, first, second):
        await service.stranger.post(f"{PATH}/{first}/duplicates/{second}", data={"do": "keep-both"})
        third = await receipt_pages.upload(service, make.jpeg("2"))
        found = [await duplicates_of(service, owner, one) for one in (third, first, second)]

    assert [[first, second], [third], [third]] == found


@pytest.mark.parametrize("role", [Role.VIEWER, Role.BILLING])
async def test_deciding_requires_write_permission(
    sqlite_url: str, tmp_path: Path, role: Role
) -> None:
    async with two_duplicates(sqlite_url, tmp_path) as (service, owner, first, second):
        path = f"{PATH}/{first}/duplicates/{second}"
        await forms.sign_in_as(service, await people.joined(service, owner, role))
        shown = await service.stranger.get(path)
        refused = [
            await service.stranger.post(path, data={"do": do})
            for do in ("keep-this", "keep-other", "keep-both")
        ]
        left = await duplicates_of(service, owner, first)

    assert (200 if role is Role.VIEWER else 403) == shown.status_code
    assert "keep-both" not in shown.text
    assert [403] * 3 == [one.status_code for one in refused]
    assert [second] == left


async def test_unknown_and_foreign_receipts_are_404(sqlite_url: str, tmp_path: Path) -> None:
    async with two_duplicates(sqlite_url, tmp_path) as (service, owner, first, second):
        answers = []
        for pair in ((first, UNKNOWN), (UNKNOWN, first), (first, first), (first, "rcp_1%00")):
            path = f"{PATH}/{pair[0]}/duplicates/{pair[1]}"
            answers.append(await service.stranger.post(path, data={"do": "keep-both"}))
        for do in ("keep-this", "keep-other"):
            path = f"{PATH}/{first}/duplicates/{UNKNOWN}"
            answers.append(await service.stranger.post(path, data={"do": do}))
        bea = await people.signed_up(service, email="bea@people.test", org="Loja Bea")
        await forms.sign_in_as(service, bea)
        path = f"{PATH}/{first}/duplicates/{second}"
        answers.append(await service.stranger.get(path))
        answers.append(await service.stranger.post(path, data={"do": "keep-both"}))
        left = await duplicates_of(service, owner, first)

    assert {404} == {one.status_code for one in answers}
    assert [second] == left
