"""The modulus 11 that Brazilian tax ids and access keys share.

Letters count by their ASCII code minus 48, as the Receita Federal laid down for alphanumeric
CNPJ (IN RFB 2229/2024); digits then count as themselves.
"""

_ZERO = ord("0")


def check_digit(body: str, *, heaviest: int = 9) -> str:
    """Return the digit that follows `body`.

    Weights run from 2 up to `heaviest`, from the right, over and over.
    """
    span = heaviest - 1
    weighed = sum(
        (ord(letter) - _ZERO) * (2 + place % span) for place, letter in enumerate(reversed(body))
    )
    # What is missing to the next multiple of eleven; ten and eleven are written as zero.
    return str((11 - weighed % 11) % 11 % 10)


def ends_soundly(text: str, *, heaviest: int = 9) -> bool:
    """Tell whether the last character is the check digit of those before it."""
    return len(text) > 1 and text[-1] == check_digit(text[:-1], heaviest=heaviest)
