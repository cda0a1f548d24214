"""Ids."""

import pytest

from recibo.lib import clock, ids


def test_ids_name_their_kind_and_sort_by_time() -> None:
    made = [ids.new("rcp") for _ in range(1000)]

    assert sorted(set(made)) == made
    assert all(one.startswith("rcp_") for one in made)


def test_made_id_is_well_formed() -> None:
    assert ids.is_well_formed(ids.new("rcp"))


@pytest.mark.parametrize(
    "text",
    ["", "rcp", "rcp_", "rcp_0", "rcp_" + "0" * 31, "rcp_" + "0" * 33, "rcp_" + "G" * 32,
     "RCP_" + "0" * 32, "rcp_" + "0" * 32 + "\n", "rcp_" + "0" * 31 + "\0", "rcp_" + "\u0660" * 32],
)  # fmt: skip
def test_anything_else_is_not(text: str) -> None:
    assert not ids.is_well_formed(text)


def test_first_id_of_a_time_parts_the_earlier_from_the_later() -> None:
    before = clock.now().timestamp() - 1
    made = ids.new("rcp")
    after = clock.now().timestamp() + 1

    assert ids.first_at("rcp", before) < made < ids.first_at("rcp", after)


def test_times_that_ids_do_not_know_have_the_nearest_one() -> None:
    year_1, year_9999 = -62135596800.0, 253402300800.0
    bounds = [ids.first_at("rcp", seconds) for seconds in (year_1, 0, year_9999, 1e18)]

    assert all(ids.is_well_formed(bound) for bound in bounds)
    assert sorted(bounds) == bounds
    assert bounds[0] == bounds[1]
