"""Periodic jobs are independent of each other, and stop when their budget is spent."""

import asyncio
from dataclasses import replace

import pytest
from prometheus_client import REGISTRY

from recibo.schemas.actor import Actor
from recibo.schemas.ids import ReceiptId
from recibo.services import org_deletion
from recibo.store.db import Database
from recibo.worker.jobs import Budget, Job
from tests import background, waiting
from tests.core import Core


async def nothing(_: Budget) -> None:
    """Do nothing."""


def metric(name: str, job: str) -> float:
    """Return a metric of a job, 0 before there is one."""
    return REGISTRY.get_sample_value(name, {"job": job}) or 0.0


async def test_large_org_that_is_deleted_delays_no_other_job(
    parts: Core, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if its rows never ended: everything else is done meanwhile, time and again."""
    portions = 0

    async def purge(_: Database) -> list[ReceiptId]:
        nonlocal portions
        portions += 1
        await asyncio.sleep(0)
        return [ReceiptId("rcp_gone")]

    monkeypatch.setattr(org_deletion, "purge", purge)
    receipt_id = (await parts.submit(actor)).receipt_id
    parts.carrier.added.clear()
    others = {job.name for job in parts.periodic_tasks.upkeep} - {"purge-orgs"} | {"add-readings"}
    before = {name: metric("recibo_job_last_success_timestamp_seconds", name) for name in others}

    async def have_all_run() -> bool:
        return all(
            metric("recibo_job_last_success_timestamp_seconds", name) != time
            for name, time in before.items()
        )

    quick = [replace(job, every_seconds=0.05) for job in parts.periodic_tasks.upkeep]
    async with (
        asyncio.timeout(60),
        parts.periodic_tasks.enqueuing.repeating(parts.database, is_run_at_start=True),
        background.running(parts.database, upkeep=quick),
    ):
        await waiting.until(have_all_run)

    assert portions > 0
    assert receipt_id in parts.carrier.added


async def test_job_whose_budget_is_spent_goes_on_at_its_next_run(
    parts: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = 5
    (job,) = (one for one in parts.periodic_tasks.jobs if one.name == "purge-orgs")
    stopping = asyncio.Event()

    async def purge(_: Database) -> list[ReceiptId]:
        nonlocal left
        left -= 1
        if left == 3:
            stopping.set()
        return [ReceiptId("rcp_gone")] if left else []

    monkeypatch.setattr(org_deletion, "purge", purge)
    await job.run_once(parts.database, stopping)
    after_first = left
    await job.run_once(parts.database)

    assert (3, 0) == (after_first, left)


def test_budget_is_used_up_when_its_time_has_passed() -> None:
    assert Budget(0).is_spent
    assert not Budget(60).is_spent


def test_budget_is_used_up_when_its_process_stops() -> None:
    stopping = asyncio.Event()
    budget = Budget(60, stopping)
    stopping.set()

    assert budget.is_spent


async def test_failure_is_counted_and_is_no_success(parts: Core) -> None:
    async def fail(_: Budget) -> None:
        raise OSError

    failures = metric("recibo_job_failures_total", "tried")
    runs = metric("recibo_job_seconds_count", "tried")
    before = metric("recibo_job_last_success_timestamp_seconds", "tried")
    await Job("tried", 30, fail).run_once(parts.database)
    failed_at = metric("recibo_job_last_success_timestamp_seconds", "tried")
    await Job("tried", 30, nothing).run_once(parts.database)

    assert failures + 1 == metric("recibo_job_failures_total", "tried")
    assert runs + 2 == metric("recibo_job_seconds_count", "tried")
    assert before == failed_at < metric("recibo_job_last_success_timestamp_seconds", "tried")


async def test_job_runs_in_one_process_at_a_time_unless_each_must(postgres_url: str) -> None:
    database, other = Database(postgres_url), Database(postgres_url)
    ran = list[str]()

    def job(name: str, *, is_shared: bool) -> Job:
        async def work(_: Budget) -> None:
            ran.append(name)

        return Job(name, 30, work, is_shared=is_shared)

    async with other.advisory_lock("job:shared"), other.advisory_lock("job:own"):
        await job("shared", is_shared=True).run_once(database)
        await job("own", is_shared=False).run_once(database)
    await database.close()
    await other.close()

    assert ["own"] == ran
