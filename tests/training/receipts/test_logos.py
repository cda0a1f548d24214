import numpy as np
import pytest

from training.receipts import kinds, logos
from training.receipts.faces import Case
from training.receipts.prints import Fill, Page, Text

PAGE = kinds.make("logos:1", "chain", "de-DE", Case()).print.pages[0]
NAME = next(mark.text for mark in PAGE.marks if isinstance(mark, Text)).strip()


def _logo(seed: int) -> Page:
    return logos.stylized(PAGE, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(20))
def test_a_logo_spells_the_first_row_inside_the_page(seed: int) -> None:
    drawn = [mark for mark in _logo(seed).marks if mark not in PAGE.marks]

    texts = [mark for mark in drawn if isinstance(mark, Text)]
    assert {letter for text in texts for letter in text.text} | {" "} in (
        {*NAME, " "},
        {" "},  # unchanged
    )
    assert all(0 <= text.left and text.left + text.width <= PAGE.width for text in texts)
    assert all(0 <= mark.x for mark in drawn if isinstance(mark, Fill))


def test_logos_have_many_styles_and_some_receipts_none() -> None:
    pages = [_logo(seed) for seed in range(40)]

    assert PAGE in pages
    assert len({page.marks for page in pages}) > 20
