"""Heads of chain stores: a brand, a company, a slogan, a branch, an owner, a web address."""

import random
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from training.receipts.countries import Country
from training.receipts.frames import AnyRow
from training.receipts.item_rows import Desk
from training.receipts.sellers import Seller
from training.receipts.strips import Row

_DOMAINS = (".com", ".net", ".shop", ".eu")
# How often a head has each of these.
_TITLE, _WELCOME, _SLOGAN, _BRANCH, _OWNER, _WEB, _MAIL = 0.3, 0.15, 0.35, 0.35, 0.15, 0.4, 0.15
# How often the brand is a picture, so that only the company's name can be read.
_PICTURE = 0.15


@dataclass(frozen=True, slots=True)
class Chain:
    """A shop of a chain."""

    #: Under the name that counts: the brand, or the company if the brand is a picture.
    seller: Seller
    brand: str
    #: The company that runs the shop, printed below; None if the brand is all. If the names are
    #: the same, the brand is a picture.
    company: str | None
    country: Country

    @property
    def alternatives(self) -> dict[str, tuple[str | None, ...]]:
        """Further right values: the company's name."""
        names = {"merchant_name": (self.company,)} if self.company else {}
        return {**self.seller.alternatives, **names}

    def head(self, rng: random.Random, desk: Desk) -> list[AnyRow]:
        """Return the rows above the items."""
        strip, heads, seller = desk.strip, self.country.heads, self.seller
        is_centered = rng.random() < 0.8
        title = rng.choice(heads["titles"]) if rng.random() < _TITLE else ""
        is_title_first = rng.random() < 0.6
        rows: list[AnyRow] = []
        if title and is_title_first:
            rows.append(Row(title, is_centered=is_centered, is_bold=rng.random() < 0.5))
        if rng.random() < _WELCOME:
            rows.append(Row(rng.choice(heads["welcome"]), is_centered=is_centered))
        if seller.name != self.company:
            rows += self._brand(rng, desk, is_centered=is_centered)
        below = [*self._around(rng), *self._address(rng, desk)]
        if self.company:
            by = rng.choice(heads["operated"])
            below.insert(rng.choice((0, 1, len(below))), f"{by} {self.company}".strip())
        if seller.tax_id:
            label, number = seller.tax_id
            below.append(f"{label}{rng.choice((': ', ' '))}{number}")
        if title and not is_title_first:
            below.append(title)
        return rows + [
            Row(part, is_centered=is_centered)
            for line in below
            for part in strip.wrapped(line, strip.columns)
        ]

    def foot(self, rng: random.Random) -> list[AnyRow]:
        """Return the rows below the thanks: a web address, or the brand once more."""
        chance = rng.random()
        if chance < 0.3:
            return [Row(f"www.{self._site()}", is_centered=True)]
        return [Row(self.brand, is_centered=True)] if chance < 0.4 else []

    def _brand(self, rng: random.Random, desk: Desk, *, is_centered: bool) -> list[AnyRow]:
        strip, name = desk.strip, self.seller.name
        factor = rng.choice((1, 1, 1.3, 1.7, 2))
        if strip.columns_of(name) * factor >= strip.columns:
            factor = 1
        return [
            Row(
                line,
                is_centered=is_centered,
                is_bold=rng.random() < 0.6,
                height=factor,
                stretch=factor,
            )
            for line in strip.wrapped(name, strip.columns * 0.8)
        ]

    def _around(self, rng: random.Random) -> list[str]:
        heads = self.country.heads
        lines = []
        if rng.random() < _SLOGAN:
            lines.append(rng.choice(heads["slogans"]))
        if rng.random() < _BRANCH:
            lines.append(rng.choice(heads["branch"]).format(rng.randint(2, 4800)))
        if rng.random() < _OWNER:
            surname = rng.choice(self.country.surnames)
            person = f"{rng.choice(self.country.people)} {surname}"
            lines.append(rng.choice(heads["owner"]).format(person))
        rng.shuffle(lines)
        return lines

    def _address(self, rng: random.Random, desk: Desk) -> list[str]:
        seller = self.seller
        phone = f"{rng.choice(desk.country.labels['phone'])} {seller.phone}"
        lines = [seller.street, seller.city]
        if rng.random() < 0.2:
            lines = [f"{seller.street}, {seller.city}"]
        if rng.random() < 0.6:
            lines.append(phone)
        if rng.random() < _WEB:
            lines.append(f"www.{self._site()}")
        if rng.random() < _MAIL:
            lines.append(f"info@{self._site()}")
        return lines

    def _site(self) -> str:
        plain = unicodedata.normalize("NFKD", self.brand).encode("ascii", "ignore").decode()
        letters = re.sub("[^a-z0-9]", "", plain.lower())
        return letters + _DOMAINS[len(letters) % len(_DOMAINS)]


def invent(rng: random.Random, country: Country, seller: Seller) -> Chain:
    """Return a chain for a seller, with the brand and the company under different names."""
    brand = _without_form(seller.name, country.legal)
    if rng.random() < 0.3:
        surname = rng.choice(country.surnames)
        brand = surname.upper() if rng.random() < 0.5 else surname
    is_picture = rng.random() < _PICTURE
    has_company = is_picture or rng.random() < 0.5
    if not has_company:
        return Chain(replace(seller, name=brand), brand, None, country)
    form = rng.choice([one for one in country.legal if one.strip()] or [""])
    company = f"{rng.choice((brand, rng.choice(country.surnames)))}{form}"
    name = company if is_picture else brand
    return Chain(replace(seller, name=name), brand, company, country)


def _without_form(name: str, forms: Sequence[str]) -> str:
    for form in sorted(forms, key=len, reverse=True):
        if form and name.lower().endswith(form.lower()):
            return name[: -len(form)].rstrip(" ,")
    return name
