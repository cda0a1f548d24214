"""Documents made to keep the library busy: so many words of one kind, set in one way."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from recibo.extract.model import Box, Word

#: A page of A4 at the resolution of text layers.
WIDTH, HEIGHT = 1654, 2339

_LETTER, _PITCH, _TALL = 9.0, 22.0, 16.0

#: Sets words on a page.
Setting = Callable[[Sequence[str]], Iterator[Word]]

KEY = "3524 0312 3456 7800 0195 5500 1000 0012 3410 0001 2347"

#: What the words of a monster say: each is repeated as often as words are wanted.
CONTENTS: Mapping[str, str] = MappingProxyType(
    {
        "one word": "lorem",
        "one letter": "a",
        "prose": "the quick brown fox jumps over a lazy dog beside the old river bank",
        "digits": "1 22 333 4444 55555 666666",
        "long digits": "12345678901234567890123456789012345678901234",
        "amounts": "1.00",
        "sums": "1.00 2.00 3.00 4.50 10.50 0.99 12.49",
        "grouped amounts": "1.234,56 12.345.678,90 1 234 567,00",
        "dates": "01/02/2024",
        "moments": "01/02/2024 10:11:12 2024-03-04 5 March 2024 06.07.24",
        "labels": "TOTAL",
        "all labels": "SUBTOTAL TAX TOTAL CASH CHANGE ROUNDING DISCOUNT VISA TOTAL DUE ITEMS",
        "labelled amounts": "TOTAL 1.00 TAX 0.10 SUBTOTAL 0.90 CASH 2.00 CHANGE 1.00",
        "totals": "TOTAL 12.00",
        "items": "Coffee 2 3.50 7.00",
        "headed items": "Description Qty Price Total Coffee 2 3.50 7.00",
        "headings": "Description Qty Unit Price Amount",
        "tax table": "Rate Net Tax Gross 19% 100.00 19.00 119.00 7% 10.00 0.70 10.70",
        "rates": "19% 1.00 0.19 1.19",
        "keys": KEY,
        "broken keys": KEY[:-1] + "9",
        "key groups": "1234",
        "cnpjs": "12.345.678/0001-95 CNPJ",
        "vat ids": "VAT DE123456789 FR12345678901 ATU12345678 GB123456789",
        "numbers": "Invoice No. 12345 Order #6789 Ref A-99",
        "companies": "ACME HOLDINGS SDN BHD GMBH LTDA INC.",
        "addresses": "12 Main Street 10115 Berlin Germany Kuala Lumpur Malaysia Sao Paulo SP",
        "currencies": "USD EUR RM R$ $ GBP 10.00 JPY 100",
        "danfe": (
            "DANFE CNPJ 12.345.678/0001-95 NATUREZA DA OPERACAO VENDA DATA DA EMISSAO 01/02/2024 "
            "VALOR TOTAL DA NOTA 1.234,56 BASE DE CALCULO DO ICMS 100,00 DESTINATARIO"
        ),
        "service note": (
            "NFS-e PRESTADOR DE SERVICOS CNPJ 12.345.678/0001-95 TOMADOR DE SERVICOS Numero da Nota "
            "12345 Valor Liquido 100,00 Aliquota ISS 2,00 Data de Emissao 01/02/2024 Razao Social"
        ),
        "coupon": (
            "CUPOM FISCAL ELETRONICO SAT CNPJ 12.345.678/0001-95 COO:012345 ITEM CODIGO 001 789 "
            "CAFE 1 UN X 3,50 3,50 SUBTOTAL TOTAL R$ 3,50 DINHEIRO 5,00 TROCO 1,50 01/02/2024"
        ),
        "consumer note": (
            "DOCUMENTO AUXILIAR DA NOTA FISCAL DE CONSUMIDOR ELETRONICA CAFE (Codigo: 10) Vl. Total "
            "Qtde.:2 UN: L Vl. Unit.: 4,50 9,00 Protocolo de autorizacao Valor a pagar R$ 9,00"
        ),
        "japanese": "合計 ¥1,200 小計 ¥1,100 消費税 ¥100 点 領収書",
        "signs": "( - $ : . , # * / % | @",
    }
)


def contents(name: str, count: int) -> list[str]:
    """Return so many words of a kind."""
    words = CONTENTS[name].split()
    return [words[index % len(words)] for index in range(count)]


def _at(text: str, x: float, y: float) -> Word:
    return Word(text, Box(x, y, x + _LETTER * len(text) - 2, y + _TALL), 1.0)


def _in_rows(words: Sequence[str], each: int) -> Iterator[Word]:
    for start in range(0, len(words), each):
        x = 20.0
        for text in words[start : start + each]:
            yield _at(text, x, 20 + start // each * _PITCH)
            x += _LETTER * (len(text) + 1)


def on_one_line(words: Sequence[str]) -> Iterator[Word]:
    """Set all words side by side."""
    return _in_rows(words, len(words))


def in_a_column(words: Sequence[str]) -> Iterator[Word]:
    """Set each word on a line of its own."""
    return _in_rows(words, 1)


def in_rows(words: Sequence[str]) -> Iterator[Word]:
    """Set a few words a line, as printed papers do."""
    return _in_rows(words, 7)


def in_table(words: Sequence[str]) -> Iterator[Word]:
    """Set four words a line, far apart in columns."""
    for index, text in enumerate(words):
        yield _at(text, 20 + index % 4 * 400, 20 + index // 4 * _PITCH)


def at_one_place(words: Sequence[str]) -> Iterator[Word]:
    """Set all words over one another."""
    return (_at(text, 20, 20) for text in words)


def at_random(words: Sequence[str]) -> Iterator[Word]:
    """Set the words anywhere on a page."""
    chance = random.Random(7)
    for text in words:
        yield _at(text, chance.uniform(0, WIDTH), chance.uniform(0, HEIGHT))


def on_a_diagonal(words: Sequence[str]) -> Iterator[Word]:
    """Set each word a little right of the last one and below it."""
    for index, text in enumerate(words):
        yield _at(text, index * 3.0, index * 1.5)


def over_the_page(words: Sequence[str]) -> Iterator[Word]:
    """Give each word nearly the whole page."""
    for index, text in enumerate(words):
        yield Word(text, Box(0, index * 0.001, WIDTH, HEIGHT), 1.0)


def upended(words: Sequence[str]) -> Iterator[Word]:
    """Set the words up the page, side by side."""
    for index, text in enumerate(words):
        tall = _LETTER * len(text)
        yield Word(text, Box(index * 20, 20, index * 20 + 16, 20 + tall), 1.0, is_upended=True)


def slanted(words: Sequence[str]) -> Iterator[Word]:
    """Set rows that fall and bend as on a photo."""
    chance = random.Random(7)
    for word in _in_rows(words, 7):
        yield Word(word.text, word.box, 0.9, slope=chance.uniform(-0.05, 0.05))


SETTINGS: Sequence[Setting] = (
    on_one_line,
    in_a_column,
    in_rows,
    in_table,
    at_one_place,
    at_random,
    on_a_diagonal,
    over_the_page,
    upended,
    slanted,
)
