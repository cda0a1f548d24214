"""Compares a second reading with the first: only an improvement is stored and billed."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from recibo.schemas.receipts import Reading

#: The fields that changed, each with its value before and after; `confidence` may be one of them.
Changes: TypeAlias = Mapping[str, tuple[Any, Any]]

# With every field the same, people see a difference from one percent on; less is worth no credit.
_LEAST_GAIN = 0.01


def improvement(stored: Reading, new: Reading) -> Changes | None:
    """Return what a new reading improves; None when it is worse, which lower confidence makes it.

    It improves a receipt when it changes a field or, with all fields the same, when its confidence
    is higher by one percent at least. Otherwise it confirms the stored reading.
    """
    if new.confidence < stored.confidence:
        return None
    before, after = (one.model_dump(mode="json") for one in (stored, new))
    changes = {
        name: (before[name], after[name])
        for name in after
        if name != "confidence" and before[name] != after[name]
    }
    # Both have four digits; their difference has more.
    is_surer = round(new.confidence - stored.confidence, 4) >= _LEAST_GAIN
    if is_surer:
        changes["confidence"] = (stored.confidence, new.confidence)
    return changes
