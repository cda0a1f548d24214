"""The data files about countries, currencies and companies as typed, frozen tables."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

from recibo.extract import resources

#: In which order a date in figures is written: "dmy", "mdy" or "ymd".
Order = Literal["dmy", "mdy", "ymd"]


@dataclass(frozen=True, slots=True)
class Country:
    """What a country's paper looks like."""

    code: str
    languages: tuple[str, ...]
    #: ISO 4217.
    currency: str
    #: From the usual one down.
    orders: tuple[Order, ...]
    #: An IANA name; None where the country has several clocks.
    zone: str | None
    #: The international dialling prefix without "+".
    phone: str
    domains: tuple[str, ...]
    cues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Currency:
    """How a currency is written."""

    code: str
    #: Marks of this currency alone.
    marks: tuple[str, ...]
    #: Marks that it shares with others.
    shared: tuple[str, ...]
    #: Letters that are its mark only before an amount with its cents.
    priced: tuple[str, ...]
    #: How many minor digits an amount has.
    digits: int


@dataclass(frozen=True, slots=True)
class TaxNumber:
    """One shape of a seller's tax number."""

    country: str
    name: str
    #: Matches the number's letters and digits, upper case, from end to end.
    shape: re.Pattern[str]
    #: The name of its rule of check digits, if it has one.
    check: str | None
    labels: tuple[str, ...]
    #: Whether a passed check alone is no proof, because the shape is a mere run of digits.
    labelled: bool
    #: Whether it is a company's registration, second to a number given for a tax.
    weak: bool
    #: What is printed for a buyer without a number.
    nobody: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LegalForm:
    """How the name of a company ends."""

    country: str
    text: str
    #: Whether the form is one country's alone.
    is_cue: bool


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
    """Return the zones of the states of countries with several clocks, by country and code."""
    return MappingProxyType({code: MappingProxyType(row) for code, row in _read("regions").items()})


@cache
def cities() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the cities and states by clock, of the countries that have several."""
    return MappingProxyType(
        {
            code: MappingProxyType({zone: tuple(names) for zone, names in row.items()})
            for code, row in _read("cities").items()
        }
    )


@cache
def taxes() -> Mapping[str, Mapping[str, dt.date]]:
    """Return the first day on which a paper could name a tax, by country and its folded name."""
    return MappingProxyType({code: MappingProxyType(row) for code, row in _read("taxes").items()})


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
                marks=tuple(row["marks"]),
                shared=tuple(row.get("shared", ())),
                priced=tuple(row.get("priced", ())),
                digits=row.get("digits", 2),
            )
            for code, row in _read("currencies").items()
        }
    )


@cache
def tax_numbers() -> tuple[TaxNumber, ...]:
    """Return the shapes of tax numbers, in the order of the file."""
    return tuple(
        TaxNumber(
            country=code,
            name=row["name"],
            shape=re.compile(row["shape"]),
            check=row.get("check"),
            labels=tuple(row["labels"]),
            labelled=row.get("labelled", False),
            weak=row.get("weak", False),
            nobody=tuple(row.get("nobody", ())),
        )
        for code, rows in _read("tax_numbers").items()
        for row in rows
    )


@cache
def legal_forms() -> tuple[LegalForm, ...]:
    """Return the legal forms of companies, longest first."""
    forms = [
        LegalForm(country=code, text=text, is_cue=text in row["cues"])
        for code, row in _read("legal_forms").items()
        for text in row["forms"]
    ]
    return tuple(sorted(forms, key=lambda form: -len(form.text)))


@cache
def merchants() -> Mapping[str, tuple[str, ...]]:
    """Return the words of a paper's head by kind."""
    return MappingProxyType({kind: tuple(words) for kind, words in _read("merchants").items()})


@cache
def categories() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return the words of each category: those of sellers and those of goods."""
    return MappingProxyType(
        {
            name: MappingProxyType({kind: tuple(words) for kind, words in row.items()})
            for name, row in _read("categories").items()
        }
    )


# The files differ in shape; each function above gives its own a type.
def _read(name: str):  # type: ignore[no-untyped-def]
    return resources.table(f"{name}.toml")
