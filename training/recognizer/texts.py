"""Invents the texts of lines: words, abbreviations, amounts, dates, codes, lines of receipts."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_DIGITS = "0123456789"
#: Languages without spaces, and those of half of all words.
_DENSE = ("ja", "zh")
_COMMON = ("en", "en", "pt")
#: Letters of codes; the last ones are those that receipt fonts confuse.
_ALPHABETS = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "ABCDEFGHJKLMNPQRSTUVWXYZ23456789-/",
    "abcdefghijklmnopqrstuvwxyz0123456789",
    "BCDGOQSUVYZ0123568",
)
_MARKS = "!#$%&'()*+,-./:;<=>?@[]_abcXYZ0189 "
_BEFORE = (*[""] * 4, "-", "$", "R$ ", "RM", "€", "£", "*", "+", "USD ")
_AFTER = (*[""] * 8, " A", " B", "T", "-", " €", "%", "F", " kg")
_DATES = ("{d}/{m}/{y}", "{d}-{m}-{y}", "{y}-{m}-{d}", "{d}.{m}.{y}", "{d}/{m}/{z}")
#: A `9` is any digit, an `A` any letter.
_IDS = (
    *("99.999.999/9999-99", "999.999.999-99", "(99) 9999-9999", "999999-A", "DE999999999"),
    *("GB 999 9999 99", "99-9999999", "9999 9999 9999 9999", "XXXXXXXX9999", "****9999"),
)
_QUANTITIES = (
    *("{}ML", "{}G", "{}KG", "{}L", "{}X", "X{}", "{}UN", "{} UN", "{}PK", "{}CM"),
    *("#{}", "No.{}", "{}%", "({})", "N{}", "B{}", "V{}", "S{}"),
)
_AROUND = (
    "*{}*",
    "** {} **",
    "({})",
    "{}:",
    "{} :",
    '"{}"',
    "-{}-",
    "{} SDN BHD",
    "{} LTDA",
    "{} S.A.",
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What texts are made of."""

    #: Words of each language, the frequent ones first.
    words: Mapping[str, Sequence[str]]
    #: Words of languages without spaces.
    ideographs: Sequence[Sequence[str]]
    #: Words of languages in scripts that the network does not know.
    unknown: Sequence[Sequence[str]]
    #: Lines of generated receipts.
    lines: Sequence[str]


def vocabulary(folder: Path, lines: Sequence[str]) -> Vocabulary:
    """Read the words of a folder: a file per language, a word per line.

    Raises:
        ValueError: A file has no word.
    """
    words = _files(folder)
    dense = [words.pop(language) for language in _DENSE if language in words]
    return Vocabulary(words, dense, list(_files(folder / "unknown").values()), lines)


def _files(folder: Path) -> dict[str, Sequence[str]]:
    words = {file: file.read_text("utf-8").split() for file in sorted(folder.glob("*.txt"))}
    for file, found in words.items():
        if not found:
            raise ValueError(f"{file} has no word.")
    return {file.stem: found for file, found in words.items()}


class Texts:
    """Draws texts, mostly of one to four words."""

    def __init__(self, vocabulary: Vocabulary, choices: random.Random) -> None:
        """Use these words and this source of randomness."""
        self._vocabulary = vocabulary
        self._random = choices

    def text(self) -> str:
        """Return the text of a line."""
        kinds = (self._line, self._words, self._number, self._codes, self._marks)
        (kind,) = self._random.choices(kinds, (24, 48, 20, 6, 2))
        return kind().strip()

    def ideographs(self) -> str:
        """Return Chinese or Japanese words, some with a number."""
        text = self._of_one_language(self._vocabulary.ideographs, "", 5)
        return text + (self._number() if self._chance(0.3) else "")

    def unknown(self) -> str:
        """Return words in a script that the network does not know, half of them in capitals."""
        text = self._of_one_language(self._vocabulary.unknown, " ", 3)
        return text.upper() if self._chance(0.5) else text

    def _of_one_language(self, languages: Sequence[Sequence[str]], between: str, most: int) -> str:
        words = self._random.choice(languages)
        count = self._random.randint(1, most)
        return between.join(self._frequent(words) for _ in range(count))

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _frequent(self, words: Sequence[str]) -> str:
        return words[int(len(words) * self._random.random() ** 2)]

    def _line(self) -> str:
        line = self._random.choice(self._vocabulary.lines)
        return line.upper() if self._chance(0.3) else line

    def _words(self) -> str:
        count = self._random.choice((1, 1, 2, 2, 2, 3, 3, 4))
        text = " ".join(self._word() for _ in range(count))
        if self._chance(0.35):
            text += " " + self._number()
        if self._chance(0.1):
            text = self._number() + " " + text
        return self._random.choice(_AROUND).format(text) if self._chance(0.06) else text

    def _word(self) -> str:
        languages = self._vocabulary.words
        common = [language for language in _COMMON if language in languages]
        names = common if common and self._chance(0.5) else list(languages)
        word = self._frequent(languages[self._random.choice(names)])
        (spelled,) = self._random.choices((word.upper(), word.capitalize(), word), (62, 18, 20))
        if len(spelled) > 4 and self._chance(0.12):
            spelled = spelled[: self._random.randint(2, len(spelled) - 1)]
        if len(spelled) > 3 and self._chance(0.06):
            spelled = spelled[0] + "".join(c for c in spelled[1:] if c.lower() not in "aeiou")
        return spelled

    def _number(self) -> str:
        kinds = (self._amount, self._digits, self._moment, self._id, self._quantity)
        (kind,) = self._random.choices(kinds, (45, 15, 15, 10, 15))
        return kind()

    def _amount(self) -> str:
        whole = int(10 ** self._random.uniform(0, 4.2))
        text = f"{whole:,}.{self._random.randint(0, 99):02d}"
        european = text.translate(str.maketrans(",.", ".,"))
        (spelled,) = self._random.choices((european, text.replace(",", ""), text), (4, 3, 3))
        return self._random.choice(_BEFORE) + spelled + self._random.choice(_AFTER)

    def _digits(self, least: int = 3, most: int = 14) -> str:
        return "".join(self._random.choices(_DIGITS, k=self._random.randint(least, most)))

    def _moment(self) -> str:
        number = self._random.randint
        date = self._random.choice(_DATES).format(
            d=f"{number(1, 31):02d}",
            m=f"{number(1, 12):02d}",
            y=number(2005, 2029),
            z=number(10, 29),
        )
        time = f" {number(0, 23):02d}:{number(0, 59):02d}" if self._chance(0.5) else ""
        return date + time + (f":{number(0, 59):02d}" if time and self._chance(0.5) else "")

    def _id(self) -> str:
        of = {"9": _DIGITS, "A": "TUVWXKMPAHD"}
        pattern = self._random.choice(_IDS)
        return "".join(self._random.choice(of.get(letter, letter)) for letter in pattern)

    def _quantity(self) -> str:
        number = self._random.choice(
            (
                str(self._random.randint(1, 12)),
                str(self._random.randint(1, 1500)),
                f"{self._random.random() * 9:.1f}",
                f"{self._random.random() * 9:.2f}".replace(".", ","),
            )
        )
        return self._random.choice(_QUANTITIES).format(number)

    def _codes(self) -> str:
        alphabet = self._random.choice(_ALPHABETS)
        code = "".join(self._random.choices(alphabet, k=self._random.randint(2, 10)))
        return code if self._chance(0.7) else f"{code} {self._digits(1, 6)}"

    def _marks(self) -> str:
        return "".join(self._random.choices(_MARKS, k=self._random.randint(2, 8)))
