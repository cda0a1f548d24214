"""`recibo watch`: each finished file once, whatever else happens in the folder."""

import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from watchfiles import Change

from recibo.adapters.fake_reader import FakeReader
from recibo.cli.readings import Options
from recibo.cli.watch import JOURNAL, Journal, JsonNextTo, Watch, WatchError
from tests.adapters import process_exits
from tests.cli.test_command import FAULTY_RECIBO, ROOT

Changes = set[tuple[Change, str]]


class Folder:
    """A watched folder whose changes the test reports."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reader = FakeReader()

    async def watch(self, *steps: Callable[[], object], settle_s: float = 0.0) -> None:
        """Run each step, reporting all files as changed after it."""
        await self.run(self._looks(steps), settle_s)

    async def run(self, changes: AsyncIterator[Changes], settle_s: float = 0.0) -> None:
        """Watch until there are no more changes."""
        journal = Journal(self.path / JOURNAL)
        try:
            watch = Watch(self.path, JsonNextTo(self.reader, Options()), journal, settle_s)
            await watch.run(changes)
        finally:
            journal.close()

    async def _looks(self, steps: tuple[Callable[[], object], ...]) -> AsyncIterator[Changes]:
        yield set()
        for step in steps:
            step()
            yield {(Change.modified, str(path)) for path in self.path.rglob("*")}

    def merchant(self, name: str) -> object:
        """Return the merchant in the result of a file."""
        path = self.path / f"{name}.recibo.json"
        return json.loads(path.read_text())["merchant_name"]

    @property
    def seen(self) -> list[bytes]:
        """Return the content of the files that were read."""
        return self.reader.seen


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


async def test_files_there_and_files_put_there_are_read(folder: Folder) -> None:
    (folder.path / "old.jpg").write_text("Cafe")
    await folder.watch(lambda: (folder.path / "new.pdf").write_text("Bar"))

    assert ("Cafe", "Bar") == (folder.merchant("old.jpg"), folder.merchant("new.pdf"))


async def test_file_put_there_while_the_reports_start_is_read(folder: Folder) -> None:
    async def reports() -> AsyncIterator[Changes]:
        (folder.path / "a.jpg").write_text("Cafe")
        yield set()

    await folder.run(reports())

    assert "Cafe" == folder.merchant("a.jpg")


async def test_file_is_read_once_even_after_a_restart(folder: Folder) -> None:
    path = folder.path / "a.jpg"
    path.write_text("Cafe")
    await folder.watch(path.touch, path.touch)
    await folder.watch(path.touch)

    assert [b"Cafe"] == folder.seen


async def test_new_content_is_read_again(folder: Folder) -> None:
    path = folder.path / "a.jpg"
    path.write_text("Cafe")
    await folder.watch(lambda: path.write_text("Bar"))

    assert [b"Cafe", b"Bar"] == folder.seen
    assert "Bar" == folder.merchant("a.jpg")


async def test_file_that_a_program_still_writes_waits(folder: Folder) -> None:
    path = folder.path / "a.jpg"
    writer = path.open("w")
    writer.write("Ca")
    writer.flush()

    def finish() -> None:
        assert [] == folder.seen
        writer.write("fe")
        writer.close()

    await folder.watch(finish)
    assert [b"Cafe"] == folder.seen


async def test_file_that_changed_lately_waits(folder: Folder) -> None:
    (folder.path / "a.jpg").write_text("Cafe")
    await folder.watch(lambda: None, lambda: None, settle_s=3600.0)

    assert [] == folder.seen


async def test_links_hidden_files_and_other_files_are_ignored(folder: Folder) -> None:
    outside = folder.path / "notes.txt"
    outside.write_text("secret")
    (folder.path / "link.jpg").symlink_to(outside)
    (folder.path / "circle").symlink_to(folder.path)
    (folder.path / ".hidden").mkdir()
    for name in (".a.jpg", ".hidden/b.jpg", "c.jpg.part"):
        (folder.path / name).write_text("hidden")
    os.mkfifo(folder.path / "pipe.jpg")
    await folder.watch(lambda: None)

    assert [] == folder.seen


async def test_file_that_vanishes_stops_nothing(folder: Folder) -> None:
    first, second = folder.path / "a.jpg", folder.path / "b\n.jpg"
    first.write_text("Cafe")
    second.write_text("Bar")
    await folder.watch(first.unlink)

    assert "Bar" == folder.merchant("b\n.jpg")


async def test_folder_that_vanishes_ends_the_watch(folder: Folder) -> None:
    moved = folder.path.with_name("moved")
    with pytest.raises(WatchError, match="gone"):
        await folder.watch(lambda: folder.path.rename(moved))


async def test_folder_moved_into_it_is_read(folder: Folder) -> None:
    outside = folder.path.with_name("outside")
    outside.mkdir()
    (outside / "a.jpg").write_text("Cafe")
    await folder.watch(lambda: outside.rename(folder.path / "inside"))

    assert "Cafe" == folder.merchant("inside/a.jpg")


async def test_journal_survives_half_a_line(folder: Folder) -> None:
    path = folder.path / "a.jpg"
    path.write_text("Cafe")
    await folder.watch()
    with (folder.path / JOURNAL).open("a") as journal:
        journal.write('{"file": "b.j')
    (folder.path / "b.jpg").write_text("Bar")
    await folder.watch()
    await folder.watch()

    assert [b"Cafe", b"Bar"] == folder.seen


async def test_folder_is_watched_by_one_process(folder: Folder) -> None:
    journal = Journal(folder.path / JOURNAL)
    with pytest.raises(WatchError, match="another"):
        await folder.watch()
    journal.close()


def test_command_reads_what_is_dropped_and_ends_on_a_signal(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("fine")
    arguments = ["watch", str(tmp_path), "--settle", "0"]
    with subprocess.Popen(
        [*FAULTY_RECIBO, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout
        assert "a.jpg: fine\n" == command.stdout.readline()
        (tmp_path / "part").write_text("unreadable")
        (tmp_path / "part").rename(tmp_path / "b.jpg")
        assert command.stdout.readline().startswith("b.jpg: failed: ")
        command.send_signal(signal.SIGTERM)
        assert 0 == command.wait(process_exits.PATIENCE_S)

    assert "error" in json.loads((tmp_path / "b.jpg.recibo.json").read_text())
