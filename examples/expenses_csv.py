"""Writes the approved and ready receipts of a month to a CSV file: expenses_csv.py 2026-03 OUT."""

import csv
import datetime as dt
import sys

from recibo_client import Recibo

FIELDS = ("issued_at", "merchant_name", "category", "total", "currency", "document_number", "id")

try:
    month, output = sys.argv[1:]
    first = dt.date.fromisoformat(f"{month}-01")
except ValueError:
    sys.exit(__doc__)
following = (first + dt.timedelta(days=31)).replace(day=1)

with Recibo() as recibo, open(output, "w", newline="", encoding="utf-8") as file:
    rows = csv.DictWriter(file, FIELDS, extrasaction="ignore")
    rows.writeheader()
    unready = 0
    for receipt in recibo.receipts.list(after=first, before=following, status="completed"):
        if receipt.review and receipt.review.status != "needs_review":
            rows.writerow(receipt.model_dump(mode="json"))
        else:
            unready += 1
print(f"{unready} more of {month} need review" if unready else "All are written.")
