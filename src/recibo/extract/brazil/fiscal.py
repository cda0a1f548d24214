"""Brazilian fiscal documents: which kind of paper lies there, and its header fields."""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from recibo.extract import resources
from recibo.extract.brazil.access_keys import Model
from recibo.extract.brazil.documents import (
    cfe,
    document_key,
    ecf,
    nfce,
    nfe,
    nfse,
    other,
    portal,
    thermal,
)
from recibo.extract.brazil.documents.document_key import Keyed
from recibo.extract.brazil.documents.fiscal_document import Paper
from recibo.extract.layout import forms
from recibo.extract.layout.forms import Form, Vocabulary
from recibo.extract.model import Extracted, Header, LineItem, TextPage
from recibo.extract.text import fuzzy_labels
from recibo.extract.text.squeezed import squeeze


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of paper: the labels to open it with and its reader."""

    labels: str
    read: Callable[[Paper], Header]


_NFE = Kind(nfe.LABELS, nfe.read)
_NFCE = Kind(nfce.LABELS, nfce.read)
_CFE = Kind(cfe.LABELS, cfe.read)
_ECF = Kind(ecf.LABELS, ecf.read)
_NFSE = Kind(nfse.LABELS, nfse.read)
_OTHER = Kind(other.LABELS, other.read)

_BY_MODEL = {Model.NFE: _NFE, Model.NFCE: _NFCE, Model.CFE: _CFE}
_BY_TITLE = {"other": _OTHER, "nfce": _NFCE, "nfse": _NFSE, "cfe": _CFE, "nfe": _NFE}

# The title of a coupon stands on a line of its own; reports of the same printer count coupons.
_COUPON = fuzzy_labels.of([squeeze("Cupom Fiscal")])
_COUNTER = re.compile(r"C[OQ0]{2}\s*[:;.]?\s*[0-9OoIl]{4,9}")
# Every fiscal paper names its issuer's tax id.
_TAX_ID = re.compile("|".join(map(squeeze, ("CNPJ", "CPF", "C.G.C"))))
# No other paper is headed by this title, whether its issuer can be read or not.
_WHOLE_TITLE = squeeze("Documento Auxiliar da Nota Fiscal de Consumidor")
# The page of a tax office where consumers look their note up.
_LOOKUP_PAGE = re.compile(r"GO[VU]BR.{0,30}NFCE|NFCE.{0,30}GO[VU]BR")


@dataclass(frozen=True, slots=True)
class Opened:
    """A fiscal document opened as what it is."""

    kind: Kind
    paper: Paper

    @property
    def is_service_note(self) -> bool:
        """Whether it bills a service, and so lists no goods."""
        return self.kind is _NFSE

    def goods(self) -> tuple[Extracted[LineItem], ...]:
        """Return the goods where this kind of paper sets them in a manner of its own."""
        return portal.goods(self.paper) if self.kind is _NFCE else ()

    def without_sums(
        self, items: tuple[Extracted[LineItem], ...]
    ) -> tuple[Extracted[LineItem], ...]:
        """Return goods but for those read off a row that the paper labels otherwise."""
        is_roll = self.kind.labels == thermal.LABELS
        return tuple(thermal.goods(self.paper, items)) if is_roll else items

    def read(self) -> Header:
        """Read the header fields."""
        return self.kind.read(self.paper)


def opened(text_pages: Sequence[TextPage]) -> Opened | None:
    """Open a fiscal document; None if the paper is no such document.

    Reports of fiscal printers (LEITURA X, REDUÇÃO Z), card slips and payment slips are none.
    """
    key = document_key.read(text_pages)
    kind = _recognise(text_pages, key)
    return Opened(kind, Paper.open(text_pages, key, labels=kind.labels)) if kind else None


def read(text_pages: Sequence[TextPage]) -> Header | None:
    """Read the header fields of a fiscal document; None if the paper is no such document."""
    document = opened(text_pages)
    return document.read() if document else None


def _recognise(text_pages: Sequence[TextPage], key: Keyed | None) -> Kind | None:
    """Return the kind of paper: by the key's model, else by the titles on it."""
    if key is not None:
        return _NFSE if key.key.model is None else _BY_MODEL.get(key.key.model, _OTHER)
    squeezed = [squeeze(line.text) for text_page in text_pages for line in text_page.lines]
    is_coupon = _is_coupon(text_pages, squeezed)
    # Narrow rolls break the title.
    pairs = map("".join, zip_longest(squeezed, squeezed[1:], fillvalue=""))
    if any(_WHOLE_TITLE in pair or _LOOKUP_PAGE.search(pair) for pair in pairs):
        return _NFCE
    form = Form.of(text_pages, _titles())
    # Small and faint titles are lost; a town's page still parts who serves from who is served.
    is_town_note = all(form.first(part) for part in ("hall", "provider", "taker"))
    untitled = _ECF if is_coupon else _NFSE if is_town_note else None
    if not any(_TAX_ID.search(line) for line in squeezed):
        return untitled
    titled = (kind for title, kind in _BY_TITLE.items() if form.first(title))
    return next(titled, untitled)


@functools.cache
def _titles() -> Vocabulary:
    return forms.vocabulary(resources.table("brazil", "titles.toml"))


def _is_coupon(text_pages: Sequence[TextPage], squeezed: Sequence[str]) -> bool:
    has_title = any(_is_coupon_title(line) for line in squeezed)
    texts = (line.text.upper() for text_page in text_pages for line in text_page.lines)
    return has_title and any(_COUNTER.search(text) for text in texts)


def _is_coupon_title(line: str) -> bool:
    """Tell whether a squeezed line is the title of a coupon, a misread letter or two allowed."""
    near = _COUPON.match(line, 0)
    return near is not None and near[1] == len(line)
