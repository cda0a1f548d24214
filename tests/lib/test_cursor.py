"""Page cursors."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.lib import cursor

LIST = {"org": "org_1", "type": None}
KEY = "key"


@given(position=st.text(), bound_to=st.dictionaries(st.text(), st.text()))
def test_position_comes_back(position: str, bound_to: dict[str, str]) -> None:
    made = cursor.encode(position, bound_to=bound_to, key=KEY)

    assert position == cursor.decode(made, bound_to=bound_to, key=KEY)


@given(st.text())
def test_what_was_not_made_here_is_refused(given_text: str) -> None:
    with pytest.raises(cursor.InvalidCursorError):
        cursor.decode(given_text, bound_to=LIST, key=KEY)


@given(st.data())
def test_changed_cursor_is_refused(data: st.DataObject) -> None:
    made = cursor.encode("rcp_1", bound_to=LIST, key=KEY)
    place = data.draw(st.integers(0, len(made) - 1))
    letter = data.draw(st.sampled_from("ab0_-."))
    changed = made[:place] + letter + made[place + 1 :]

    if changed != made:
        with pytest.raises(cursor.InvalidCursorError):
            cursor.decode(changed, bound_to=LIST, key=KEY)


def test_other_list_and_other_key_are_refused() -> None:
    made = cursor.encode("rcp_1", bound_to=LIST, key=KEY)

    for bound_to, key in (
        (LIST | {"type": "nfe"}, KEY),
        (LIST | {"org": "org_2"}, KEY),
        (LIST, ""),
    ):
        with pytest.raises(cursor.InvalidCursorError):
            cursor.decode(made, bound_to=bound_to, key=key)


def test_order_of_the_filters_does_not_matter() -> None:
    made = cursor.encode("rcp_1", bound_to=LIST, key=KEY)

    assert "rcp_1" == cursor.decode(made, bound_to=dict(reversed(LIST.items())), key=KEY)


def test_other_spellings_of_a_cursor_are_refused() -> None:
    """Base64 decoders take padding, foreign signs and loose last bits."""
    made = cursor.encode("rcp_1", bound_to=LIST, key=KEY)
    spellings = [made + end for end in ("=", "==", "!!!!")]
    spellings += [made[:-1] + last for last in string.ascii_letters if last != made[-1]]

    for spelling in spellings:
        with pytest.raises(cursor.InvalidCursorError):
            cursor.decode(spelling, bound_to=LIST, key=KEY)
