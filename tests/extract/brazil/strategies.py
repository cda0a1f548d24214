"""Access keys and tax ids for property tests."""

import string

from hypothesis import strategies as st

from recibo.extract.brazil import states
from recibo.extract.brazil.tax_ids import check_digit

DIGITS = "0123456789"


def digits(count: int) -> st.SearchStrategy[str]:
    """Draw a string of this many digits."""
    return st.text(DIGITS, min_size=count, max_size=count)


@st.composite
def cnpjs(draw: st.DrawFn, letters: str = DIGITS + string.ascii_uppercase) -> str:
    """Draw a CNPJ with valid check digits, with letters among the first twelve characters."""
    body = draw(st.text(letters, min_size=12, max_size=12).filter(lambda text: len(set(text)) > 1))
    first = check_digit(body)
    return body + first + check_digit(body + first)


@st.composite
def cpfs(draw: st.DrawFn) -> str:
    """Draw a CPF with valid check digits."""
    body = draw(digits(9).filter(lambda text: len(set(text)) > 1))
    first = check_digit(body, heaviest=11)
    return body + first + check_digit(body + first, heaviest=11)


@st.composite
def nfe_keys(
    draw: st.DrawFn,
    models: tuple[str, ...] = ("55", "65", "59"),
    letters: str = DIGITS + string.ascii_uppercase,
) -> str:
    """Draw a key of 44 characters with a valid check digit and letters in the issuer's CNPJ."""
    body = (
        draw(st.sampled_from([state.code for state in states.every().values()]))
        + f"{draw(st.integers(6, 40)):02}{draw(st.integers(1, 12)):02}"
        + draw(cnpjs(letters))
        + draw(st.sampled_from(models))
        + draw(digits(21))
    )
    return body + check_digit(body)


@st.composite
def nfse_keys(draw: st.DrawFn) -> str:
    """Draw a key of 50 characters with a valid check digit."""
    body = (
        draw(st.sampled_from([state.code for state in states.every().values()]))
        + draw(digits(5))
        + draw(st.sampled_from("12"))
        + "2"
        + draw(cnpjs())
        + draw(digits(13))
        + f"{draw(st.integers(20, 40)):02}{draw(st.integers(1, 12)):02}"
        + draw(digits(9))
    )
    return body + check_digit(body)
