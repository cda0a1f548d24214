"""Writes the receipts of a month, read or approved, to a CSV file: expenses_csv.py 2026-03 OUT."""

import datetime as dt
import sys

from recibo_client import Recibo

try:
    month, output = sys.argv[1:]
    first = dt.date.fromisoformat(f"{month}-01")
except ValueError:
    sys.exit(__doc__)
following = (first + dt.timedelta(days=31)).replace(day=1)

with Recibo() as recibo:
    recibo.receipts.export(output, format="csv", status="completed", after=first, before=following)
    doubtful = recibo.receipts.list(after=first, before=following, review="needs_review")
    print(sum(1 for _ in doubtful), "of them need review: see the column review.")
