"""What the tools need: receipts, here or on a server."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol

#: A receipt as the tools return it.
Receipt = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Upload:
    """A document to read."""

    content: bytes
    #: Its name, or its path.
    name: str
    #: A hint; empty for none.
    type: str = ""
    accuracy: str = "standard"


@dataclass(frozen=True, slots=True)
class Search:
    """Which receipts; an empty value matches all."""

    query: str = ""
    merchant: str = ""
    #: Dates as printed: from this one on, and before this one.
    after: str = ""
    before: str = ""
    currency: str = ""
    category: str = ""
    review: str = ""


class Group(StrEnum):
    """What spending is summed by."""

    MONTH = "month"
    CATEGORY = "category"
    MERCHANT = "merchant"


class Receipts(Protocol):
    """A collection of receipts. All methods raise a ServiceError that says what is wrong."""

    async def extract(self, upload: Upload) -> Receipt:
        """Read a document; one that was read before gives the same receipt."""

    async def get(self, receipt_id: str) -> Receipt:
        """Return a receipt."""

    async def search(self, search: Search, limit: int) -> list[Receipt]:
        """Return the receipts that match, the newest first."""

    async def correct(self, receipt_id: str, changes: Mapping[str, Any]) -> Receipt:
        """Change fields of a receipt."""

    async def page(self, receipt_id: str, number: int) -> bytes:
        """Return a page as WebP."""


def spending(receipts: Iterable[Receipt], group: Group) -> list[dict[str, Any]]:
    """Return what receipts add up to, by currency, which are never added to each other."""
    sums: dict[str, dict[str, list[Decimal]]] = defaultdict(lambda: defaultdict(list))
    for receipt in receipts:
        if receipt["total"] is not None:
            name = _group_of(receipt, group)
            sums[receipt["currency"] or "unknown"][name].append(Decimal(receipt["total"]))
    return [
        {
            "currency": currency,
            "receipts": sum(len(totals) for totals in groups.values()),
            "total": str(sum((sum(totals) for totals in groups.values()), Decimal(0))),
            f"by_{group}": [
                {"name": name, "receipts": len(totals), "total": str(sum(totals))}
                for name, totals in sorted(groups.items())
            ],
        }
        for currency, groups in sorted(sums.items())
    ]


def _group_of(receipt: Receipt, group: Group) -> str:
    field = {
        Group.MONTH: (receipt["issued_at"] or "")[:7],
        Group.CATEGORY: receipt["category"],
        Group.MERCHANT: receipt["merchant_name"],
    }
    return field[group] or "unknown"
