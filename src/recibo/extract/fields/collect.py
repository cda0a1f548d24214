"""Asks every finder for its field and gathers what they find."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from recibo.extract.brazil import fiscal
from recibo.extract.fields import (
    category,
    currency,
    date,
    fiscal_candidates,
    merchant,
    number,
    tax_id,
    tax_sum,
    tax_table,
    total,
)
from recibo.extract.fields import document_type as kind
from recibo.extract.fields.items import line_items
from recibo.extract.fields.labelled_amounts import Role, entries
from recibo.extract.fields.locale_detection import Place, locate
from recibo.extract.layout.rows import USUAL_MINOR, rows
from recibo.extract.model import Candidates, Category, DocumentType, Extracted, TextPage
from recibo.extract.text import tables

# Malay and Indonesian are written without accents, and so is the English printed with them.
_UNACCENTED = frozenset({"ms", "id"})

# A table that splits a total into net and tax is looked for among so many likely totals.
_LIKELY_TOTALS = 3


def collect(text_pages: Sequence[TextPage], *, hint: DocumentType | None = None) -> Candidates:
    """Return the candidates of every field of one document; `hint` only breaks ties."""
    document = fiscal.opened(text_pages)
    general = _general(text_pages, hint)
    minor = USUAL_MINOR if document else _minor_digits(general.currencies)
    findings = replace(general, line_items=line_items.find(text_pages, document, minor=minor))
    if document is None:
        return findings
    merged = fiscal_candidates.merged(findings, document.read())
    return replace(merged, categories=_categories(merged))


def _general(text_pages: Sequence[TextPage], hint: DocumentType | None) -> Candidates:
    """Return the candidates of the finders that work for every country."""
    lines = rows(text_pages)
    place = locate(lines, hints=tax_id.countries(lines))
    tax_ids = tax_id.tax_ids(lines, place.country)
    if place.country is None and tax_ids:
        place = locate(lines, hints=[tax_ids[0].number.country])
    currencies = currency.currencies(lines, place)
    minor = _minor_digits(currencies)
    priced = lines if minor == USUAL_MINOR else rows(text_pages, minor=minor)
    amounts = entries(priced)
    ranked = total.ranked(amounts, currencies, total.blanks(priced))
    totals = tuple(found for found, _ in ranked)
    roundings = total.labelled(amounts, Role.ROUNDING)
    names = merchant.merchants(lines, is_unaccented=_is_unaccented(text_pages, place))
    return Candidates(
        types=kind.types(text_pages, lines, hint),
        merchant_names=names,
        merchant_tax_ids=tuple(tax_id.found for tax_id in tax_ids),
        moments=date.moments(lines, place),
        totals=totals,
        total_features={found.value: features for found, features in ranked},
        subtotals=total.labelled(amounts, Role.SUBTOTAL),
        taxes=total.labelled(amounts, Role.TAX),
        splits=tax_table.splits(priced, _taxed_totals(totals, roundings)),
        levies=tax_sum.levies(priced, amounts),
        charges=total.labelled(amounts, Role.CHARGE),
        discounts=total.labelled(amounts, Role.DISCOUNT),
        roundings=roundings,
        cash=total.labelled(amounts, Role.CASH),
        change=total.labelled(amounts, Role.CHANGE),
        cards=total.labelled(amounts, Role.CARD),
        currencies=currencies,
        document_numbers=number.numbers(lines),
        categories=category.categories(
            names[0].value if names else None, [row.text for row in lines]
        ),
        texts=tuple("\n".join(line.text for line in page.lines) for page in text_pages),
    )


def _taxed_totals(
    totals: Sequence[Extracted[Decimal]], roundings: Sequence[Extracted[Decimal]]
) -> list[Decimal]:
    """Return what tables of taxes add up to: likely totals, before they were rounded too."""
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
    return tables.currencies()[currencies[0].value].digits if currencies else USUAL_MINOR


def _categories(findings: Candidates) -> tuple[Category, ...]:
    """Return what the seller's own name says: others stand in the head of a note of services."""
    if not findings.merchant_names:
        return findings.categories
    lines = [line for text in findings.texts for line in text.split("\n")]
    return category.categories(findings.merchant_names[0].value, lines)
