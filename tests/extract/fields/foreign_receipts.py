"""Receipts of our own as text, and the rows that the finders see."""

from recibo.extract.layout.rows import Row, rows
from tests.extract.fields import literals
from tests.extract.typesetting import text_page

_ALL = literals.documents("abroad")
MALAYSIAN, AMERICAN, GERMAN = (_ALL[name].text for name in ("malaysian", "american", "german"))


def rows_of(text: str) -> tuple[Row, ...]:
    """Return the rows of a text as an OCR engine would return them."""
    return rows([text_page(text, exact=False)])
