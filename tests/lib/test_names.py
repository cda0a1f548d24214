"""Names that strangers chose, as mails show them."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recibo.lib import names

# What a mail client may make a link of, generously: a scheme, an address of a page or a mailbox,
# a server's share; with the dots, colons and slashes that browsers read as plain ones.
DOTS, COLONS, ATS = ".\u2024\u3002\uff0e\uff61", ":\uff1a", "@\uff20"
SLASHES, BACKSLASHES = "/\uff0f", "\\\uff3c"
LINK = re.compile(
    rf"\S[{DOTS}]\S|\w[{COLONS}]\S|\S[{ATS}]|[{ATS}]\S|[{SLASHES}]{{2}}|[{re.escape(BACKSLASHES)}]"
)
UNSEEN = "\u200b\u202e\r\n\t\x00\u2028\x85\ufeff "
PIECES = st.sampled_from(
    [
        *("http", "https:", "://", "www", "evil", "example", "/x", "\xe9"),
        *(DOTS + COLONS + ATS + SLASHES + BACKSLASHES + UNSEEN),
    ]
)
HOSTILE = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join))


@pytest.mark.parametrize(
    "name",
    ["Acme", "Padaria São João", "Müller & Söhne", "株式会社", 'O\'Neil "Quick"', "24/7 Café"],
)
def test_plain_name_stays_as_it_is(name: str) -> None:
    assert name == names.sanitize_name(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("http://evil.example/x", "http: /evil. example/x"),
        ("evil.example", "evil. example"),
        ("mara@evil.example", "mara @ evil. example"),
        ("evil\u200b.\u200bexample", "evil. example"),
        ("\\\\evil\\share", "evil share"),
        ("javascript:alert(1)", "javascript: alert(1)"),
        ("Acme Inc.", "Acme Inc."),
        ("J.P. Sousa", "J. P. Sousa"),
        ("two\r\nlines", "two lines"),
        ("\u202egnorw", "gnorw"),
        ("  much   room  ", "much room"),
        ("", "(no name)"),
        ("\x00\u200b", "(no name)"),
    ],
)
def test_name_loses_what_could_be_a_link_or_a_trick(name: str, expected: str) -> None:
    assert expected == names.sanitize_name(name)


def test_long_name_is_cut_to_80_characters() -> None:
    assert "n" * 80 == names.sanitize_name("n" * 81)
    assert "n" * 80 == names.sanitize_name("n" * 80)


@given(HOSTILE)
@example("a" * 79 + ".b")
def test_no_name_is_too_hostile(name: str) -> None:
    shown = names.sanitize_name(name)

    assert 1 <= len(shown) <= 80
    assert LINK.search(shown) is None
    kinds = {unicodedata.category(character)[0] for character in shown if character != " "}
    assert not kinds & {"C", "Z"}
