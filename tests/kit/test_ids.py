"""Ids."""

import pytest

from recibo.kit import ids


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
