"""Long pictures are split so that nothing is lost or found twice."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recibo.extract.ocr.paddle import detection


@given(st.integers(min_value=1, max_value=40_000), st.integers(min_value=100, max_value=4000))
def test_every_place_is_owned_by_one_tile_that_contains_it(length: int, tile: int) -> None:
    spans = detection.spans(length, tile)

    assert spans[0].start == 0
    assert spans[-1].end == length
    assert all(span.end - span.start <= tile for span in spans)
    for place in np.linspace(0, length - 1, 50):
        (owner,) = [span for span in spans if span.owns(place)]
        assert owner.start <= place < owner.end
