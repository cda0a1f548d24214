"""The locks pin everything by hash, name no address, and agree with one another."""

import re
from pathlib import Path

import pytest

from tests.house import source

LOCKS = sorted(
    path for path in (source.ROOT / "requirements").glob("*.txt") if path.stem != "overrides"
)
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_every_pin_has_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    entries = re.split(r"\n(?=\S)", text.strip())

    assert [] == [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry]
    assert "://" not in text


def test_development_adds_to_the_service_and_changes_nothing() -> None:
    main, dev = (
        set(PIN.findall((source.ROOT / "requirements" / name).read_text()))
        for name in ("main.txt", "dev.txt")
    )

    assert set() == main - dev
