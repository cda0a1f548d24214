"""`recibo watch FOLDER` as a process, without a server: results next to the documents."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.adapters import process_exits
from tests.cli.test_command import FAULTY_RECIBO, RECIBO, ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "inbox"
    path.mkdir()
    return path


def test_real_receipt_that_is_dropped_is_read(folder: Path) -> None:
    with watching(folder, RECIBO) as watch:
        shutil.copyfile(ROOT / "docs" / "pictures" / "receipt.png", folder / "receipt.png")
        printed = next_line(watch)
        stop(watch)
    read = result(folder, "receipt.png")

    assert read["total"]
    assert f"receipt.png: {read['total']} {read['currency']} {read['merchant_name']}\n" == printed


def test_half_written_file_is_read_once_it_is_finished(folder: Path) -> None:
    path = folder / "a.jpg"
    with watching(folder) as watch:
        with path.open("w") as slow:
            slow.write("fini")
            slow.flush()
            drop(folder, "b.jpg", "fine")
            first = next_line(watch)
            is_read_early = (folder / "a.jpg.recibo.json").exists()
            slow.write("shed")
        second = next_line(watch)
        stop(watch)

    assert ("b.jpg: fine\n", False) == (first, is_read_early)
    assert "a.jpg: finished\n" == second


def test_names_that_are_not_utf8_or_too_long_end_nothing(folder: Path) -> None:
    inside = folder.with_name(os.fsdecode(b"caf\xe9"))
    inside.mkdir()
    (inside / "a.jpg").write_text("fine")
    with watching(folder) as watch:
        drop(folder, os.fsdecode(b"caf\xe9.jpg"), "fine")
        printed = [next_line(watch)]
        inside.rename(folder / inside.name)
        printed.append(next_line(watch))
        drop(folder, "b" * 245 + ".jpg", "fine")
        printed.append(next_line(watch))
        drop(folder, "c.jpg", "fine")
        printed.append(next_line(watch))
        stop(watch)

    assert ["caf\ufffd.jpg: fine\n", "caf\ufffd/a.jpg: fine\n", "c.jpg: fine\n"] == [
        line for line in printed if not line.startswith("bbb")
    ]
    assert "failed" in printed[2]
    assert "fine" == result(folder, os.fsdecode(b"caf\xe9.jpg"))["merchant_name"]


def test_restart_reads_only_what_is_new(folder: Path) -> None:
    drop(folder, "a.jpg", "fine")
    drop(folder, "b.jpg", "unreadable")
    with watching(folder) as watch:
        before = [next_line(watch), next_line(watch)]
        stop(watch)
    results = {path.name: path.stat() for path in folder.glob("*.json")}
    # Files are processed by name: this one comes after those that must not be read again.
    drop(folder, "c.jpg", "fine")
    with watching(folder) as watch:
        after = next_line(watch)
        stop(watch)

    assert ["a.jpg", "b.jpg"] == [line.partition(":")[0] for line in before]
    assert "c.jpg: fine\n" == after
    assert results == {name: (folder / name).stat() for name in results}


def test_kill_in_the_middle_loses_nothing_and_repeats_nothing(folder: Path) -> None:
    drop(folder, "a.jpg", "fine")
    with watching(folder) as watch:
        assert "a.jpg: fine\n" == next_line(watch)
        drop(folder, "b.jpg", "hang")
        kill_while_it_reads(watch)
    left = sorted(path.name for path in folder.iterdir())
    # The next process begins with the document at which the first one died.
    with watching(folder) as watch:
        kill_while_it_reads(watch)
    drop(folder, "b.jpg", "fine")
    with watching(folder) as watch:
        printed = next_line(watch)
        stop(watch)

    assert [".recibo-watch.jsonl", "a.jpg", "a.jpg.recibo.json", "b.jpg"] == left
    assert "b.jpg: fine\n" == printed
    assert "fine" == result(folder, "b.jpg")["merchant_name"]


@contextmanager
def watching(folder: Path, command: list[str] = FAULTY_RECIBO) -> Iterator["subprocess.Popen[str]"]:
    arguments = ["watch", str(folder), "--settle", "0"]
    with subprocess.Popen(
        [*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as watch:
        try:
            yield watch
        finally:
            watch.kill()


def next_line(watch: "subprocess.Popen[str]") -> str:
    assert watch.stdout
    return watch.stdout.readline()


def stop(watch: "subprocess.Popen[str]") -> None:
    """End the process as a service manager does, and see that nothing more was read."""
    watch.send_signal(signal.SIGTERM)
    rest, _ = watch.communicate(timeout=process_exits.PATIENCE_S)
    assert ("", 0) == (rest, watch.returncode)


def kill_while_it_reads(watch: "subprocess.Popen[str]") -> None:
    reader = process_exits.wait_until_child_is_deaf(watch.pid)
    watch.kill()
    assert process_exits.wait_until_gone(reader)
    rest, _ = watch.communicate(timeout=process_exits.PATIENCE_S)
    assert "" == rest


def drop(folder: Path, name: str, text: str) -> None:
    """Put a finished file into the folder at once."""
    finished = folder.with_name(name)
    finished.write_text(text)
    finished.rename(folder / name)


def result(folder: Path, name: str) -> dict[str, object]:
    read: dict[str, object] = json.loads((folder / f"{name}.recibo.json").read_text())
    return read
