"""Repairs zeros that OCR read for the letter O: `SABA0` for SABAO, `0nion` for Onion."""

import re

# In a word of letters and zeros the zeros are misread; a word with other digits is a code.
_WORD_WITH_ZEROS = re.compile(r"(?<![\w.,-])(?=[^\W\d_]*0)(?:[^\W\d_]|0)+(?![\w,%])")
# A letter before a zero is a cut word (`P0`), a letter after it a unit (`0G`).
_MEASURE = re.compile(r"0+[^\W\d_]")


def repaired(text: str) -> str:
    """Return a text with the letter O in place of zeros among letters."""
    return _WORD_WITH_ZEROS.sub(lambda match: _with_letters(match[0]), text)


def _with_letters(word: str) -> str:
    if word.strip("0") == "" or _MEASURE.fullmatch(word):
        return word
    letters = [sign for sign in word if sign != "0"]
    is_upper = all(sign.isupper() for sign in letters)
    if is_upper:
        return word.replace("0", "O")
    return ("O" if word[0] == "0" else word[0]) + word[1:].replace("0", "o")
