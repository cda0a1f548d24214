"""All kinds of generated documents, with their languages and generators."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from training.receipts import company_invoices, crowded, fuel, tills
from training.receipts.brazil import (
    consumer_notes,
    coupons,
    invoices,
    printers,
    service_notes,
    worn,
)
from training.receipts.countries import countries
from training.receipts.faces import Case
from training.receipts.truth import Document


class Maker(Protocol):
    """Generates a document from random choices."""

    def __call__(self, rng: random.Random, language: str, case: Case, /) -> Document:
        """Return a document in a language, in typefaces of the case."""
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document."""

    make: Maker
    #: Tags of a language with its country.
    languages: tuple[str, ...]
    #: Whether it is another kind of which parts are lost.
    is_worn: bool = False


_BRAZILIAN: Mapping[str, Maker] = {
    "nfe": invoices.invoice,
    "nfce": consumer_notes.consumer_note,
    "nfse": service_notes.service_note,
    "sat": coupons.coupon,
    "ecf": printers.printed_coupon,
    "ecf report": printers.report,
}
_WORN: Mapping[str, Maker] = {
    "worn nfce": worn.consumer_note,
    "worn ecf": worn.printed_coupon,
}


# Kinds with the rates of another one.
_LIKE = {
    "two payments": "till",
    "slip": "restaurant",
    "tax invoice": "invoice",
    "chain": "till",
    "crowded till": "till",
    "crowded restaurant": "restaurant",
}


def kinds() -> Mapping[str, Kind]:
    """Return all kinds by their names."""
    brazilian = {name: Kind(make, ("pt-BR",)) for name, make in _BRAZILIAN.items()}
    kept = {name: Kind(make, ("pt-BR",), is_worn=True) for name, make in _WORN.items()}
    made = {
        name: Kind(make, _with_rates(name))
        for name, make in (
            ("till", tills.till),
            ("restaurant", tills.restaurant),
            ("chain", tills.chain),
            ("fuel", fuel.fuel),
            ("invoice", company_invoices.invoice),
            ("two payments", tills.paid_in_two),
            ("slip", tills.tip_on_slip),
            ("tax invoice", company_invoices.tax_invoice),
            ("crowded till", crowded.shop),
            ("crowded restaurant", crowded.bill),
        )
    }
    return brazilian | made | kept


def make(seed: str, kind: str, language: str, case: Case) -> Document:
    """Return the document of a seed: the same one every time."""
    return kinds()[kind].make(random.Random(seed), language, case)


def _with_rates(kind: str) -> tuple[str, ...]:
    """Return the languages of the countries with tax rates for this kind of document."""
    rates = _LIKE.get(kind, kind)
    return tuple(tag for tag, country in countries().items() if rates in country.rates)
