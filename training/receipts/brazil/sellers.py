"""Who sells: an invented company or person with a name, numbers and an address."""

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from training.receipts.brazil import ids


@dataclass(frozen=True, slots=True)
class Place:
    """A municipality and the first five digits of a postal code of it."""

    city: str
    #: Seven digits of the IBGE.
    ibge: str
    state: str
    postal: str

    @property
    def state_code(self) -> int:
        """The first two digits of access keys."""
        return int(self.ibge[:2])


@dataclass(frozen=True, slots=True)
class Seller:
    """A company, a self-employed person or a farmer."""

    name: str
    trade_name: str
    #: 14 characters of a CNPJ or 11 of a CPF.
    tax_id: str
    #: The state registration; None if not required.
    state_id: str | None
    city_id: str
    place: Place
    street: str
    quarter: str
    postal_code: str
    phone: str
    trade: str

    @property
    def printed_id(self) -> str:
        """The tax id with its dots, slash and dash."""
        return ids.printed(self.tax_id)


@cache
def table(name: str) -> Mapping[str, Mapping[str, Sequence[Sequence[str]]]]:
    """Return one of the tables in this folder."""
    source = resources.files(__package__).joinpath(f"{name}.toml")
    return tomllib.loads(source.read_text("utf-8"))


@cache
def words(kind: str) -> tuple[str, ...]:
    """Return the parts of sellers: names, streets or legal forms."""
    source = resources.files(__package__).joinpath("names.toml")
    return tuple(tomllib.loads(source.read_text("utf-8"))[kind])


def place(rng: random.Random, *, among: Sequence[str] = ()) -> Place:
    """Return a municipality of some states, or of any state."""
    state = rng.choice(tuple(among) or tuple(table("places")))
    city, ibge, postal = rng.choice(table("places")[state]["cities"])
    return Place(city, ibge, state, postal)


def company(rng: random.Random, trade: str, where: Place, *, has_letters: bool = False) -> Seller:
    """Return a company of a trade."""
    pattern = str(rng.choice(table("trades")[trade]["called"]))
    called = rng.choice(words("called"))
    trade_name = pattern.format(called)
    name = f"{trade_name} {rng.choice(words('forms'))}".upper()
    if rng.random() < 0.25:
        # The brand may differ from the registered name.
        person = rng.choice(words("people")).split()
        name = f"{person[0]} {person[-1]} {rng.choice(('COMERCIO VAREJISTA', '& FILHOS', 'E CIA'))}"
        name = f"{name} {rng.choice(words('forms'))}"
    return _settled(rng, trade, where, (name, trade_name), ids.cnpj(rng, has_letters=has_letters))


def microbusiness(rng: random.Random, trade: str, where: Place) -> Seller:
    """Return a self-employed person (MEI), whose name contains the CPF or the root of the CNPJ."""
    person = rng.choice(words("people"))
    number = ids.cnpj(rng)
    root = f"{number[:2]}.{number[2:5]}.{number[5:8]}"
    name = rng.choice((f"{person} {ids.cpf(rng)}", f"{root} {person}"))
    return _settled(rng, trade, where, (name, person.title()), number, is_registered=False)


def farmer(rng: random.Random, where: Place) -> Seller:
    """Return a farmer, whose tax id is a CPF."""
    person = rng.choice(words("people"))
    return _settled(rng, "farm", where, (person, person.title()), ids.cpf(rng))


def _settled(
    rng: random.Random,
    trade: str,
    where: Place,
    names: tuple[str, str],
    tax_id: str,
    *,
    is_registered: bool = True,
) -> Seller:
    postal = f"{where.postal}-{rng.randrange(0, 999):03d}"
    return Seller(
        name=names[0],
        trade_name=names[1],
        tax_id=tax_id,
        state_id=_state_id(rng) if is_registered else None,
        city_id=f"{rng.randrange(10_000, 9_999_999)}",
        place=where,
        street=f"{rng.choice(words('streets'))}, {rng.randrange(3, 4200)}",
        quarter=rng.choice(words("quarters")),
        postal_code=postal,
        phone=f"({rng.randrange(11, 99)}) {rng.randrange(2000, 5999)}-{rng.randrange(0, 9999):04d}",
        trade=trade,
    )


def _state_id(rng: random.Random) -> str:
    """Return a state's registration; each state groups its eight to thirteen digits differently."""
    shape = rng.choice(("###.###.###", "###.###.###.###", "########-#", "###/#######", "#########"))
    return "".join(str(rng.randrange(10)) if sign == "#" else sign for sign in shape)
