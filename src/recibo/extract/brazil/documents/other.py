"""Electronic fiscal papers without a type of their own: transport, tickets, power, telecom."""

from dataclasses import replace

from recibo.extract.brazil.documents import fiscal_document, issuer_block, thermal
from recibo.extract.brazil.documents.fiscal_document import Paper
from recibo.extract.model import DocumentType, Extracted, Header, Moment
from recibo.extract.text import timestamps

LABELS = "other"


def read(document: Paper) -> Header:
    """Read what the key tells and the amount due; the general finders see to the rest."""
    return replace(
        fiscal_document.start(document, DocumentType.INVOICE, title="DF-e"),
        merchant_name=issuer_block.name(document),
        merchant_tax_id=fiscal_document.issuer_id(document, ()),
        issued_at=_issued_at(document),
        total=fiscal_document.amount(document, "payable", "total"),
        document_number=fiscal_document.keyed_number(document),
    )


def _issued_at(document: Paper) -> Extracted[Moment] | None:
    """Return the time of issue, not that of the journey or the payment."""
    labelled = document.form.read(["issued"], timestamps.first)
    found = (*thermal.stamps_beside_series(document), *labelled)
    return fiscal_document.placed(document, fiscal_document.of_key_month(document, found))
