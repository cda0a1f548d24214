"""The guide for users of other APIs names fields that ours has."""

import re

from pydantic import BaseModel

from recibo.schemas.receipts import DetailedReceipt, FieldEvidence, LineItem, Payment, TaxLine
from tests.house.source import ROOT

PARTS: dict[str, type[BaseModel]] = {
    "": DetailedReceipt,
    "taxes[]": TaxLine,
    "payments[]": Payment,
    "line_items[]": LineItem,
    "evidence.<field>": FieldEvidence,
}


def test_table_names_our_fields() -> None:
    page = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8")
    table = page[page.index("| Recibo | Veryfi") : page.index("**From pixels to shares.**")]
    columns = [row.split("|")[1] for row in table.strip().splitlines()[2:]]

    unknown = []
    for column in columns:
        part = ""
        for name in re.findall(r"`([^`]+)`", column):
            path, _, field = name.rpartition(".")
            # `taxes[]: name` and `line_items[].tax_rate, .discount` go on with the part before.
            part = path or part
            if name in PARTS:
                part = name
            elif field not in PARTS[part].model_fields:
                unknown.append(name)
    assert [] == unknown
