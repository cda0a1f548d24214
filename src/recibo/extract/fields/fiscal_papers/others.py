"""Electronic fiscal papers without a type of their own: transport, tickets, power, telecom."""

from dataclasses import replace

from recibo.extract.fields.fiscal_papers import paper
from recibo.extract.fields.fiscal_papers.paper import Paper
from recibo.extract.model import DocumentType, Header

LABELS = "others"


def read(document: Paper) -> Header:
    """Read what the key tells and the amount due; the general finders see to the rest."""
    return replace(
        paper.start(document, DocumentType.INVOICE, title="DF-e"),
        merchant_tax_id=paper.issuer_id(document, ()),
        total=paper.amount(document, "payable", "total"),
        document_number=paper.keyed_number(document),
    )
