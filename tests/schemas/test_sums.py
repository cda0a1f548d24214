"""Whether taxes and payments add up to the amounts that are their sums."""

from typing import Any

import pytest

from recibo.schemas import doubts, receipts
from recibo.schemas.receipts import Payment, Reading, TaxLine
from recibo.schemas.states import ReviewCode
from tests import receipts as samples

KEY = "35250311222333000181650010000123451000864157"


def reading(**fields: Any) -> Reading:
    """Return a reading of which everything else is sure."""
    return receipts.reading(samples.sure(total="50.00")).model_copy(update=fields)


def disagreeing(read: Reading) -> list[str | None]:
    """Return the fields whose amounts do not add up."""
    found = doubts.find(read, None, ())
    return [one.field for one in found if one.code is ReviewCode.AMOUNTS_DISAGREE]


def taxes(*amounts: str | None, informational: bool = False) -> tuple[TaxLine, ...]:
    return tuple(TaxLine(amount=one, informational=informational) for one in amounts)


def payments(*amounts: str | None, tendered: str | None = None) -> tuple[Payment, ...]:
    return tuple(Payment(method="cash", amount=one, tendered=tendered) for one in amounts)


EQUAL_TAXES: dict[str, dict[str, Any]] = {
    "several rates": {"taxes": taxes("4.00", "1.50"), "tax": "5.50"},
    "rounding": {"taxes": taxes("4.00", "1.50"), "tax": "5.45"},
    "whole units": {"taxes": taxes("400", "150"), "tax": "545", "currency": "JPY"},
    "no tax": {"taxes": taxes("4.00"), "tax": None},
    "no lines": {"tax": "5.50"},
    "an unknown amount": {"taxes": taxes("4.00", None), "tax": "5.50"},
    "for information": {"taxes": taxes("4.00", informational=True), "tax": "5.50"},
    "some for information": {
        "taxes": (*taxes("4.00"), *taxes("5.50", informational=True)),
        "tax": "5.50",
    },
    "one of the taxes of an NF-e": {
        "taxes": taxes("4.00", "1.50"),
        "tax": "4.00",
        "type": "nfe",
    },
    "one of the taxes of an NFS-e": {
        "taxes": taxes("4.00", "1.50"),
        "tax": "4.00",
        "type": "nfse",
    },
    "one of the taxes of a fiscal document": {
        "taxes": taxes("4.00", "1.50"),
        "tax": "4.00",
        "document_key": KEY,
    },
}
UNEQUAL_TAXES: dict[str, dict[str, Any]] = {
    "too little": {"taxes": taxes("4.00", "1.50"), "tax": "5.56"},
    "too much": {"taxes": taxes("4.00", "1.50"), "tax": "5.44"},
    "one line": {"taxes": taxes("4.00"), "tax": "5.50", "type": "invoice"},
    "minor units": {"taxes": taxes("4.000"), "tax": "4.006", "currency": "BHD"},
}
EQUAL_PAYMENTS: dict[str, dict[str, Any]] = {
    "in parts": {"payments": payments("20.00", "30.00")},
    "with change": {"payments": payments("50.00", tendered="100.00")},
    "cash is rounded": {"payments": payments("49.95")},
    "printed rounding": {"payments": payments("49.60"), "rounding": "-0.40"},
    "the total before its rounding": {"payments": payments("50.40"), "rounding": "-0.40"},
    "a tip on the slip of the card": {"payments": payments("45.00"), "tip": "5.00"},
    "a tip that the total lacks": {"payments": payments("55.00"), "tip": "5.00"},
    "a refund": {"payments": payments("50.00"), "total": "-50.00"},
    "a charge and a tip": {
        "payments": payments("57.00"),
        "service_charge": "5.00",
        "tip": "2.00",
    },
    "a part of an invoice": {"payments": payments("20.00"), "type": "invoice"},
    "no total": {"payments": payments("20.00"), "total": None},
    "no payments": {},
    "an unknown amount": {"payments": payments("20.00", None)},
}
UNEQUAL_PAYMENTS: dict[str, dict[str, Any]] = {
    "too little": {"payments": payments("5.00")},
    "too much": {"payments": payments("20.00", "30.06")},
    "cash with its change": {"payments": payments("100.00", tendered="100.00")},
    "another tip": {"payments": payments("45.00"), "tip": "4.00"},
}


@pytest.mark.parametrize("name", EQUAL_TAXES)
def test_taxes_that_add_up_are_no_doubt(name: str) -> None:
    assert [] == disagreeing(reading(**EQUAL_TAXES[name]))


@pytest.mark.parametrize("name", UNEQUAL_TAXES)
def test_taxes_that_do_not_add_up_are_a_doubt(name: str) -> None:
    assert ["taxes"] == disagreeing(reading(**UNEQUAL_TAXES[name]))


@pytest.mark.parametrize("name", EQUAL_PAYMENTS)
def test_payments_that_add_up_are_no_doubt(name: str) -> None:
    assert "payments" not in disagreeing(reading(**EQUAL_PAYMENTS[name]))


@pytest.mark.parametrize("name", UNEQUAL_PAYMENTS)
def test_payments_that_do_not_add_up_are_a_doubt(name: str) -> None:
    assert ["payments"] == disagreeing(reading(**UNEQUAL_PAYMENTS[name]))
