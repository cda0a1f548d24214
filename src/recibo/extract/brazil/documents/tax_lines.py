"""Reads the charged taxes of fiscal documents from their boxes: amount, taxable amount, rate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from recibo.extract.brazil.documents import fiscal_document
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.model import Extracted, TaxLine
from recibo.extract.text import numbers

#: Percentages above this are not rates of a tax on sales.
_HIGHEST_RATE = 50


@dataclass(frozen=True, slots=True)
class TaxBox:
    """The boxes of one tax: the kinds of their labels."""

    name: str
    amount: Sequence[str]
    base: Sequence[str] = ()
    rate: Sequence[str] = ()
    is_informational: bool = False


NFE_BOXES = (
    TaxBox("ICMS", ["icms"], base=["icms_base"]),
    TaxBox("ICMS ST", ["st"], base=["st_base"]),
    TaxBox("Imposto de Importação", ["import_tax"]),
    TaxBox("ICMS UF Remet.", ["icms_origin"]),
    TaxBox("ICMS UF Dest.", ["icms_destination"]),
    TaxBox("FCP", ["fcp"]),
    TaxBox("IPI", ["ipi"]),
    TaxBox("PIS", ["pis"]),
    TaxBox("COFINS", ["cofins"]),
    TaxBox("Tributos", ["all_taxes"], is_informational=True),
)
NFSE_BOXES = (
    TaxBox("ISS", ["iss", "weak_iss"], base=["iss_base"], rate=["iss_rate"]),
    TaxBox("PIS", ["pis"]),
    TaxBox("COFINS", ["cofins"]),
    TaxBox("IBS", ["ibs"], base=["reform_base"], rate=["ibs_rate"]),
    TaxBox("CBS", ["cbs"], base=["reform_base"], rate=["cbs_rate"]),
)


def boxed(document: FiscalDocument, boxes: Sequence[TaxBox]) -> Iterator[Extracted[TaxLine]]:
    """Yield the taxes of the boxes that contain an amount other than zero."""
    for box in boxes:
        found = fiscal_document.amount(document, *box.amount)
        if found is None or not found.value:
            continue
        base = fiscal_document.amount(document, *box.base) if box.base else None
        rate = next(document.form.read(box.rate, _rate), None) if box.rate else None
        line = TaxLine(
            name=box.name,
            rate=rate.value if rate else None,
            base=base.value if base and base.value else None,
            amount=found.value,
            is_informational=box.is_informational,
        )
        yield Extracted(line, found.confidence, found.text, found.page, found.box)


def _rate(text: str) -> Decimal | None:
    """Return the first percentage in a text, or the first number if it has no percent sign."""
    every = [one for one in numbers.amounts(text) if 0 <= one.value <= _HIGHEST_RATE]
    marked = [one for one in every if one.is_percent]
    return next((one.value for one in (*marked, *every) if not one.has_symbol), None)
