"""Documents that are slow to process: many words of one kind in one arrangement."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType, MappingProxyType
from typing import TYPE_CHECKING, Any

from recibo.extract.model import Box, TextPage, Word

if TYPE_CHECKING:
    from _typeshed import TraceFunction

#: A page of A4 at the resolution of text layers.
WIDTH, HEIGHT = 1654, 2339

_LETTER, _PITCH, _TALL = 9.0, 22.0, 16.0
# Multiples of these, without their whole parts, are spread evenly.
_GOLDEN, _SILVER = 0.6180339887, 0.4142135623

#: Arranges words on a page.
Setting = Callable[[Sequence[str]], Iterator[Word]]

_KEY = "3524 0312 3456 7800 0195 5500 1000 0012 3410 0001 2347"

#: The words of each kind of document, which are repeated until there are enough.
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
        "all labels": "SUBTOTAL TAX TOTAL CASH CHANGE ROUNDING DISCOUNT VISA DUE ITEMS",
        "labelled amounts": "TOTAL 1.00 TAX 0.10 SUBTOTAL 0.90 CASH 2.00 CHANGE 1.00",
        "payments": "CASH 1.00 CARD 2.00",
        "charges": "Power TOTAL 1.00 2.00",
        "items": "Coffee 2 3.50 7.00",
        "headings": "Description Qty Unit Price Number",
        "headed items": "Description Qty Price Total Coffee 2 3.50 7.00",
        "tax table": "Rate Net Tax Gross 19% 100.00 19.00 119.00 7% 10.00 0.70 10.70",
        "keys": _KEY,
        "broken keys": _KEY[:-1] + "9",
        "tax ids": "12.345.678/0001-95 CNPJ VAT DE123456789 GB123456789",
        "numbers": "Invoice No. 12345 Order #6789 Ref A-99",
        "companies": "ACME HOLDINGS SDN BHD GMBH LTDA INC.",
        "addresses": "12 Main Street 10115 Berlin Germany Kuala Lumpur Malaysia Curitiba PR",
        "currencies": "USD EUR RM R$ $ GBP 10.00 JPY 100",
        "danfe": (
            "DANFE CNPJ 12.345.678/0001-95 NATUREZA DA OPERACAO VENDA DATA DA EMISSAO 01/02/2024 "
            "VALOR TOTAL DA NOTA 1.234,56 BASE DE CALCULO DO ICMS 100,00 DESTINATARIO"
        ),
        "service note": (
            "NFS-e PRESTADOR DE SERVICOS CNPJ 12.345.678/0001-95 TOMADOR DE SERVICOS Numero da "
            "Nota 12345 Valor Liquido 100,00 Aliquota ISS 2,00 Data de Emissao 01/02/2024"
        ),
        "coupon": (
            "CUPOM FISCAL ELETRONICO SAT CNPJ 12.345.678/0001-95 COO:012345 CODIGO 001 CAFE 1 UN X "
            "3,50 3,50 SUBTOTAL TOTAL R$ 3,50 DINHEIRO 5,00 TROCO 1,50 01/02/2024 10:11 Serie 1"
        ),
        "consumer note": (
            "DOCUMENTO AUXILIAR DA NOTA FISCAL DE CONSUMIDOR ELETRONICA CNPJ CAFE (Codigo: 10) "
            "Qtde.:2 UN: L Vl. Unit.: 4,50 9,00 Protocolo de autorizacao Valor a pagar R$ 9,00"
        ),
        "japanese": "合計 ¥1,200 小計 ¥1,100 消費税 ¥100 点 領収書",
        "signs": "( - $ : . , # * / % | @",
    }
)


def contents(name: str, count: int) -> list[str]:
    """Return this many words of a kind."""
    words = CONTENTS[name].split()
    return [words[index % len(words)] for index in range(count)]


def text_page(name: str, count: int, setting: Setting, *, rows: Callable[..., Any]) -> TextPage:
    """Return a page of this many words, put into lines by `rows`."""
    return TextPage(1, WIDTH, HEIGHT, rows(setting(contents(name, count))), is_exact=True)


def on_one_line(words: Sequence[str]) -> Iterator[Word]:
    """Put all words on one line."""
    return _in_rows(words, len(words))


def in_a_column(words: Sequence[str]) -> Iterator[Word]:
    """Put each word on a separate line."""
    return _in_rows(words, 1)


def in_rows(words: Sequence[str]) -> Iterator[Word]:
    """Put a few words on each line, as on printed documents."""
    return _in_rows(words, 7)


def in_table(words: Sequence[str]) -> Iterator[Word]:
    """Put four words on each line, in columns far apart."""
    for index, text in enumerate(words):
        yield _at(text, 20 + index % 4 * 400, 20 + index // 4 * _PITCH)


def at_one_place(words: Sequence[str]) -> Iterator[Word]:
    """Put all words at the same place."""
    return (_at(text, 20, 20) for text in words)


def at_random(words: Sequence[str]) -> Iterator[Word]:
    """Put the words at random places."""
    for index, text in enumerate(words):
        yield _at(text, index * _GOLDEN % 1 * WIDTH, index * _SILVER % 1 * HEIGHT)


def on_a_diagonal(words: Sequence[str]) -> Iterator[Word]:
    """Put each word a little right of the last one and below it."""
    return (_at(text, index * 3.0, index * 1.5) for index, text in enumerate(words))


def over_the_page(words: Sequence[str]) -> Iterator[Word]:
    """Make each word nearly as large as the page."""
    for index, text in enumerate(words):
        yield Word(text, Box(0, index * 0.001, WIDTH, HEIGHT), 1.0)


def vertical(words: Sequence[str]) -> Iterator[Word]:
    """Put the words next to each other, each vertical."""
    for index, text in enumerate(words):
        bottom = 20 + _LETTER * len(text)
        yield Word(text, Box(index * 20, 20, index * 20 + 16, bottom), 1.0, is_vertical=True)


def slanted(words: Sequence[str], each: int = 7) -> Iterator[Word]:
    """Put the words on slanted and curved rows, as on a photo."""
    for index, word in enumerate(_in_rows(words, each)):
        yield Word(word.text, word.box, 0.9, slope=(index * _GOLDEN % 1 - 0.5) / 10)


SETTINGS: Sequence[Setting] = (
    on_one_line,
    in_a_column,
    in_rows,
    in_table,
    at_one_place,
    at_random,
    on_a_diagonal,
    over_the_page,
    vertical,
    slanted,
)


def _at(text: str, x: float, y: float) -> Word:
    return Word(text, Box(x, y, x + _LETTER * len(text) - 2, y + _TALL), 1.0)


def _in_rows(words: Sequence[str], each: int) -> Iterator[Word]:
    for start in range(0, len(words), each):
        x = 20.0
        for text in words[start : start + each]:
            yield _at(text, x, 20 + start // each * _PITCH)
            x += _LETTER * (len(text) + 1)


def steps(call: Callable[[], object]) -> int:
    """Count the lines of Python that a call runs: its work, independent of machine and load."""
    count = 0

    def trace(_frame: FrameType, event: str, _arg: object) -> "TraceFunction":
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
