"""Identifies Brazilian fiscal documents and reads their header fields."""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import zip_longest

from recibo.extract import resources
from recibo.extract.brazil.access_keys import Model
from recibo.extract.brazil.documents import (
    cfe,
    document_key,
    ecf,
    fiscal_document,
    nfce,
    nfe,
    nfse,
    other,
    parties,
    portal,
    taxes,
    thermal,
)
from recibo.extract.brazil.documents.document_key import FoundKey
from recibo.extract.brazil.documents.fiscal_document import FiscalDocument
from recibo.extract.layout import forms
from recibo.extract.layout.forms import Form, Label, Vocabulary
from recibo.extract.model import Details, Extracted, Header, LineItem, TaxLine, TextPage
from recibo.extract.text import normalized_lines
from recibo.extract.text.normalized_lines import normalize_label


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fiscal document: the name of its label file, and its reader."""

    labels: str
    read: Callable[[FiscalDocument], Header]
    #: Reads the parties.
    details: Callable[[FiscalDocument], Details]
    #: Finds the part of the page that is about the customer.
    customer: Callable[[FiscalDocument], parties.Section | None]
    #: The boxes of charged taxes.
    boxes: Sequence[taxes.TaxBox] = ()


_NFE = Kind(nfe.LABELS, nfe.read, nfe.details, nfe.customer_section, taxes.NFE_BOXES)
_NFCE = Kind(nfce.LABELS, nfce.read, parties.of_receipt, parties.consumer_section)
_CFE = Kind(cfe.LABELS, cfe.read, parties.of_receipt, parties.consumer_section)
_ECF = Kind(ecf.LABELS, ecf.read, parties.of_receipt, parties.consumer_section)
_NFSE = Kind(nfse.LABELS, nfse.read, nfse.details, nfse.customer_section, taxes.NFSE_BOXES)
_OTHER = Kind(other.LABELS, other.read, other.details, other.customer_section)

_BY_MODEL = {Model.NFE: _NFE, Model.NFCE: _NFCE, Model.CFE: _CFE}
_BY_TITLE = {"other": _OTHER, "nfce": _NFCE, "nfse": _NFSE, "cfe": _CFE, "nfe": _NFE}

# A coupon has its title on a separate line; reports of the same printer count coupons.
_COUPON = normalized_lines.of([normalize_label("Cupom Fiscal")])
_COUNTER = re.compile(r"C[OQ0]{2}\s*[:;.]?\s*[0-9OoIl]{4,9}")
# Every fiscal document has a label of its issuer's tax id.
_TAX_ID = re.compile("|".join(map(normalize_label, ("CNPJ", "CPF", "C.G.C"))))
# Only an NFC-e has this title, whether its issuer can be read or not.
_WHOLE_TITLE = normalize_label("Documento Auxiliar da Nota Fiscal de Consumidor")
# `Documento Auxiliar da` may be in front of a title; a longer text is a sentence about one.
_MOST_LETTERS_BEFORE = 24
_VERBS = tuple(map(normalize_label, ("será", "serão", "foi")))
# So many mentions of a title are examined.
_MOST_TITLES = 20
# Headings that only an NFS-e has together.
_OF_SERVICES = (("town_hall", "provider", "customer"), ("customer", "services"))
# The web page of a tax office on which consumers look up their NFC-e.
_LOOKUP_PAGE = re.compile(r"GO[VU]BR.{0,30}NFCE|NFCE.{0,30}GO[VU]BR")


@dataclass(frozen=True, slots=True)
class Identified:
    """A fiscal document and its kind."""

    kind: Kind
    document: FiscalDocument

    @property
    def is_service_note(self) -> bool:
        """Whether it is an NFS-e, which has no table of items."""
        return self.kind is _NFSE

    @property
    def has_product_table(self) -> bool:
        """Whether it is a DANFE, whose products are in a table across the page."""
        return self.kind is _NFE

    @property
    def has_boxes(self) -> bool:
        """Whether its amounts are in boxes, and nowhere else."""
        return bool(self.kind.boxes)

    def line_items(self) -> tuple[Extracted[LineItem], ...]:
        """Return the line items if this kind of document has its own layout for them."""
        readers = {thermal.LABELS: portal.line_items, other.LABELS: other.line_items}
        reader = readers.get(self.kind.labels)
        return reader(self.document) if reader else ()

    def end_of_items(self) -> int | None:
        """Return the line below the items of a thermal receipt; None for other documents."""
        is_thermal = self.kind.labels == thermal.LABELS
        return thermal.end_of_items(self.document) if is_thermal else None

    def without_sums(
        self, items: tuple[Extracted[LineItem], ...]
    ) -> tuple[Extracted[LineItem], ...]:
        """Return the items that were sold: no totals, no discounts, no cancelled items."""
        if self.kind.labels != thermal.LABELS:
            return items
        sold = list(thermal.without_cancelled(self.document, items))
        return tuple(thermal.without_sum_rows(self.document, sold))

    def tax_lines(self) -> tuple[Extracted[TaxLine], ...]:
        """Return the charged taxes, and the estimated ones that law 12.741/2012 requires."""
        charged = taxes.boxed(self.document, self.kind.boxes)
        return (*charged, *taxes.lines(self.document))

    def discount(self) -> Extracted[Decimal] | None:
        """Return the discount in its box."""
        every = self.document.form.read(["discount"], fiscal_document.first_amount)
        return next((found for found in every if found.value), None)

    def read(self) -> Header:
        """Read the header fields."""
        return self.kind.read(self.document)

    def details(self) -> Details:
        """Read the parties."""
        return self.kind.details(self.document)

    def lines_of_others(self) -> frozenset[int]:
        """Return the indices of the lines that are not about the issuer."""
        return parties.lines_of_others(self.document, self.kind.customer(self.document))


def identify(text_pages: Sequence[TextPage]) -> Identified | None:
    """Identify a fiscal document and find its labels; None if it is not one.

    Reports of fiscal printers (LEITURA X, REDUÇÃO Z), card slips and payment slips are not fiscal
    documents.
    """
    key = document_key.read(text_pages)
    kind = _kind_of(text_pages, key)
    if kind is None:
        return None
    return Identified(kind, FiscalDocument.of(text_pages, key, labels=kind.labels))


def read(text_pages: Sequence[TextPage]) -> Header | None:
    """Read the header fields of a fiscal document; None if it is not one."""
    document = identify(text_pages)
    return document.read() if document else None


def _kind_of(text_pages: Sequence[TextPage], key: FoundKey | None) -> Kind | None:
    """Return the kind of document: by the model in its key, else by its titles."""
    if key is not None:
        return _NFSE if key.key.model is None else _BY_MODEL.get(key.key.model, _OTHER)
    normalized = [
        normalize_label(line.text) for text_page in text_pages for line in text_page.lines
    ]
    is_coupon = _is_coupon(text_pages, normalized)
    # On narrow receipts a title takes two lines.
    pairs = map("".join, zip_longest(normalized, normalized[1:], fillvalue=""))
    if any(_WHOLE_TITLE in pair or _LOOKUP_PAGE.search(pair) for pair in pairs):
        return _NFCE
    form = Form.of(text_pages, _titles())
    # OCR misses small and faint titles; a municipal NFS-e still has its other headings.
    is_municipal = any(all(map(form.first, headings)) for headings in _OF_SERVICES)
    untitled = _ECF if is_coupon else _NFSE if is_municipal else None
    if not any(_TAX_ID.search(line) for line in normalized):
        return untitled
    titled = (
        kind
        for title, kind in _BY_TITLE.items()
        if any(not _is_in_sentence(form, label) for label in form.every(title)[:_MOST_TITLES])
    )
    return next(titled, untitled)


def _is_in_sentence(form: Form, label: Label) -> bool:
    """Return whether many words lead to a title, or a verb follows it.

    `Dispensada a emissão de nota fiscal`, `NFS-e será enviada por e-mail`
    """
    if form.lines[label.line].text[label.end :].startswith(_VERBS):
        return True
    left, letters = label.box.x0, 0
    for word in reversed(form.lines[label.line].words_between(0, label.start)):
        if left - word.box.x1 > forms.WIDEST_GAP * label.box.height:
            break
        left, letters = word.box.x0, letters + len(normalize_label(word.text))
        if letters > _MOST_LETTERS_BEFORE:
            return True
    return False


@functools.cache
def _titles() -> Vocabulary:
    return forms.vocabulary(resources.table("brazil", "titles.toml"))


def _is_coupon(text_pages: Sequence[TextPage], normalized: Sequence[str]) -> bool:
    has_title = any(_is_coupon_title(line) for line in normalized)
    texts = (line.text.upper() for text_page in text_pages for line in text_page.lines)
    return has_title and any(_COUNTER.search(text) for text in texts)


def _is_coupon_title(line: str) -> bool:
    """Return whether a normalized line is a coupon title, with at most two errors."""
    near = _COUPON.match(line, 0)
    return near is not None and near[1] == len(line)
