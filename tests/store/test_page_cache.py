"""The cache of drawn pages."""

import datetime as dt
import os
from pathlib import Path

import pytest

from recibo.lib import clock
from recibo.store import page_cache
from recibo.store.page_cache import PageCache

OLD = (b"old", "a", 1)
NEW = (b"new", "b", 1)


def files(folder: Path) -> list[Path]:
    """Return the cached files."""
    return list(folder.glob("*/*.webp"))


async def cached(folder: Path, age: dt.timedelta) -> PageCache:
    """Return a cache of OLD, whose age is given, and NEW."""
    cache = PageCache(folder)
    await cache.put(*OLD)
    changed = (clock.now() - age).timestamp()
    [path] = files(folder)
    os.utime(path, (changed, changed))
    await cache.put(*NEW)
    return cache


async def contents(cache: PageCache) -> list[bytes | None]:
    """Return what is cached of OLD and NEW."""
    return [await cache.get(*key) for _, *key in (OLD, NEW)]


@pytest.mark.parametrize(("days", "kept"), [(6, b"old"), (8, None)])
async def test_pages_are_kept_for_a_week(days: int, kept: bytes | None, tmp_path: Path) -> None:
    cache = await cached(tmp_path, dt.timedelta(days=days))

    await cache.prune()

    assert [kept, b"new"] == await contents(cache)


async def test_oldest_pages_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_cache, "_MAX_BYTES", 3)
    cache = await cached(tmp_path, dt.timedelta(hours=1))

    await cache.prune()

    assert [None, b"new"] == await contents(cache)


async def test_cache_without_room_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = PageCache(tmp_path / "file" / "folder")

    await cache.put(*NEW)

    assert [None, None] == await contents(cache)


async def test_only_the_owner_reads_pages(tmp_path: Path) -> None:
    await PageCache(tmp_path).put(*NEW)

    [path] = files(tmp_path)
    assert 0o600 == path.stat().st_mode & 0o777
