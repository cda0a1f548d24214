"""The modulus 11 check digit of Brazilian tax ids and access keys.

The value of a character is its ASCII code minus 48, as the Receita Federal defined for the
alphanumeric CNPJ (IN RFB 2229/2024); a digit then has its own value.
"""

_ZERO = ord("0")


def check_digit(body: str, *, heaviest: int = 9) -> str:
    """Return the digit that follows `body`.

    From the right, the weights run from 2 to `heaviest` and start again.
    """
    span = heaviest - 1
    weighed = sum(
        (ord(letter) - _ZERO) * (2 + place % span) for place, letter in enumerate(reversed(body))
    )
    # The difference to the next multiple of eleven; ten and eleven are written as zero.
    return str((11 - weighed % 11) % 11 % 10)


def has_valid_check_digit(text: str, *, heaviest: int = 9) -> bool:
    """Return whether the last character is the check digit of the others."""
    return len(text) > 1 and text[-1] == check_digit(text[:-1], heaviest=heaviest)
