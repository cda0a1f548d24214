"""PATCH /v1/receipts/{id}: corrections, approval, versions, and the review that they change."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from recibo.adapters.fake_reader import FakeReader
from recibo.extract.model import Extracted, Receipt
from recibo.schemas.receipts import LineItem
from recibo.schemas.states import Scope
from recibo.store.tables import AuditEvent, MerchantTotal, UsageEvent
from tests import events, installation, make, receipts
from tests.installation import Installation
from tests.readers import ScriptedReader

DOCUMENT = make.jpeg("document")
KEY = "35250311222333000181650010000123451000864157"
CASH = {"method": "cash", "amount": "42.59", "tendered": "50"}
BARE_ITEM = dict.fromkeys(LineItem.model_fields)


@asynccontextmanager
async def read(
    database_url: str, folder: Path, receipt: Receipt | None = None
) -> AsyncIterator[tuple[Installation, dict[str, Any]]]:
    """Open a service that has read a receipt."""
    reader = FakeReader({DOCUMENT: receipt or receipts.sure()})
    async with installation.start(database_url, folder, reader=reader) as service:
        yield service, await service.extracted(DOCUMENT, metadata='{"project": "a"}')


async def test_sure_receipt_is_ready(database_url: str, tmp_path: Path) -> None:
    async with read(database_url, tmp_path) as (_, receipt):
        assert {"status": "ready", "reasons": [], "by": None, "at": None} == receipt["review"]
        assert (1, [], []) == tuple(
            receipt[name] for name in ("version", "corrected_fields", "duplicates")
        )


async def test_correction_changes_the_fields_and_keeps_what_was_read(
    database_url: str, tmp_path: Path
) -> None:
    changes = {
        "merchant_name": "Padaria Aurora Ltda",
        "total": "50",
        "subtotal": "50.0",
        "line_items": [{"name": "Café", "qty": "2", "unit_price": "25", "total": "50"}],
        "category": "groceries",
        "document_key": KEY,
        "issued_at": "2026-03-15T10:00:00-03:00",
    }
    async with read(database_url, tmp_path) as (service, receipt):
        corrected = await service.patched(receipt["id"], **changes)
        whole = (await service.get(f"/receipts/{receipt['id']}", include="reading")).json()
        vendors = await service.rows(UsageEvent)

    items = [{**BARE_ITEM, "name": "Café", "qty": "2", "unit_price": "25", "total": "50.00"}]
    assert {**changes, "total": "50.00", "subtotal": "50.00", "line_items": items} == {
        name: corrected[name] for name in changes
    }
    assert sorted(changes) == corrected["corrected_fields"]
    assert 2 == corrected["version"]
    assert corrected == {name: whole[name] for name in corrected}
    for name in ("merchant_name", "total", "line_items", "category", "document_key"):
        assert receipt[name] == whole["reading"][name]
    # Correcting bills nothing.
    assert 1 == len(vendors)


async def test_null_clears_a_field_and_an_empty_list_the_items(
    database_url: str, tmp_path: Path
) -> None:
    async with read(database_url, tmp_path) as (service, receipt):
        corrected = await service.patched(
            receipt["id"], total=None, issued_at=None, line_items=[], currency=None
        )

    assert (None, None, [], None) == tuple(
        corrected[name] for name in ("total", "issued_at", "line_items", "currency")
    )
    # Without a currency, an amount has no certain number of digits.
    assert "42.59" == corrected["subtotal"]
    missing = [one["field"] for one in corrected["review"]["reasons"] if one["code"] == "missing"]
    assert ["issued_at", "total"] == missing


async def test_amounts_follow_the_currency_without_being_corrected(
    database_url: str, tmp_path: Path
) -> None:
    async with read(database_url, tmp_path, receipts.sure(total="42.00")) as (service, receipt):
        corrected = await service.patched(receipt["id"], currency="JPY")
        await service.patched(receipt["id"], currency="KWD", total="42.125")
        refused = await service.patch(receipt["id"], {"currency": "JPY"})

    assert "total: must have at most 0 decimals in JPY" == refused.json()["error"]["message"]
    assert ("42", "42", ["currency"]) == tuple(
        corrected[name] for name in ("total", "subtotal", "corrected_fields")
    )


async def test_change_of_nothing_is_no_change(database_url: str, tmp_path: Path) -> None:
    async with read(database_url, tmp_path) as (service, receipt):
        same = {name: receipt[name] for name in ("total", "merchant_name", "metadata", "issued_at")}
        unchanged = [
            await service.patched(receipt["id"]),
            await service.patched(receipt["id"], **same),
            await service.patched(receipt["id"], total="42.590", approved=False),
        ]
        actions = [row.action for row in await service.rows(AuditEvent)]

    assert [receipt] * 3 == unchanged
    assert "receipt.corrected" not in actions


async def test_metadata_is_replaced_whole_and_filters_follow(
    database_url: str, tmp_path: Path
) -> None:
    async with read(database_url, tmp_path) as (service, receipt):
        corrected = await service.patched(receipt["id"], metadata={"client": "b"})
        found = [
            len((await service.client.get(f"/v1/receipts?metadata.{tag}")).json()["data"])
            for tag in ("client=b", "project=a")
        ]

    assert ({"client": "b"}, [], 2) == tuple(
        corrected[name] for name in ("metadata", "corrected_fields", "version")
    )
    assert [1, 0] == found


async def test_another_version_is_a_conflict(database_url: str, tmp_path: Path) -> None:
    async with read(database_url, tmp_path) as (service, receipt):
        first = await service.patch(receipt["id"], {"total": "1", "version": 1})
        second = await service.patch(receipt["id"], {"total": "2", "version": 1})
        stored = (await service.get(f"/receipts/{receipt['id']}")).json()

    assert (200, 409, "conflict") == (
        first.status_code, second.status_code, second.json()["error"]["code"]
    )  # fmt: skip
    assert ("1.00", 2) == (stored["total"], stored["version"])


async def test_approval_names_who_and_a_later_change_withdraws_it(
    database_url: str, tmp_path: Path
) -> None:
    async with read(database_url, tmp_path) as (service, receipt):
        approved = await service.patched(receipt["id"], approved=True)
        again = await service.patched(receipt["id"], approved=True)
        tagged = await service.patched(receipt["id"], metadata={})
        changed = await service.patched(receipt["id"], tax="1.00")
        both = await service.patched(receipt["id"], tax="2.00", approved=True)
        withdrawn = await service.patched(receipt["id"], approved=False)

    assert ("approved", receipt["created_by"]) == (
        approved["review"]["status"], approved["review"]["by"]
    )  # fmt: skip
    assert approved["review"]["at"] == approved["updated_at"]
    assert approved == again
    assert "approved" == tagged["review"]["status"]
    assert ("ready", None, None) == tuple(
        changed["review"][name] for name in ("status", "by", "at")
    )
    assert "approved" == both["review"]["status"]
    assert "ready" == withdrawn["review"]["status"]
    assert [2, 3, 4, 5, 6] == [
        one["version"] for one in (approved, tagged, changed, both, withdrawn)
    ]


async def test_changes_are_audited_and_announced(database_url: str, tmp_path: Path) -> None:
    reader = FakeReader({DOCUMENT: receipts.sure()})
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        url = "https://example.com/hook"
        receipt = await service.extracted(DOCUMENT, webhook_url=url)
        await service.patched(receipt["id"], total="43.00", approved=True)
        await service.patched(receipt["id"], approved=False)
        bodies = await events.event_bodies(service.database)
        audited = await service.rows(AuditEvent)

    change = {"before": "42.59", "after": "43.00"}
    sent = [(one["type"], one["data"].get("changes")) for one in bodies]
    assert [
        ("receipt.completed", None),
        ("receipt.corrected", {"total": change}),
        ("receipt.approved", None),
        ("receipt.corrected", {"approved": {"before": True, "after": False}}),
    ] == sent
    assert "43.00" == bodies[1]["data"]["receipt"]["total"]
    assert "approved" == bodies[2]["data"]["receipt"]["review"]["status"]
    by_action = {row.action: row for row in sorted(audited, key=lambda row: row.id, reverse=True)}
    correction = by_action["receipt.corrected"]
    assert ({"total": "42.59"}, {"total": "43.00"}) == (correction.before, correction.after)
    assert "receipt.approved" in by_action


INVALID: dict[str, list[Any]] = {
    "total": [42.59, "42,59", "1e5", "NaN", "", " 1", "1" * 13, "0.12345", "42.595", True, ["1"]],
    "tax": ["free"],
    "merchant_name": ["", "  ", "a\nb", 7, "x" * 256, "\u200b", "a\u2028b", "a\u202eb", "a\x85"],
    "merchant_tax_id": ["11.222.333/0001-81", "", 1],
    "issued_at": ["2026-03-14", "2026-03-14T08:00:00", "yesterday", 1773480000,
                  "2026-03-14T08:00:00.5-03:00", "0001-01-01T00:00:00+14:00",
                  "2026-W01-1T08:00:00Z", "20260314T080000Z", "2026-03-14T08:00:00+01:02:03"],
    "currency": ["real", "brl", "ZZZ", 986],
    "document_number": ["", "1" * 65],
    "document_key": [KEY[:-1], "99" + KEY[2:], "key"],
    "type": [None, "bill"],
    "category": ["food"],
    "line_items": [None, {}, "[]"],
    "line_items.0.name": [[{}], [{"name": ""}], [{"name": None}]],
    "line_items.0.total": [[{"name": "a", "total": 1}], [{"name": "a", "total": "1.005"}]],
    "line_items.0.discount": [[{"name": "a", "discount": "-1"}]],
    "due_date": ["2026-02-30", "13.04.2026", 1],
    "discount": ["-5.00"],
    "customer_tax_id": ["44.555.666/0001-99"],
    "tip": [4],
    "taxes": [None, {}],
    "taxes.0.amount": [[{"amount": "0.001"}]],
    "taxes.0.rate": [[{"rate": "1001"}], [{"rate": "-1"}]],
    "payments.0.method": [[{"method": "barter"}], [{}]],
    "payments.0.last4": [[{"method": "card", "last4": "12345"}]],
    "metadata": [None, {"a": "x" * 257}, {"": "x"}, {str(n): "" for n in range(17)}],
    "approved": [None, "true", 1],
    "version": [None, "1", 1.0, True],
}  # fmt: skip


async def test_invalid_values_are_refused_by_field(tmp_path: Path, sqlite_url: str) -> None:
    async with read(sqlite_url, tmp_path) as (service, receipt):
        for field, values in INVALID.items():
            for value in values:
                answer = await service.patch(receipt["id"], {field.partition(".")[0]: value})

                assert 400 == answer.status_code, (field, value)
                named = [one["field"] for one in answer.json()["error"]["details"]]
                assert field in named, (field, value, named)
        stored = (await service.get(f"/receipts/{receipt['id']}")).json()

    assert receipt == stored


async def test_errors_say_what_to_do(tmp_path: Path, sqlite_url: str) -> None:
    said = {
        "total": (42.59, "must be a string"),
        "merchant_name": ("x" * 256, "must have at most 255 characters"),
        "line_items": ([{"name": "a"}] * 1001, "must have at most 1000 entries"),
        "tax": ("0.001", "must have at most 2 decimals in BRL"),
        "approved": ("yes", "must be true or false"),
    }
    async with read(sqlite_url, tmp_path) as (service, receipt):
        for field, (value, message) in said.items():
            answer = await service.patch(receipt["id"], {field: value})

            assert [{"field": field, "message": message}] == answer.json()["error"]["details"]


async def test_unknown_and_read_only_fields_are_ignored(tmp_path: Path, sqlite_url: str) -> None:
    """So a client may send back the receipt that it got, with its changes."""
    async with read(sqlite_url, tmp_path) as (service, receipt):
        sent = {**receipt, "metadata": {}, "total": "43.00", "color": "red"}
        sent = {name: value for name, value in sent.items() if name != "category" or value}

        answer = await service.patch(receipt["id"], sent)

        assert 200 == answer.status_code, answer.text
        assert ["total"] == answer.json()["corrected_fields"]
        assert receipt["confidence"] == answer.json()["confidence"]


async def test_only_completed_receipts_can_be_changed(hasty_service: Installation) -> None:
    hasty_service.reader.hold()
    pending = (await hasty_service.extract(DOCUMENT)).json()
    refused = await hasty_service.patch(pending["id"], {"total": "1"})
    await hasty_service.waited(pending["id"])
    await hasty_service.delete(f"/receipts/{pending['id']}")
    deleted = await hasty_service.patch(pending["id"], {"total": "1"})

    assert (None, [], 1) == tuple(
        pending[name] for name in ("review", "corrected_fields", "version")
    )
    assert [409, 404] == [refused.status_code, deleted.status_code]


async def test_correction_needs_the_scopes_read_and_write(
    database_url: str, tmp_path: Path
) -> None:
    async with read(database_url, tmp_path) as (service, receipt):
        database = service.database
        org_id = receipt["org_id"]
        lacking = [
            await make.key(database, org_id, scopes=scopes)
            for scopes in ([Scope.READ], [Scope.WRITE], [Scope.EXTRACT_WRITE])
        ]
        other = await make.key(database, await make.org(database))
        refused = [
            (await service.patch(receipt["id"], {"total": "1"}, secret=secret)).status_code
            for secret in (*lacking, other)
        ]

    assert [403, 403, 403, 404] == refused


async def test_doubtful_fields_need_review_until_they_are_corrected(
    database_url: str, tmp_path: Path
) -> None:
    async with read(database_url, tmp_path, receipts.doubtful_total()) as (service, receipt):
        evidence = (await service.get(f"/receipts/{receipt['id']}", include="evidence")).json()
        corrected = await service.patched(receipt["id"], total="45.29")
        right = await service.patched(receipt["id"], total="42.59")

    assert {
        "status": "needs_review",
        "reasons": [
            {"code": "low_confidence", "field": "total"},
            {"code": "low_confidence", "field": None},
        ],
        "by": None,
        "at": None,
    } == receipt["review"]
    assert [
        {"value": "45.29", "confidence": 0.3}, {"value": "4.259", "confidence": 0.1},
    ] == evidence["evidence"]["total"]["alternatives"]  # fmt: skip
    assert "alternatives" not in evidence["evidence"]["merchant_name"]
    assert [{"code": "amounts_disagree", "field": "total"}] == corrected["review"]["reasons"]
    # A value that a person confirmed is certain.
    assert ("ready", ["total"]) == (right["review"]["status"], right["corrected_fields"])


DOUBTS = {
    "no seller": (replace(receipts.sure(), merchant_name=None), ("missing", "merchant_name")),
    "no date": (replace(receipts.sure(), issued_at=None), ("missing", "issued_at")),
    "no total": (replace(receipts.sure(), total=None), ("missing", "total")),
    "items do not add up": (
        receipts.sure(line_items=(receipts.item("Café", "32.48"),)),
        ("amounts_disagree", "line_items"),
    ),
    "an item is doubtful": (
        receipts.sure(line_items=(replace(receipts.item("Café", "42.59"), confidence=0.5),)),
        ("low_confidence", "line_items"),
    ),
    "the sum of doubtful amounts": (
        receipts.sure(subtotal=Extracted(Decimal("42.00"), 0.6, "42")),
        ("amounts_disagree", "total"),
    ),
}


@pytest.mark.parametrize("name", DOUBTS)
async def test_doubts_are_named(name: str, tmp_path: Path, sqlite_url: str) -> None:
    extracted, expected = DOUBTS[name]
    async with read(sqlite_url, tmp_path, extracted) as (_, receipt):
        reasons = [(one["code"], one["field"]) for one in receipt["review"]["reasons"]]

    assert expected in reasons
    assert "needs_review" == receipt["review"]["status"]


SURE = {
    "tax on top": receipts.sure(
        total="43.00",
        subtotal=Extracted(Decimal("40.00"), 0.9, "40"),
        tax=Extracted(Decimal("3.00"), 0.9, "3"),
        line_items=(receipts.item("Café", "40.00"),),
    ),
    "rounding": receipts.sure(line_items=(receipts.item("Café", "42.61"),)),
    "a discount that was read with confidence": receipts.sure(
        total="40.00",
        subtotal=Extracted(Decimal("42.00"), 0.9, "42"),
        line_items=(receipts.item("Café", "42.00"),),
    ),
}


@pytest.mark.parametrize("name", SURE)
async def test_amounts_that_add_up_need_no_review(
    name: str, tmp_path: Path, sqlite_url: str
) -> None:
    async with read(sqlite_url, tmp_path, SURE[name]) as (_, receipt):
        assert [] == receipt["review"]["reasons"]


async def test_reread_keeps_corrected_fields_and_withdraws_the_approval(
    database_url: str, tmp_path: Path
) -> None:
    better = replace(receipts.sure("Padaria Aurora Ltda", total="45.29"), confidence=0.99)
    reader = ScriptedReader([receipts.sure(), better])
    async with installation.start(database_url, tmp_path, reader=reader) as service:
        receipt = await service.extracted(DOCUMENT)
        await service.patched(receipt["id"], total="44.00", approved=True)
        again = await service.extracted(DOCUMENT, accuracy="high", reread="true")
        whole = (await service.get(f"/receipts/{receipt['id']}", include="reading")).json()
        audited = [(row.before, row.after) for row in await service.rows(AuditEvent)]

    assert ({"approved": True}, {"approved": False}) in audited
    assert ("Padaria Aurora Ltda", "44.00", ["total"], 3) == tuple(
        again[name] for name in ("merchant_name", "total", "corrected_fields", "version")
    )
    assert "45.29" == whole["reading"]["total"]
    assert again["review"]["status"] != "approved"


async def test_analytics_follow_a_correction(tmp_path: Path, sqlite_url: str) -> None:
    async with read(sqlite_url, tmp_path) as (service, receipt):
        await service.patched(receipt["id"], merchant_name="Mercado", total="7.00")
        vendors = await service.rows(MerchantTotal)

    assert [("Mercado", 1, Decimal("7.0000"))] == [
        (row.merchant, row.receipts, row.total_spent) for row in vendors
    ]


async def test_long_names_are_stored_and_compared_by_their_beginnings(
    database_url: str, tmp_path: Path
) -> None:
    name, number = "Padaria" * 1_800, "7" * 12_000
    long = receipts.sure(name, document_number=Extracted(number, 0.97, ""))
    async with read(database_url, tmp_path, long) as (service, receipt):
        found = (await service.get("/receipts", merchant=name[:255])).json()["data"]

    assert (name, number) == (receipt["merchant_name"], receipt["document_number"])
    assert [receipt["id"]] == [one["id"] for one in found]


BOOKKEEPING = {
    "merchant_address": "Rua das Flores 12, São Paulo",
    "customer_name": "Oficina Lima ME",
    "customer_tax_id": "44555666000199",
    "due_date": "2026-04-13",
    "discount": "5.00",
    "tip": "4.00",
    "service_charge": "3.87",
    "rounding": "-0.02",
    "taxes": [
        {"name": "ISS", "rate": "5", "base": "40.00", "amount": "2.00", "informational": False}
    ],
    "payments": [
        {"method": "cash", "amount": "40.00", "tendered": "50.00", "last4": None},
        {"method": "credit_card", "amount": "2.59", "tendered": None, "last4": "4242"},
    ],
}


async def test_what_bookkeeping_needs_is_corrected_like_the_rest(
    database_url: str, tmp_path: Path
) -> None:
    async with read(database_url, tmp_path) as (service, receipt):
        corrected = await service.patched(receipt["id"], **BOOKKEEPING)
        again = await service.patched(receipt["id"], **BOOKKEEPING)
        cleared = await service.patched(
            receipt["id"], **{name: [] for name in ("taxes", "payments")}
        )

    assert BOOKKEEPING == {name: corrected[name] for name in BOOKKEEPING}
    assert sorted(BOOKKEEPING) == corrected["corrected_fields"]
    assert corrected == again
    assert [[], []] == [cleared["taxes"], cleared["payments"]]


async def test_taxes_and_payments_that_do_not_add_up_need_review(
    database_url: str, tmp_path: Path
) -> None:
    wrong = {"tax": "5.73", "taxes": [{"amount": "3"}], "payments": [CASH | {"amount": "5"}]}
    right = {"taxes": [{"amount": "3"}, {"amount": "2.73"}], "payments": [CASH]}
    async with read(database_url, tmp_path) as (service, receipt):
        doubted = (await service.patched(receipt["id"], **wrong))["review"]
        sure = (await service.patched(receipt["id"], **right))["review"]

    reasons = [{"code": "amounts_disagree", "field": name} for name in ("taxes", "payments")]
    assert ("needs_review", reasons) == (doubted["status"], doubted["reasons"])
    assert ("ready", []) == (sure["status"], sure["reasons"])


async def test_discounts_and_charges_are_no_disagreement(sqlite_url: str, tmp_path: Path) -> None:
    amounts = {"line_items": [{"name": "Café", "total": "50"}], "subtotal": "45", "tax": "2.50"}
    between = {"discount": "5", "service_charge": "4.50", "rounding": "-0.01"}
    async with read(sqlite_url, tmp_path) as (service, receipt):
        without = await service.patched(receipt["id"], **amounts, total="51.99")
        explained = await service.patched(receipt["id"], **between)

    assert {"line_items", "total"} == {one["field"] for one in without["review"]["reasons"]}
    assert [] == explained["review"]["reasons"]


async def test_what_an_item_leaves_out_is_null(database_url: str, tmp_path: Path) -> None:
    async with read(database_url, tmp_path) as (service, receipt):
        corrected = await service.patched(receipt["id"], line_items=[{"name": "Café"}])

    assert [{**BARE_ITEM, "name": "Café"}] == corrected["line_items"]


async def test_last_minute_of_time_is_a_time(database_url: str, tmp_path: Path) -> None:
    last = "9999-12-31T23:59:59+00:00"
    async with read(database_url, tmp_path) as (service, receipt):
        assert last == (await service.patched(receipt["id"], issued_at=last))["issued_at"]
