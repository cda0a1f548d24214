import numpy as np

from training.receipts import traces


def test_notes_and_what_shines_through_only_darken_some_pages() -> None:
    page = np.full((400, 300), 255, np.uint8)
    page[50:350:20, 40:260] = 0
    made = [traces.traced(page, np.random.default_rng(seed)) for seed in range(40)]
    marked = [picture for picture in made if not np.array_equal(picture, page)]

    assert 0 < len(marked) < len(made)
    for picture in marked:
        added = page.astype(int) - picture
        assert added[page == 255].min() >= 0
        # The print can still be read.
        assert np.mean(picture[page == 255] > 128) > 0.9


def test_the_same_chance_leaves_the_same_traces() -> None:
    page = np.full((200, 150), 255, np.uint8)
    page[20:180:10, 20:130] = 0

    first, again = (
        [traces.traced(page, chance) for _ in range(20)]
        for chance in (np.random.default_rng(3), np.random.default_rng(3))
    )

    assert all(map(np.array_equal, first, again))
