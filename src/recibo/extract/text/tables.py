"""Loads the data files about countries, currencies and companies as typed tables."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from types import MappingProxyType
from typing import Literal

from recibo.extract import resources

_RATES = "rates"

#: The order of a numeric date: "dmy", "mdy" or "ymd".
Order = Literal["dmy", "mdy", "ymd"]


@dataclass(frozen=True, slots=True)
class Country:
    """The conventions of documents in a country."""

    code: str
    languages: tuple[str, ...]
    #: ISO 4217.
    currency: str
    #: The usual one first.
    orders: tuple[Order, ...]
    #: An IANA name; None if the country has several time zones.
    zone: str | None
    #: The international calling code without "+".
    phone: str
    domains: tuple[str, ...]
    cues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Currency:
    """How a currency is written."""

    code: str
    #: Symbols that no other currency has.
    symbols: tuple[str, ...]
    #: Symbols that it shares with others.
    shared: tuple[str, ...]
    #: Letters that are its symbol only before an amount with cents.
    priced: tuple[str, ...]
    #: The number of minor digits.
    digits: int


@dataclass(frozen=True, slots=True)
class TaxNumber:
    """A format of tax numbers."""

    country: str
    name: str
    #: Matches all letters and digits of the number, in upper case.
    shape: re.Pattern[str]
    #: The name of its check digit rule, if it has one.
    check: str | None
    labels: tuple[str, ...]
    #: Whether a number needs a label even with a valid check digit, because it has only digits.
    labelled: bool
    #: Whether it is a company registration number, which ranks below a tax number.
    weak: bool
    #: Numbers that are printed for a buyer without one.
    placeholders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LegalForm:
    """A legal form at the end of a company name."""

    country: str
    text: str
    #: Whether only this country has the form.
    is_cue: bool
    #: Whether its dots are always printed.
    is_dotted: bool


@cache
def countries() -> Mapping[str, Country]:
    """Return the countries by their ISO 3166 code."""
    return MappingProxyType(
        {
            code: Country(
                code=code,
                languages=tuple(row["languages"]),
                currency=row["currency"],
                orders=tuple(row["order"].split()),
                zone=row.get("zone"),
                phone=row["phone"],
                domains=tuple(row["domains"]),
                cues=tuple(row["cues"]),
            )
            for code, row in _read("countries").items()
        }
    )


@cache
def regions() -> Mapping[str, Mapping[str, str]]:
    """Return the time zones of states, by country and code, of countries with several zones."""
    return MappingProxyType({code: MappingProxyType(row) for code, row in _read("regions").items()})


@cache
def cities() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the cities and states by time zone, of countries with several zones."""
    return MappingProxyType(
        {
            code: MappingProxyType({zone: tuple(names) for zone, names in row.items()})
            for code, row in _read("cities").items()
        }
    )


@cache
def taxes() -> Mapping[str, Mapping[str, dt.date]]:
    """Return the first day on which a document may contain a tax, by country and folded name."""
    return MappingProxyType(
        {code: MappingProxyType(row) for code, row in _read("taxes").items() if code != _RATES}
    )


@cache
def tax_rates() -> Mapping[str, frozenset[Decimal]]:
    """Return the tax rates of each country, in percent."""
    return MappingProxyType(
        {
            code: frozenset(Decimal(str(rate)) for rate in rates)
            for code, rates in _read("taxes")[_RATES].items()
        }
    )


@cache
def postcodes() -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of postcodes by country."""
    return MappingProxyType(
        {code: re.compile(shape, re.IGNORECASE) for code, shape in _read("postcodes").items()}
    )


@cache
def phones() -> Mapping[str, re.Pattern[str]]:
    """Return the patterns of national telephone numbers by country."""
    return MappingProxyType(
        {code: re.compile(shape, re.IGNORECASE) for code, shape in _read("phones").items()}
    )


@cache
def currencies() -> Mapping[str, Currency]:
    """Return the currencies by their ISO 4217 code."""
    return MappingProxyType(
        {
            code: Currency(
                code=code,
                symbols=tuple(row["symbols"]),
                shared=tuple(row.get("shared", ())),
                priced=tuple(row.get("priced", ())),
                digits=row.get("digits", 2),
            )
            for code, row in _read("currencies").items()
        }
    )


@cache
def tax_numbers() -> tuple[TaxNumber, ...]:
    """Return the formats of tax numbers, in the order of the file."""
    return tuple(
        TaxNumber(
            country=code,
            name=row["name"],
            shape=re.compile(row["shape"]),
            check=row.get("check"),
            labels=tuple(row["labels"]),
            labelled=row.get("labelled", False),
            weak=row.get("weak", False),
            placeholders=tuple(row.get("placeholders", ())),
        )
        for code, rows in _read("tax_numbers").items()
        for row in rows
    )


@cache
def legal_forms() -> tuple[LegalForm, ...]:
    """Return the legal forms of companies, longest first."""
    forms = [
        LegalForm(country=code, text=text, is_cue=text in row["cues"], is_dotted=text in dotted)
        for code, row in _read("legal_forms").items()
        for dotted in [row.get("dotted", ())]
        for text in (*row["forms"], *dotted)
    ]
    return tuple(sorted(forms, key=lambda form: -len(form.text)))


@cache
def leading_forms() -> tuple[str, ...]:
    """Return the legal forms that stand before a name."""
    return tuple(text for row in _read("legal_forms").values() for text in row.get("first", ()))


@cache
def merchants() -> Mapping[str, tuple[str, ...]]:
    """Return the words in the head of a document by kind."""
    return MappingProxyType({kind: tuple(words) for kind, words in _read("merchants").items()})


@cache
def categories() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the words of each category, of sellers and of items."""
    return MappingProxyType(
        {
            name: MappingProxyType({kind: tuple(words) for kind, words in row.items()})
            for name, row in _read("categories").items()
        }
    )


# The files differ in shape; each function above gives its own a type.
def _read(name: str):  # type: ignore[no-untyped-def]
    return resources.table(f"{name}.toml")
