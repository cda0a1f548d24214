"""Secrets."""

import re

from hypothesis import given
from hypothesis import strategies as st

from recibo.lib import tokens

PREFIX = "sk_live_"


def test_secret_is_a_prefix_32_random_characters_and_a_checksum() -> None:
    assert re.fullmatch(r"sk_live_[0-9A-Za-z]{38}", tokens.new_secret(PREFIX))


def test_secrets_differ() -> None:
    assert 100 == len({tokens.new_secret(PREFIX) for _ in range(100)})


def test_made_secret_is_well_formed() -> None:
    assert all(tokens.is_well_formed(tokens.new_secret(PREFIX)) for _ in range(100))


@given(st.integers(0, 45), st.sampled_from(tokens.ALPHABET))
def test_mistyped_secret_is_not(place: int, letter: str) -> None:
    secret = tokens.new_secret(PREFIX)
    mistyped = secret[:place] + letter + secret[place + 1 :]

    assert (mistyped == secret) == tokens.is_well_formed(mistyped)


@given(st.text(max_size=60))
def test_nothing_is_too_odd_to_be_judged(text: str) -> None:
    assert not tokens.is_well_formed(text) or len(text) >= 6


def test_fingerprint_is_sha_256() -> None:
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    assert expected == tokens.fingerprint("abc")
