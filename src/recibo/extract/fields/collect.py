"""Collects the candidates of all finders."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

from recibo.extract.brazil import fiscal
from recibo.extract.brazil.documents import names
from recibo.extract.brazil.fiscal import Identified
from recibo.extract.candidates import AmountCandidate, Candidates, DetailCandidates, PartyCandidates
from recibo.extract.fields import (
    adjustments,
    category,
    currency,
    date,
    item_taxes,
    labelled_taxes,
    merchant,
    number,
    parties,
    payments,
    tax_id,
    tax_sum,
    tax_table,
    total,
    transfers,
)
from recibo.extract.fields import document_type as kind
from recibo.extract.fields.bare_sums import with_bare_sums
from recibo.extract.fields.items import line_items
from recibo.extract.fields.labelled_amounts import Role, entries
from recibo.extract.fields.locale_detection import Place, locate
from recibo.extract.fields.tax_candidates import TaxContext
from recibo.extract.fields.tax_id import TaxId
from recibo.extract.fields.transfers import Transfer
from recibo.extract.layout.rows import Row, rows
from recibo.extract.model import (
    Category,
    Details,
    DocumentType,
    Extracted,
    Header,
    LineItem,
    TextPage,
)
from recibo.extract.probabilities import probability
from recibo.extract.text import tables
from recibo.extract.text.numbers import CENTS

# Malay and Indonesian have no accents, nor has the English on the same documents.
_UNACCENTED = frozenset({"ms", "id"})

# The number of likely totals for which a tax table is searched.
_LIKELY_TOTALS = 3
T = TypeVar("T")

# The penalty on the log-odds of a general finder against a reader that knows the labels of the
# document: where they disagreed on 184 Brazilian files, the reader was right in 203 cases
# of 205. If the reader is uncertain (no check digits, no label), the general finder may still win.
_UNAWARE = 2.5
# From this confidence on, a value of the reader is doubtful only where OCR was: it comes first.
_KNOWN, _BELOW = 0.8, 0.97
# The penalty on candidates for a field that the reader does not find.
_UNSEEN = 0.5
# The confidence that the proof of a transfer is a receipt.
_PROOF = 0.97
# Probabilities are clamped to avoid 0 and 1.
_LEAST, _MOST = 1e-3, 0.999
# Who is named with it is the seller, wherever that is.
_CNPJ = re.compile(r"\d\d\.\d{3}\.\d{3}/\d{4}-\d\d")


def collect(text_pages: Sequence[TextPage], *, hint: DocumentType | None = None) -> Candidates:
    """Return the candidates of every field of one document; `hint` only breaks ties."""
    document = fiscal.identify(text_pages)
    general = _general(text_pages, hint, document)
    if general.transfer and document is None:
        # A fee or the amount of a bill is no item.
        return general
    minor = CENTS if document else _minor_digits(general.currencies)
    candidates = replace(general, line_items=line_items.find(text_pages, document, minor=minor))
    if document is None:
        return candidates
    combined = merged(candidates, document.read(), document.details())
    amounts = _of_fiscal(combined.amounts, document)
    return replace(combined, categories=_categories(combined), amounts=amounts)


def _of_fiscal(amounts: DetailCandidates, document: Identified) -> DetailCandidates:
    """Return the candidates with what the boxes of a fiscal document contain."""
    known = replace(amounts, fiscal_taxes=document.tax_lines())
    if not document.has_boxes:
        return known
    boxed = document.discount()
    discounts = (AmountCandidate(boxed, 0, {"boxed": 1}),) if boxed else ()
    return replace(known, discounts=discounts, tips=(), service_charges=(), roundings=())


def _general(
    text_pages: Sequence[TextPage], hint: DocumentType | None, document: Identified | None
) -> Candidates:
    """Return the candidates of the finders that work for every country."""
    lines = rows(text_pages)
    place, tax_ids = located(lines)
    sellers = tuple(one.found for one in tax_id.of_sellers(tax_ids))
    currencies = currency.currencies(lines, place)
    minor = _minor_digits(currencies)
    priced = lines if minor == CENTS else rows(text_pages, minor=minor)
    amounts = with_bare_sums(entries(priced))
    taxes = TaxContext.of(priced, amounts, place.country.code if place.country else None)
    ranked = total.ranked(amounts, currencies, total.blanks(priced))
    totals = tuple(found for found, _ in ranked)
    roundings = total.labelled(amounts, Role.ROUNDING)
    names = merchant.merchants(lines, is_unaccented=_is_unaccented(text_pages, place))
    moments = date.moments(lines, place)
    found = Candidates(
        types=kind.types(text_pages, lines, hint),
        merchant_names=names,
        merchant_tax_ids=sellers,
        moments=moments,
        totals=totals,
        total_features={found.value: features for found, features in ranked},
        subtotals=total.labelled(amounts, Role.SUBTOTAL),
        taxes=total.labelled(amounts, Role.TAX),
        tax_breakdowns=(
            *tax_table.tax_breakdowns(priced, _taxed_totals(totals, roundings)),
            *item_taxes.breakdowns(taxes, _taxed_totals(totals, roundings)),
        ),
        tax_sums=tax_sum.tax_sums(priced, amounts),
        charges=total.labelled(amounts, Role.CHARGE),
        discounts=total.labelled(amounts, Role.DISCOUNT),
        roundings=roundings,
        cash=total.labelled(amounts, Role.CASH),
        change=total.labelled(amounts, Role.CHANGE),
        cards=total.labelled(amounts, Role.CARD),
        currencies=currencies,
        amounts=_amounts(taxes),
        document_numbers=number.numbers(lines),
        parties=parties.find(
            lines,
            place,
            parties.Known(
                names,
                sellers,
                moments,
                document.lines_of_others() if document else frozenset(),
            ),
        ),
        categories=category.categories(
            names[0].value if names else None, [row.text for row in lines]
        ),
        texts=tuple("\n".join(line.text for line in page.lines) for page in text_pages),
    )
    transfer = transfers.find(lines)
    return _of_transfer(found, transfer, tax_ids) if transfer else found


def _of_transfer(found: Candidates, transfer: Transfer, tax_ids: Sequence[TaxId]) -> Candidates:
    """Return the candidates with the parties of a transfer; the bank is none of them.

    That a slip was paid is a receipt, whatever the title of the slip is.
    """
    name = transfer.payee_name
    receipts = [one for one in found.types if one.value is DocumentType.RECEIPT]
    proof = tuple(replace(one, confidence=_PROOF) for one in receipts)
    return replace(
        found,
        types=proof or found.types,
        merchant_names=(name,) if name else (),
        merchant_tax_ids=tuple(one.found for one in transfer.tax_ids(tax_ids)),
        parties=transfer.parties(found.parties, tax_ids),
        transfer=transfer.method,
    )


def located(lines: Sequence[Row]) -> tuple[Place, Sequence[TaxId]]:
    """Return the place of a document and its tax ids, which tell each other."""
    place = locate(lines, hints=tax_id.countries(lines))
    tax_ids = tax_id.tax_ids(lines, place.country)
    if place.country is None and tax_ids:
        place = locate(lines, hints=[tax_ids[0].number.country])
    return place, tax_ids


def _amounts(context: TaxContext) -> DetailCandidates:
    """Return the candidates for the amounts of bookkeeping."""
    priced, amounts = context.rows, context.entries
    others = adjustments.adjustments(priced, amounts)
    return DetailCandidates(
        tax_tables=(*item_taxes.item_taxes(context), *tax_table.tabled_taxes(context)),
        taxes=labelled_taxes.labelled_taxes(context),
        payments=payments.payment_candidates(priced, amounts),
        discounts=others.discounts,
        tips=others.tips,
        service_charges=others.service_charges,
        roundings=others.roundings,
        withheld=others.withheld,
    )


def _taxed_totals(
    totals: Sequence[Extracted[Decimal]], roundings: Sequence[Extracted[Decimal]]
) -> list[Decimal]:
    """Return the sums that a tax table may have: likely totals, also before rounding."""
    likely = [found.value for found in totals[:_LIKELY_TOTALS]]
    steps = [rounding.value for rounding in roundings]
    return [*likely, *(value - step for value in likely for step in steps)]


def _is_unaccented(text_pages: Sequence[TextPage], place: Place) -> bool:
    """Return whether the text comes from OCR and its language has no accents."""
    is_exact = any(page.is_exact for page in text_pages)
    return (
        not is_exact
        and place.country is not None
        and not _UNACCENTED.isdisjoint(place.country.languages)
    )


def _minor_digits(currencies: Sequence[Extracted[str]]) -> int:
    return tables.currencies()[currencies[0].value].digits if currencies else CENTS


def _categories(candidates: Candidates) -> tuple[Category, ...]:
    """Return the categories of the seller's name; an NFS-e has other names in its head."""
    if not candidates.merchant_names:
        return candidates.categories
    lines = [line for text in candidates.texts for line in text.split("\n")]
    return category.categories(candidates.merchant_names[0].value, lines)


def merged(general: Candidates, fiscal: Header, details: Details) -> Candidates:
    """Return one ranking per field, best first; included taxes are not part of net and tax."""
    tax = (fiscal.tax,) if fiscal.tax else ()
    return replace(
        general,
        # The reader decides the type.
        types=(fiscal.type, *general.types),
        merchant_names=_ranked(
            fiscal.merchant_name,
            # The town hall whose form it is sells nothing.
            [
                name
                for name in general.merchant_names
                if not (names.is_town_hall(name.text) or names.is_heading_or_place(name.value))
                and not _is_of_items(name, general.line_items)
            ],
        ),
        merchant_tax_ids=_ranked(fiscal.merchant_tax_id, general.merchant_tax_ids),
        moments=_ranked(fiscal.issued_at, general.moments),
        totals=_ranked(fiscal.total, general.totals),
        subtotals=_ranked(fiscal.subtotal, general.subtotals),
        taxes=tax or _ranked(None, general.taxes),
        tax_breakdowns=(),
        tax_sums=tax or _ranked(None, general.tax_sums),
        currencies=_ranked(fiscal.currency, general.currencies),
        document_numbers=_ranked(fiscal.document_number, general.document_numbers),
        document_keys=_ranked(fiscal.document_key, general.document_keys),
        parties=_parties(general.parties, details),
    )


def _is_of_items(name: Extracted[str], items: Sequence[Extracted[LineItem]]) -> bool:
    """Return whether a name is that of an item, or below the first one."""
    if any(item.value.name and item.value.name in name.value for item in items):
        return True
    if _CNPJ.search(name.text):
        return False
    first = items[0] if items else None
    if first is None or first.box is None or name.box is None:
        return False
    return (name.page, name.box.y_center) > (first.page, first.box.y0)


def _parties(general: PartyCandidates, details: Details) -> PartyCandidates:
    return replace(
        general,
        merchant_addresses=_preferred(details.merchant_address, general.merchant_addresses),
        customer_names=_ranked(details.customer_name, general.customer_names),
        # Any other number on the page is hardly ever the customer's.
        customer_tax_ids=(details.customer_tax_id,) if details.customer_tax_id else (),
        due_dates=_preferred(details.due_date, general.due_dates),
    )


def _preferred(
    fiscal: Extracted[T] | None, general: Sequence[Extracted[T]]
) -> tuple[Extracted[T], ...]:
    """Return the candidates of the layout first; without one, the general ones as they are."""
    return tuple(general) if fiscal is None else _ranked(fiscal, general)


def _ranked(
    fiscal: Extracted[T] | None, general: Sequence[Extracted[T]]
) -> tuple[Extracted[T], ...]:
    """Return all candidates for a field, each value once, the likeliest first."""
    if fiscal is None:
        return tuple(_penalized(found, _UNSEEN) for found in general)
    most = fiscal.confidence * _BELOW if fiscal.confidence >= _KNOWN else 1.0
    others = (
        _at_most(_penalized(found, _UNAWARE), most)
        for found in general
        if found.value != fiscal.value
    )
    return tuple(sorted((fiscal, *others), key=lambda found: -found.confidence))


def _at_most(found: Extracted[T], most: float) -> Extracted[T]:
    return replace(found, confidence=min(found.confidence, most))


def _penalized(found: Extracted[T], penalty: float) -> Extracted[T]:
    bounded = min(max(found.confidence, _LEAST), _MOST)
    log_odds = math.log(bounded / (1 - bounded))
    return replace(found, confidence=probability(log_odds - penalty))
