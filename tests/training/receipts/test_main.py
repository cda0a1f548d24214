import json
import sys
from pathlib import Path

import pytest

from training.receipts import __main__ as command

TRUTH_FIELDS = {
    *("type", "merchant_name", "merchant_tax_id", "issued_at", "total", "subtotal", "tax"),
    *("currency", "document_number", "document_key", "line_items"),
}


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *options: str) -> None:
    monkeypatch.setattr(sys, "argv", ["receipts", str(folder), *options])
    command.main()


def test_a_folder_lists_its_files_in_the_format_of_scorers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch, tmp_path, "--count", "5", "--kind", "till", "fuel", "--look", "pdf", "clean")
    entries = json.loads((tmp_path / "truth.json").read_text("utf-8"))

    assert 5 == len(entries)
    for entry in entries:
        assert TRUTH_FIELDS == set(entry["truth"])
        assert {"pdf", "clean"} == set(entry["files"])
        assert all((tmp_path / path).stat().st_size for path in entry["files"].values())


def test_the_same_command_writes_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        run(monkeypatch, tmp_path / name, "--count", "4", "--seed", "3", "--language", "de", "pt")
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("one", "other")
    )

    assert one == other


def test_kinds_and_languages_alternate() -> None:
    made = command.orders(2000, 1)

    assert len(made) > len({(order.kind, order.language) for order in made}) > 80
    assert {"de-DE", "de-AT"} == {
        order.language for order in command.orders(9, 1, ["fuel"], ["de"])
    } - {"de-CH"}


def test_unknown_language_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="none of these kinds"):
        run(monkeypatch, tmp_path, "--language", "tlh")
