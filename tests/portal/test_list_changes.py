"""Which lines of a list changed."""

import pytest

from recibo.portal import list_changes


def lines(*names: str) -> list[dict[str, str]]:
    return [{"name": name} for name in names]


@pytest.mark.parametrize(
    ("before", "after", "kept", "changed"),
    [
        ("abc", "abc", [(0, 0, True), (1, 1, True), (2, 2, True)], []),
        ("abc", "axc", [(0, 0, True), (1, 1, False), (2, 2, True)], [("b", "x")]),
        ("abc", "ac", [(0, 0, True), (2, 1, True)], [("b", None)]),
        ("ac", "abc", [(0, 0, True), (1, 2, True)], [(None, "b")]),
        ("", "a", [], [(None, "a")]),
    ],
)
def test_lines_are_kept_changed_added_or_removed(
    before: str,
    after: str,
    kept: list[tuple[int, int, bool]],
    changed: list[tuple[str | None, str | None]],
) -> None:
    old, new = lines(*before), lines(*after)

    assert kept == list(list_changes.kept(old, new))
    assert changed == [
        (one and one["name"], other and other["name"])
        for one, other in list_changes.changed(old, new)
    ]


def test_many_lines_are_compared_by_their_places() -> None:
    old = lines("first", *(str(number % 2) for number in range(1000)), "last")
    new = lines("first", *(str(number // 3 % 2) for number in range(1000)), "last")

    found = list(list_changes.kept(old, new))

    assert [(number, number) for number in range(1002)] == [pair[:2] for pair in found]
    assert (True, True) == (found[0][2], found[-1][2])
