"""Reads PDFs with embedded e-invoices, and compares each field with the XML.

    python -m benchmarks.einvoices FOLDER

FOLDER has PDFs, for example the public corpus github.com/ZUGFeRD/corpus. Here the XML is read in
another way than in the service: by the names of elements alone, wherever they are.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import pypdfium2 as pdfium
from defusedxml.ElementTree import fromstring

from recibo.extract import pipeline
from recibo.extract.errors import ReadingError
from recibo.extract.model import Extracted
from recibo.schemas import doubts, receipts

_ROOTS = ("CrossIndustryInvoice", "CrossIndustryDocument", "Invoice", "CreditNote")
_SUMS = {
    "total": ("GrandTotalAmount", "TaxInclusiveAmount"),
    "subtotal": ("TaxBasisTotalAmount", "TaxExclusiveAmount"),
}


def main() -> None:
    """Print how many fields of how many documents are as in the XML."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    right: Counter[str] = Counter()
    known: Counter[str] = Counter()
    contradicted: Counter[str] = Counter()
    documents = 0
    for path in sorted(parser.parse_args().folder.rglob("*.pdf")):
        root = _embedded(path.read_bytes())
        if root is None:
            continue
        documents += 1
        try:
            receipt = pipeline.extract(path.read_bytes())
        except ReadingError as error:
            print(f"{path.name}: refused, {type(error).__name__}")
            known["refused"] += 1
            continue
        reading = receipts.reading(receipt)
        wire = reading.model_dump()
        for field, value in _truth(root).items():
            known[field] += 1
            found = _comparable(field, wire)
            right[field] += found == value
            if found != value:
                print(f"{path.name}: {field} {found!r}, in the XML {value!r}")
        for reason in doubts.find(reading, receipts.evidence(receipt), ()):
            if reason.code == "embedded_differs":
                contradicted[str(reason.field)] += 1
                print(f"{path.name}: {reason.field} differs on the page: {_other(receipt, reason)}")
    print(f"{documents} documents with an e-invoice")
    for field, count in known.items():
        print(f"{field:18} {right[field]:4} of {count:4}   differs on page {contradicted[field]}")


def _other(receipt: object, reason: object) -> object:
    field = str(getattr(reason, "field", ""))
    found = getattr(receipt, field, None) or getattr(getattr(receipt, "details", None), field, None)
    if not isinstance(found, Extracted):
        return None
    return found.value, [one.value for one in found.alternatives]


def _embedded(data: bytes) -> Element | None:
    document = pdfium.PdfDocument(data)
    for index in range(document.count_attachments()):
        file = document.get_attachment(index)
        if not file.get_name().lower().endswith(".xml"):
            continue
        try:
            root: Element = fromstring(bytes(file.get_data()))
        except (ParseError, ValueError):
            continue
        if _name(root) in _ROOTS:
            return root
    return None


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _all(element: Element, *names: str) -> Iterator[Element]:
    return (one for one in element.iter() if _name(one) in names)


def _text(element: Element | None) -> str | None:
    return " ".join((element.text or "").split()) or None if element is not None else None


def _truth(root: Element) -> Mapping[str, object]:
    """Return the fields of an e-invoice that it gives."""
    head = next(_all(root, "ExchangedDocument", "HeaderExchangedDocument"), root)
    seller = next(_all(root, "SellerTradeParty", "AccountingSupplierParty"), root)
    buyer = next(_all(root, "BuyerTradeParty", "AccountingCustomerParty"), root)
    currency = _text(next(_all(root, "InvoiceCurrencyCode", "DocumentCurrencyCode"), None))
    dates = next(_all(head, "IssueDateTime", "IssueDate"), None)
    day = re.sub(r"\D", "", "".join(dates.itertext()))[:8] if dates is not None else None
    taxes = [
        one for one in _all(root, "TaxTotalAmount") if one.get("currencyID") in (currency, None)
    ]
    lines = list(_all(root, "IncludedSupplyChainTradeLineItem", "InvoiceLine", "CreditNoteLine"))
    found: dict[str, object] = {
        "document_number": _text(next(_all(head, "ID"), None)),
        "currency": currency,
        "issued_at": day,
        "merchant_name": _text(next(_all(seller, "Name", "RegistrationName"), None)),
        "customer_name": _text(next(_all(buyer, "Name", "RegistrationName"), None)),
        "merchant_tax_id": _tax_id(seller),
        "customer_tax_id": _tax_id(buyer),
        "tax": _decimal(_text(taxes[0] if taxes else None)),
        **{
            name: _decimal(_text(next(_all(root, *elements), None)))
            for name, elements in _SUMS.items()
        },
        "line_items": [
            _decimal(_text(next(_all(line, "LineTotalAmount", "LineExtensionAmount"), None)))
            for line in lines
            if _sold(line)
        ],
    }
    return {name: value for name, value in found.items() if value not in (None, [])}


def _sold(line: Element) -> bool:
    status = _text(next(_all(line, "LineStatusReasonCode"), None))
    product = next(_all(line, "SpecifiedTradeProduct", "Item"), None)
    name = _text(next(_all(product, "Name"), None)) if product is not None else None
    return status not in ("GROUP", "INFORMATION") and name is not None


def _tax_id(party: Element) -> str | None:
    numbers = {}
    for one in _all(party, "SpecifiedTaxRegistration"):
        number = next(_all(one, "ID"), None)
        if number is not None and _text(number):
            numbers[number.get("schemeID")] = re.sub(r"[^0-9A-Za-z]", "", _text(number) or "")
    return (numbers.get("VA") or next(iter(numbers.values()), "")).upper() or None


def _decimal(text: str | None) -> Decimal | None:
    return Decimal(text) if text else None


def _comparable(field: str, wire: Mapping[str, object]) -> object:
    value = wire[field]
    if field == "line_items" and isinstance(value, (list, tuple)):
        return [_decimal(item["total"]) for item in value]
    if field == "issued_at":
        return re.sub(r"\D", "", str(value))[:8] if value else None
    if field in ("total", "subtotal", "tax"):
        return _decimal(value if isinstance(value, str) else None)
    return value


if __name__ == "__main__":
    main()
