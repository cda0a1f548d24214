"""Extracted receipts with all fields."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any

from recibo.extract.model import (
    Alternative,
    Extracted,
    LineItem,
    Moment,
    Receipt,
)
from tests import make

MOMENT = Moment(dt.date(2026, 3, 14), dt.time(8, 17, 42), dt.timedelta(hours=-3))


def item(name: str, total: str, qty: str | None = None) -> Extracted[LineItem]:
    """Return one line of what was bought."""
    printed = LineItem(name, Decimal(qty) if qty else None, None, Decimal(total))
    return Extracted(printed, 0.95, f"{name} {total}")


def sure(merchant: str = "Padaria Aurora", total: str = "42.59", **fields: Any) -> Receipt:
    """Return a receipt without any doubt; `fields` replace what it says."""
    read = make.reading(merchant, confidence=0.97, issued=MOMENT, total=total)
    amount = Extracted(Decimal(total), 0.97, total)
    known = {
        "merchant_name": Extracted(merchant, 0.97, merchant),
        "total": amount,
        "subtotal": amount,
        "document_number": Extracted("12345", 0.97, "No 12345"),
        "line_items": (item("Pão francês", "10.11", "0.535"), item("Café", "32.48"))
        if total == "42.59"
        else (),
    }
    return replace(read, **{**known, **fields})


def doubtful_total() -> Receipt:
    """Return a receipt whose total is doubtful and has other candidates."""
    total = Extracted(
        Decimal("42.59"), 0.4, "TOTAL 42,59",
        alternatives=(Alternative(Decimal("45.29"), 0.3), Alternative(Decimal("4.259"), 0.1)),
    )  # fmt: skip
    return replace(sure(), total=total, confidence=0.4)
