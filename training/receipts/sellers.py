"""Invents sellers: a name, an address and the numbers in the head of a document."""

import random
import re
from dataclasses import dataclass

from training.receipts import tax_ids
from training.receipts.countries import Country

# The tax that a Swiss number is for, and the account of a Canadian one.
_SUFFIX = re.compile(r"(?<=\d)(MWST|TVA|IVA)$")


@dataclass(frozen=True, slots=True)
class Seller:
    """A company or person that does not exist."""

    name: str
    street: str
    city: str
    phone: str
    #: Label and number as printed; None if there is none.
    tax_id: tuple[str, str] | None

    @property
    def plain_tax_id(self) -> str | None:
        """The letters and digits of the number, as in the API."""
        if self.tax_id is None:
            return None
        return _SUFFIX.sub("", "".join(sign for sign in self.tax_id[1] if sign.isalnum()))

    @property
    def alternatives(self) -> dict[str, tuple[str, ...]]:
        """Further right values: the tax number without its country."""
        number = self.plain_tax_id or ""
        return {"merchant_tax_id": (number[2:],)} if number[:2] in {"BE", "GB", "PT"} else {}


def invent(rng: random.Random, country: Country, kind: str) -> Seller:
    """Return a seller for this kind of document."""
    code, city, region = rng.choice(country.cities)
    name = rng.choice(country.shops[kind]).format(rng.choice(country.surnames))
    tax_id = None
    if country.tax_ids and (kind == "invoice" or rng.random() < 0.75):
        label, scheme = rng.choice(country.tax_ids)
        tax_id = (label, tax_ids.tax_id(rng, scheme))
    full = f"{name}{rng.choice(country.legal)}"
    return Seller(
        name=full.upper() if rng.random() < 0.4 else full,
        street=street(rng, country),
        city=country.city.format(code=code, city=city, region=region).rstrip(", "),
        phone=country.phone.format(rng.randint(201, 989), rng.randint(1000, 9999)),
        tax_id=tax_id,
    )


def street(rng: random.Random, country: Country) -> str:
    """Return a street and a number in the order of the country."""
    return country.street.format(street=rng.choice(country.streets), number=rng.randint(1, 180))
