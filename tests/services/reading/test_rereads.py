"""What counts as an improvement when a document is read again."""

from typing import Any

import pytest

from recibo.schemas import receipts
from recibo.schemas.receipts import Reading
from recibo.services.reading import rereads
from tests import make


def reading(confidence: float = 0.9, **changes: Any) -> Reading:
    """Return a reading with some fields replaced."""
    read = receipts.reading(make.reading("Aurora", total="12", confidence=confidence))
    return read.model_copy(update=changes)


@pytest.mark.parametrize(
    "new",
    [reading(0.8999), reading(0.8999, merchant_name="Padaria Aurora")],
    ids=["less sure", "less sure and other"],
)
def test_less_confident_reading_is_worse(new: Reading) -> None:
    assert rereads.improvement(reading(), new) is None


@pytest.mark.parametrize("new", [reading(), reading(0.9099)], ids=["equal", "hardly surer"])
def test_equal_reading_improves_nothing(new: Reading) -> None:
    assert {} == rereads.improvement(reading(), new)


@pytest.mark.parametrize(
    ("new", "changes"),
    [
        (reading(0.91), {"confidence": (0.9, 0.91)}),
        (reading(total="12.90"), {"total": (reading().total, "12.90")}),
        (
            reading(0.95, merchant_name="Padaria"),
            {"merchant_name": ("Aurora", "Padaria"), "confidence": (0.9, 0.95)},
        ),
        (reading(0.905, tax="1.00"), {"tax": (None, "1.00")}),
    ],
)
def test_changes_are_listed(new: Reading, changes: dict[str, Any]) -> None:
    assert changes == rereads.improvement(reading(), new)
