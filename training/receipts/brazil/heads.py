"""The head of a receipt: the seller's names, numbers and address, in the order of some tills."""

import random

from training.receipts.brazil.sellers import Seller
from training.receipts.brazil.tapes import Tape


def print_head(rng: random.Random, tape: Tape, seller: Seller) -> None:
    """Print the seller."""
    is_trade_name_first = rng.random() < 0.3 and seller.trade_name.upper() != seller.name
    scale = rng.choice((1, 1, 1.25))
    if is_trade_name_first:
        tape.center(seller.trade_name, is_bold=True, scale=scale)
        scale = 1
    tape.center(seller.name, is_bold=rng.random() < 0.8, scale=scale)
    parts = [_print_numbers, _print_address]
    if rng.random() < 0.4:
        parts.reverse()
    for part in parts:
        part(rng, tape, seller)


def _print_numbers(rng: random.Random, tape: Tape, seller: Seller) -> None:
    label = "CNPJ" if len(seller.tax_id) > len("00000000000") else "CPF"
    own = f"{label}: {seller.printed_id}"
    if rng.random() < 0.15:
        own = f"{label} {seller.tax_id}"
    state = f"{rng.choice(('IE', 'I.E.', 'Inscrição Estadual', 'INSC. EST.'))}: {seller.state_id}"
    city = f"IM: {seller.city_id}"
    if seller.state_id is None:
        tape.center(own)
        return
    match rng.randrange(4):
        case 0:
            tape.center(f"{own} {state}")
        case 1:
            tape.left(own)
            tape.left(state)
        case 2:
            tape.left(own)
            tape.left(state)
            tape.left(city)
        case _:
            tape.center(own)
            tape.center(state)


def _print_address(rng: random.Random, tape: Tape, seller: Seller) -> None:
    place = seller.place
    match rng.randrange(4):
        case 0:
            tape.center(f"{seller.street}, {seller.quarter}, {place.city}, {place.state}")
        case 1:
            tape.center(f"{seller.street} - {seller.quarter}")
            tape.center(f"{place.city} - {place.state} CEP: {seller.postal_code}")
            tape.center(f"Fone: {seller.phone}")
        case 2:
            tape.center(f"{seller.street} {seller.quarter} {place.city}/{place.state}".upper())
        case _:
            tape.center(f"{seller.street}, {seller.quarter}")
            tape.center(f"{place.city}-{place.state} Tel {seller.phone}")
