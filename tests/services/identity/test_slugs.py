"""Slugs of orgs."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recibo.services.identity import orgs
from recibo.store import tables
from recibo.store.db import Database

WELL_FORMED = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@given(st.text(max_size=255))
def test_slug_of_any_name_is_words_in_ascii(name: str) -> None:
    slug = orgs.slug_of(name)

    assert WELL_FORMED.fullmatch(slug)
    assert len(slug) <= 60
    assert slug == orgs.slug_of(slug)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Padaria Aurora", "padaria-aurora"),
        ("ÁÇÃO & Filhos S/A", "acao-filhos-s-a"),
        ("ﬁnance №5", "finance-no5"),
        ("a_b.c", "a-b-c"),
        ("Straße & Łódź, Smørrebrød", "strasse-lodz-smorrebrod"),
        ("", "org"),
        ("日本", "org"),
        ("x" * 61, "x" * 60),
    ],
)
def test_slug_is_folded_and_joined_by_hyphens(name: str, slug: str) -> None:
    assert slug == orgs.slug_of(name)


async def slug_of_added(database: Database, name: str) -> str:
    """Add an org and return its slug."""
    async with database.write() as session:
        org_id = await orgs.add(session, name, billing_email="a@b.test")
        return (await session.get_one(tables.Org, org_id)).slug


async def test_taken_slugs_are_numbered_and_gaps_are_filled(database: Database) -> None:
    names = ["Aurora", "aurora 2", "AURORA", "Aurora", "Aurora 2", "aurora-10"]

    assert ["aurora", "aurora-2", "aurora-3", "aurora-4", "aurora-2-2", "aurora-10"] == [
        await slug_of_added(database, name) for name in names
    ]


async def test_signs_that_databases_take_for_any_are_none(database: Database) -> None:
    assert ["a-b", "axb", "a-b-2"] == [
        await slug_of_added(database, name) for name in ("a_b", "axb", "a%b")
    ]
