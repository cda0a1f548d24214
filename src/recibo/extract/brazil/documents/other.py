"""Reads other electronic fiscal documents: transport, tickets, energy, telecom."""

from dataclasses import replace

from recibo.extract.brazil.documents import fiscal_document, issuer_block, parties, thermal
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.model import Details, DocumentType, Extracted, Header, Moment
from recibo.extract.text import timestamps

LABELS = "other"


def read(document: FiscalDocument) -> Header:
    """Read the fields in the key and the amount due; the general finders find the others."""
    return replace(
        fiscal_document.base_header(document, DocumentType.INVOICE, title="DF-e"),
        merchant_name=issuer_block.name(document),
        merchant_tax_id=fiscal_document.issuer_id(document, ()),
        issued_at=_issued_at(document),
        total=fiscal_document.amount(document, "payable", "total"),
        document_number=fiscal_document.number_from_key(document),
    )


def details(document: FiscalDocument) -> Details:
    """Return the customer."""
    customer = customer_section(document)
    return parties.of_sections(document, parties.Section(0, 0), customer)


def customer_section(document: FiscalDocument) -> parties.Section | None:
    """Return the lines of the last heading of the customer: the first one may be a choice."""
    headings = document.form.every("customer")
    return parties.section_between(document.form, headings[-1] if headings else None, ())


def _issued_at(document: FiscalDocument) -> Extracted[Moment] | None:
    """Return the time of issue, not that of the journey or the payment."""
    labelled = document.form.read(["issued"], timestamps.first)
    found = (*thermal.stamps_near_series(document), *labelled)
    return fiscal_document.with_offset(document, fiscal_document.in_month_of_key(document, found))
