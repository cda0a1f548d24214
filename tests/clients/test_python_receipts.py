"""The Python client against a running server."""

import csv
import datetime as dt
import io
import itertools
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from recibo_client import AsyncRecibo, Receipt, Recibo, errors
from tests.make import jpeg
from tests.serving.running import Server


@pytest.fixture
def lunch(recibo: Recibo, request: pytest.FixtureRequest) -> Receipt:
    """A receipt of this test."""
    return recibo.receipts.extract(jpeg(request.node.name))


def test_path_bytes_and_open_file_are_one_upload(recibo: Recibo, tmp_path: Path) -> None:
    path = tmp_path / "lunch.jpg"
    path.write_bytes(jpeg("lunch"))

    first = recibo.receipts.extract(path)
    second = recibo.receipts.extract(str(path))
    third = recibo.receipts.extract(path.read_bytes())
    with path.open("rb") as file:
        fourth = recibo.receipts.extract(file)

    assert "completed" == first.status
    assert first.merchant_name is not None
    assert "lunch" in first.merchant_name
    assert {first.id} == {second.id, third.id, fourth.id}


def test_name_that_is_not_utf8_is_uploaded(recibo: Recibo, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.jpg")
    path.write_text("Coffee")

    assert "Coffee" == recibo.receipts.extract(path).merchant_name


def test_upload_has_its_options(recibo: Recibo) -> None:
    receipt = recibo.receipts.extract(
        jpeg("options"), accuracy="high", type="invoice", metadata={"project": "apollo", "n": 3}
    )

    assert ("high", "invoice") == (receipt.accuracy, receipt.type)
    assert {"project": "apollo", "n": "3"} == receipt.metadata


def test_own_key_of_another_file_is_a_conflict(recibo: Recibo) -> None:
    recibo.receipts.extract(jpeg("key one"), idempotency_key="invoice-17")

    with pytest.raises(errors.ConflictError) as raised:
        recibo.receipts.extract(jpeg("key two"), idempotency_key="invoice-17")

    assert (409, "conflict") == (raised.value.status, raised.value.code)


def test_unreadable_document_is_an_error_with_its_receipt(recibo: Recibo) -> None:
    with pytest.raises(errors.LowConfidenceError) as raised:
        recibo.receipts.extract(jpeg("unreadable"))

    assert raised.value.receipt_id is not None
    receipt = recibo.receipts.wait(raised.value.receipt_id)
    assert "failed" == receipt.status
    assert receipt.failure is not None
    assert "low_confidence" == receipt.failure.code


def test_upload_reports_its_progress(recibo: Recibo) -> None:
    reports = list[tuple[int, int]]()
    data = jpeg("large" * 50_000)

    recibo.receipts.extract(data, on_upload=lambda sent, size: reports.append((sent, size)))

    assert len(data) == reports[-1][0]
    assert {len(data)} == {size for _, size in reports}
    assert sorted(reports) == reports
    assert len(reports) > 2


def test_list_walks_over_all_pages(recibo: Recibo) -> None:
    made = [
        recibo.receipts.extract(jpeg(f"page {number}"), metadata={"walk": "pages"}).id
        for number in range(5)
    ]

    walked = [one.id for one in recibo.receipts.list(page_size=2, metadata={"walk": "pages"})]
    page = recibo.receipts.list_page(limit=2, metadata={"walk": "pages"})

    assert made[::-1] == walked
    assert made[:2:-1] == [one.id for one in page.data]
    assert page.has_more


def test_correction_keeps_exact_amounts_and_approves(recibo: Recibo, lunch: Receipt) -> None:
    issued = dt.datetime(2025, 3, 14, 12, 41, tzinfo=dt.timezone(dt.timedelta(hours=8)))
    recibo.receipts.correct(
        lunch.id,
        total=Decimal("34.10"),
        currency="MYR",
        issued_at=issued,
        due_date=dt.date(2025, 4, 14),
        line_items=[{"name": "Teh Tarik", "qty": "2", "total": "5.60"}],
        version=lunch.version,
    )
    approved = recibo.receipts.approve(lunch.id)

    assert (Decimal("34.10"), "34.10") == (approved.total, str(approved.total))
    assert (issued, dt.date(2025, 4, 14)) == (approved.issued_at, approved.due_date)
    assert Decimal("5.60") == approved.line_items[0].total
    assert approved.review is not None
    assert "approved" == approved.review.status
    assert {"total", "line_items"} < set(approved.corrected_fields)
    again = recibo.receipts.correct(lunch.id, line_items=approved.line_items)
    assert approved.version == again.version


def test_receipt_of_another_version_is_not_overwritten(recibo: Recibo, lunch: Receipt) -> None:
    recibo.receipts.correct(lunch.id, category="restaurants", version=lunch.version)

    with pytest.raises(errors.ConflictError):
        recibo.receipts.approve(lunch.id, version=lunch.version)

    cleared = recibo.receipts.correct(lunch.id, category=None)
    assert cleared.category is None


def test_filters_find_what_they_name(recibo: Recibo, lunch: Receipt) -> None:
    recibo.receipts.correct(
        lunch.id, total="77.70", currency="BRL", issued_at="2024-02-29T12:00:00-03:00"
    )
    day = dt.date(2024, 2, 29)

    found = recibo.receipts.list(
        after=day, before=day + dt.timedelta(days=1), min_total=Decimal("77.7"), currency="BRL"
    )

    assert [lunch.id] == [one.id for one in found]


def test_invalid_filter_is_named(recibo: Recibo) -> None:
    with pytest.raises(errors.InvalidRequestError) as raised:
        recibo.receipts.list_page(limit=201)

    assert ["limit"] == [one.field for one in raised.value.details]
    assert raised.value.request_id is not None
    assert raised.value.request_id in str(raised.value)


@pytest.mark.parametrize(
    "act",
    [
        lambda recibo, slip: recibo.receipts.list_page(**slip),
        lambda recibo, slip: recibo.receipts.correct("rcp_1", **slip),
    ],
    ids=["filter", "correction"],
)
def test_misspelled_name_is_refused(recibo: Recibo, act: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match=r"'color', only .*category"):
        act(recibo, {"color": "fuel"})


def test_client_shows_its_server_and_not_its_key(recibo: Recibo, server: Server) -> None:
    assert f"Recibo({server.url!r})" == repr(recibo)


def test_details_are_included(recibo: Recibo, lunch: Receipt) -> None:
    detailed = recibo.receipts.get(lunch.id, include=["evidence", "text", "reading", "pages"])

    assert detailed.evidence is not None
    assert detailed.evidence.merchant_name is not None
    assert 1 == detailed.evidence.merchant_name.confidence
    assert detailed.reading is not None
    assert recibo.receipts.get(lunch.id, include="evidence").text is None


def test_file_and_page_are_bytes(recibo: Recibo, lunch: Receipt) -> None:
    assert recibo.receipts.file(lunch.id).startswith(jpeg("test_file"))
    assert b"page 1 turned 0 width 200" == recibo.receipts.page(lunch.id, width=200)
    with pytest.raises(errors.NotFoundError):
        recibo.receipts.page(lunch.id, 2)


def test_export_is_a_file_of_the_format_of_its_ending(
    recibo: Recibo, lunch: Receipt, tmp_path: Path
) -> None:
    recibo.receipts.correct(lunch.id, metadata={"month": "march"})

    path = recibo.receipts.export(tmp_path / "march.csv", metadata={"month": "march"})
    other = recibo.receipts.export(tmp_path / "all.dat", format="jsonl", rows="receipts")

    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    assert [lunch.id] == [row["id"] for row in rows]
    assert lunch.id in {
        Receipt.model_validate_json(line).id for line in other.read_text().splitlines()
    }
    assert {"march.csv", "all.dat"} == {one.name for one in tmp_path.iterdir()}


def test_failed_export_leaves_the_old_file(recibo: Recibo, tmp_path: Path) -> None:
    path = tmp_path / "march.docx"
    path.write_text("old")

    with pytest.raises(errors.InvalidRequestError):
        recibo.receipts.export(path)

    assert "old" == path.read_text()
    assert [path] == list(tmp_path.iterdir())


def test_deleted_receipt_is_not_found(recibo: Recibo, lunch: Receipt) -> None:
    recibo.receipts.delete(lunch.id)

    with pytest.raises(errors.NotFoundError):
        recibo.receipts.get(lunch.id)


def test_ids_are_no_paths(recibo: Recibo) -> None:
    with pytest.raises(errors.NotFoundError):
        recibo.receipts.get("../key")


def test_key_and_events_of_the_organization(recibo: Recibo) -> None:
    assert "scale" == recibo.key().plan
    assert [] == list(itertools.islice(recibo.events.list(type="webhook.test"), 1))


def test_wrong_key_is_unauthorized(server: Server) -> None:
    with (
        Recibo("sk_live_wrong", base_url=f"{server.url}/v1/") as stranger,
        pytest.raises(errors.UnauthorizedError),
    ):
        stranger.key()


def test_server_and_key_come_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECIBO_API_KEY", server.secret)
    monkeypatch.setenv("RECIBO_URL", server.url)

    with Recibo() as client:
        assert "scale" == client.key().plan


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (Recibo, "RECIBO_API_KEY"),
        (lambda: Recibo("sk_live_x\n"), "copied"),
        (lambda: Recibo("sk_live_x", base_url="recibo.example.com"), "https://"),
    ],
    ids=["no key", "broken key", "no URL"],
)
def test_unusable_options_are_named(
    make: Callable[[], Recibo], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECIBO_API_KEY", raising=False)

    with pytest.raises(errors.ConfigurationError, match=named):
        make()


@pytest.mark.parametrize("client", [Recibo, AsyncRecibo])
def test_unusable_proxy_is_named(
    client: type[Recibo | AsyncRecibo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "ftp://proxy.test")

    with pytest.raises(errors.ConfigurationError, match="ftp"):
        client("sk_live_any")


async def test_asynchronous_client_does_the_same(server: Server, tmp_path: Path) -> None:
    async with AsyncRecibo(server.secret, base_url=server.url) as client:
        made = await client.receipts.extract(jpeg("async"), metadata={"kind": "async"})
        await client.receipts.correct(made.id, total="1.00")
        listed = [one async for one in client.receipts.list(metadata={"kind": "async"})]
        path = await client.receipts.export(tmp_path / "all.csv", metadata={"kind": "async"})
        await client.receipts.delete(made.id)
        with pytest.raises(errors.NotFoundError):
            await client.receipts.get(made.id)

    assert [made.id] == [one.id for one in listed]
    assert made.id in path.read_text()
