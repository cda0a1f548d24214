"""The words of receipts by language, and how each country writes numbers."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from importlib.resources import files
from typing import cast

#: The spellings of each label.
Labels = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Product:
    """A product with its unit price in the country's currency."""

    name: str
    price: Decimal


@dataclass(frozen=True, slots=True)
class Country:
    """A country in one of its languages."""

    #: `de-AT`.
    tag: str
    currency: str
    signs: tuple[str, ...]
    #: Whether the currency symbol is after the number.
    is_sign_after: bool
    decimal: str
    group: str
    #: The digits after the decimal sign.
    places: int
    zone: str
    #: Post code, city, region.
    cities: tuple[tuple[str, str, str], ...]
    city: str
    street: str
    streets: tuple[str, ...]
    dates: tuple[str, ...]
    times: tuple[str, ...]
    phone: str
    legal: tuple[str, ...]
    taxes: tuple[str, ...]
    #: The names of the halves of a tax that is printed as two; none elsewhere.
    halves: tuple[str, ...]
    #: Kind of document to the rates of tax, percent.
    rates: Mapping[str, tuple[Decimal, ...]]
    is_tax_included: bool
    #: Label and scheme of the seller's numbers.
    tax_ids: tuple[tuple[str, str], ...]
    #: Cash amounts are multiples of it.
    cash_step: Decimal | None
    #: The unit of fuel.
    volume: str
    has_tips: bool
    labels: Labels
    #: What is printed around a seller's name.
    heads: Labels
    #: What is printed around the items, the date and the number of crowded receipts.
    asides: Labels
    #: Kind of document to patterns of sellers' names.
    shops: Labels
    surnames: tuple[str, ...]
    people: tuple[str, ...]
    thanks: tuple[str, ...]
    products: Mapping[str, tuple[Product, ...]]

    @property
    def cent(self) -> Decimal:
        """The smallest amount."""
        return Decimal(1).scaleb(-self.places)

    def rounded(self, amount: Decimal) -> Decimal:
        """Return the amount rounded to cents, half away from zero."""
        return amount.quantize(self.cent, ROUND_HALF_UP)

    def figure(self, amount: Decimal, places: int | None = None) -> str:
        """Return the amount as it is printed, without the currency."""
        digits = self.places if places is None else places
        plain = f"{amount:,.{digits}f}"
        whole, _, fraction = plain.partition(".")
        whole = whole.replace(",", self.group)
        return f"{whole}{self.decimal}{fraction}" if fraction else whole


@cache
def countries() -> Mapping[str, Country]:
    """Return all countries by their tags."""
    return {tag: _country(tag, table) for tag, table in _table("countries").items()}


def _country(tag: str, table: dict[str, object]) -> Country:
    words = _table(tag.partition("-")[0])
    factor = Decimal(str(table.get("prices", "1")))
    places = cast("int", table.get("places", 2))
    return Country(
        tag=tag,
        currency=str(table["currency"]),
        signs=_strings(table["signs"]),
        is_sign_after=bool(table.get("after")),
        decimal=str(table.get("decimal", ".")),
        group=str(table.get("group", ",")),
        places=places,
        zone=str(table["zone"]),
        cities=tuple(
            (code, city, region)
            for code, city, region in cast("list[tuple[str, str, str]]", table["cities"])
        ),
        city=str(table.get("city", "{code} {city}")),
        street=str(table.get("street", "{street} {number}")),
        streets=_strings(table.get("street_names", words["streets"])),
        dates=_strings(table["dates"]),
        times=_strings(table["times"]),
        phone=str(table["phone"]),
        legal=_strings(table["legal"]),
        taxes=_strings(table["taxes"]),
        halves=_strings(table.get("halves", ())),
        rates={
            kind: tuple(Decimal(rate) for rate in rates)
            for kind, rates in cast("dict[str, list[str]]", table["rates"]).items()
        },
        is_tax_included=bool(table["included"]),
        tax_ids=tuple(
            (label, scheme) for label, scheme in cast("list[list[str]]", table.get("tax_ids", []))
        ),
        cash_step=Decimal(str(table["cash_step"])) if "cash_step" in table else None,
        volume=str(table.get("volume", "L")),
        has_tips=bool(table.get("tip")),
        labels=cast("Labels", words["labels"]),
        heads=cast("Labels", words["heads"]),
        asides=cast("Labels", words["asides"]),
        shops=cast("Labels", words["shops"]),
        surnames=_strings(words["surnames"]),
        people=_strings(words["people"]),
        thanks=_strings(words["thanks"]),
        products={
            kind: tuple(_product(name, price, factor, places, kind) for name, price in products)
            for kind, products in cast(
                "dict[str, list[tuple[str, float]]]", words["products"]
            ).items()
        },
    )


def _product(name: str, price: float, factor: Decimal, places: int, kind: str) -> Product:
    """Return the products; the price of fuel has an additional decimal."""
    digits = places + 1 if kind == "fuel" and factor < 10 else places
    return Product(name, (Decimal(str(price)) * factor).quantize(Decimal(1).scaleb(-digits)))


def _strings(value: object) -> tuple[str, ...]:
    return tuple(cast("Sequence[str]", value))


@cache
def _table(name: str) -> dict[str, dict[str, object]]:
    text = files("training.receipts").joinpath("words", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)
