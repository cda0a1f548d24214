"""Corrections and approvals of completed receipts by people and API keys.

What the machine read is kept with the corrected reading. Correcting bills nothing.
"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from recibo.errors import Conflict
from recibo.lib import clock
from recibo.schemas import amounts, doubts
from recibo.schemas.actor import Actor
from recibo.schemas.corrections import Correction
from recibo.schemas.receipts import Evidence, Reading, Receipt, ReviewReason
from recibo.schemas.states import AuditAction, EventType, ReceiptStatus, ResourceType
from recibo.services import audit
from recibo.services.reading import duplicates, receipts, rollups, stored_readings
from recibo.store import scope, tables
from recibo.store.db import Session

#: Each changed field with its value before and after.
Changes = Mapping[str, Mapping[str, Any]]

_NOT_OF_THE_READING = {"metadata", "approved", "version"}


async def apply(session: Session, actor: Actor, receipt_id: str, correction: Correction) -> Receipt:
    """Change a receipt inside the caller's transaction and return it.

    Raises:
        NotFound: the actor's org has no such receipt.
        Conflict: it is not completed, or has another version.
        ValidationFailed: an amount has more decimals than the currency.
    """
    await duplicates.lock(session, actor.org_id)
    row = await receipts.locked_row_of(session, actor, receipt_id)
    if row.status != ReceiptStatus.COMPLETED:
        message = f"Only a completed receipt can be changed; this one is {row.status}."
        raise Conflict(message)
    if correction.version is not None and correction.version != row.version:
        message = (
            f"The receipt has changed: it has version {row.version} by now. "
            "Get it again and repeat the change."
        )
        raise Conflict(message)
    entry = rollups.entry_of(row)
    changes = {
        **_correct(row, correction),
        **await _replace_metadata(session, actor, row, correction),
    }
    was_approved = row.approved_at is not None
    now = clock.now()
    is_approval = _approve(row, actor, correction, changes, now)
    is_approved = row.approved_at is not None
    if was_approved and not is_approved:
        changes["approved"] = {"before": True, "after": False}
    if not changes and not is_approval:
        return await receipts.render(session, row, actor=actor)
    row.version += 1
    row.updated_at = now
    await stored_readings.judge_again(session, row)
    await rollups.change(session, actor.org_id, before=entry, after=rollups.entry_of(row))
    await _announce(session, actor, row, changes, is_approval=is_approval)
    return await receipts.render(session, row, actor=actor)


def doubts_after(
    receipt: Receipt, evidence: Evidence | None, correction: Correction
) -> list[ReviewReason]:
    """Return why a person should look at a receipt once it is corrected; nothing is stored."""
    before = Reading.model_validate(receipt.model_dump(include=set(Reading.model_fields)))
    merged, given = _merged(before, correction)
    changed = {name for name in given if getattr(merged, name) != getattr(before, name)}
    return doubts.find(merged, evidence, {*receipt.corrected_fields, *changed})


def _merged(before: Reading, correction: Correction) -> tuple[Reading, dict[str, Any]]:
    """Return a reading with a correction, and the fields that are given."""
    given = correction.model_dump(include=correction.model_fields_set - _NOT_OF_THE_READING)
    return Reading.model_validate({**before.model_dump(), **given}), given


def _correct(row: tables.Receipt, correction: Correction) -> dict[str, Mapping[str, Any]]:
    before = stored_readings.current(row)
    merged, given = _merged(before, correction)
    amounts.check_decimals(merged, before, given)
    after = amounts.respelled(merged)
    old, new = (one.model_dump(mode="json") for one in (before, after))
    changes = {
        name: {"before": old[name], "after": new[name]} for name in new if old[name] != new[name]
    }
    if changes:
        row.machine_reading = row.machine_reading or row.reading
        # An amount also changes when its currency does: that was not corrected.
        by_hand = given.keys() & changes.keys()
        row.corrected_fields = sorted({*(row.corrected_fields or ()), *by_hand})
        stored_readings.put(row, after)
    return dict(changes)


async def _replace_metadata(
    session: Session, actor: Actor, row: tables.Receipt, correction: Correction
) -> dict[str, Mapping[str, Any]]:
    given = correction.metadata
    if given is None or given == row.tags:
        return {}
    change = {"before": dict(row.tags), "after": dict(given)}
    row.tags = dict(given)
    old = scope.deleting(actor, tables.ReceiptTag)
    await session.execute(old.where(tables.ReceiptTag.receipt_id == row.id))
    session.add_all(
        tables.ReceiptTag(receipt_id=row.id, org_id=row.org_id, key=key, value=value)
        for key, value in given.items()
    )
    return {"metadata": change}


def _approve(
    row: tables.Receipt, actor: Actor, correction: Correction, changes: Changes, now: dt.datetime
) -> bool:
    """Approve the receipt or withdraw its approval; return whether it was approved now."""
    is_changed = bool(changes.keys() - {"metadata"})
    if correction.approved and (row.approved_at is None or is_changed):
        row.approved_at, row.approved_by = now, actor.created_by
        return True
    if correction.approved is False or (is_changed and not correction.approved):
        row.approved_at = row.approved_by = None
    return False


async def _announce(
    session: Session, actor: Actor, row: tables.Receipt, changes: Changes, *, is_approval: bool
) -> None:
    resource = (ResourceType.RECEIPT, row.id)
    if changes:
        before, after = (
            {name: change[side] for name, change in changes.items()} for side in ("before", "after")
        )
        audit.record(
            session, actor, AuditAction.RECEIPT_CORRECTED,
            resource=resource, before=before, after=after,
        )  # fmt: skip
        await receipts.publish_change(session, row, EventType.RECEIPT_CORRECTED, changes=changes)
    if is_approval:
        audit.record(
            session, actor, AuditAction.RECEIPT_APPROVED,
            resource=resource, after={"version": row.version},
        )  # fmt: skip
        await receipts.publish_change(session, row, EventType.RECEIPT_APPROVED)
