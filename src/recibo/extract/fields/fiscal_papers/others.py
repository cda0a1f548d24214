"""Electronic fiscal papers without a type of their own: transport, tickets, power, telecom."""

from dataclasses import replace

from recibo.extract.fields.fiscal_papers import moments, paper, rolls
from recibo.extract.fields.fiscal_papers.paper import Paper
from recibo.extract.model import DocumentType, Found, Header, Moment

LABELS = "others"


def read(document: Paper) -> Header:
    """Read what the key tells and the amount due; the general finders see to the rest."""
    return replace(
        paper.start(document, DocumentType.INVOICE, title="DF-e"),
        merchant_tax_id=paper.issuer_id(document, ()),
        issued_at=_issued_at(document),
        total=paper.amount(document, "payable", "total"),
        document_number=paper.keyed_number(document),
    )


def _issued_at(document: Paper) -> Found[Moment] | None:
    """Return the time of issue, not that of the journey or the payment."""
    labelled = document.form.read(["issued"], moments.first)
    found = (*rolls.stamps_beside_series(document), *labelled)
    return paper.placed(document, paper.of_key_month(document, found))
