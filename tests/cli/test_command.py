"""`recibo extract` as a shell sees it: its output, its status, its end."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recibo.extract.model import Accuracy, DocumentType
from tests.adapters import process_exits

ROOT = Path(__file__).parents[2]
RECIBO = [sys.executable, "-m", "recibo"]
FAULTY_RECIBO = [sys.executable, str(Path(__file__).with_name("faulty_recibo.py"))]


def run(command: list[str], *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, check=False)


def start(
    *arguments: str | Path, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    command = [*FAULTY_RECIBO, "extract", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=stdout, stderr=stderr)


def lines(output: bytes) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.splitlines()]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_version_is_printed() -> None:
    assert run(RECIBO, "--version").stdout == b"recibo 0.1.0\n"


@pytest.mark.parametrize(
    "arguments",
    [[], ["extract"], ["extract", "--type", "x", "a"], ["extract", "--accuracy", "x", "a"], ["x"]],
)
def test_wrong_usage_is_status_2(arguments: list[str]) -> None:
    done = run(RECIBO, *arguments)

    assert done.returncode == 2
    assert done.stdout == b""
    assert b"usage:" in done.stderr


def test_help_names_every_type_and_accuracy() -> None:
    said = run(RECIBO, "extract", "--help").stdout.decode()

    assert [] == [value for value in (*DocumentType, *Accuracy) if value not in said]


def test_status_is_0_when_all_were_read_and_1_when_not(tmp_path: Path) -> None:
    files = [write(tmp_path, f"{text}.jpg", text) for text in ("shout", "fine")]
    good = run(FAULTY_RECIBO, "extract", *files)
    bad = run(FAULTY_RECIBO, "extract", *files, tmp_path / "none.jpg", *files)

    assert (good.returncode, bad.returncode) == (0, 1)
    assert [line["merchant_name"] for line in lines(good.stdout)] == ["shout", "fine"]
    assert [line["file"] for line in lines(bad.stdout)] == [
        *map(str, files),
        str(tmp_path / "none.jpg"),
        *map(str, files),
    ]


def test_document_that_kills_its_reader_costs_the_others_nothing(tmp_path: Path) -> None:
    texts = ["fine", "segfault", "killed", "bug", "fine"]
    files = [write(tmp_path, f"{number}.jpg", text) for number, text in enumerate(texts)]
    done = run(FAULTY_RECIBO, "extract", *files)

    assert done.returncode == 1
    assert ["error" in line for line in lines(done.stdout)] == [False, True, True, True, False]


def test_hyphen_reads_stdin(tmp_path: Path) -> None:
    with write(tmp_path, "a.jpg", "fine").open("rb") as stdin:
        done = subprocess.run(
            [*FAULTY_RECIBO, "extract", "-"], cwd=ROOT, stdin=stdin, capture_output=True, check=True
        )

    (line,) = lines(done.stdout)
    assert (line["file"], line["merchant_name"]) == ("-", "fine")


def test_interrupt_ends_command_and_children_without_noise(tmp_path: Path) -> None:
    with start(write(tmp_path, "a.jpg", "hang")) as command:
        child = process_exits.wait_until_child_is_deaf(command.pid)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=process_exits.PATIENCE_S)

    assert (command.returncode, out, err) == (130, b"", b"")
    assert process_exits.wait_until_gone(child)


def test_kill_leaves_no_child(tmp_path: Path) -> None:
    with start(write(tmp_path, "a.jpg", "hang")) as command:
        child = process_exits.wait_until_child_is_deaf(command.pid)
        command.kill()

    assert process_exits.wait_until_gone(child)


def test_reader_of_the_output_that_leaves_ends_the_command_quietly(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with start(write(tmp_path, "a.jpg", "fine"), stdout=write_end) as command:
        os.close(write_end)
        _, err = command.communicate(timeout=process_exits.PATIENCE_S)

    assert (command.returncode, err) == (141, b"")


def test_full_disk_is_reported_in_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = start(write(tmp_path, "a.jpg", "fine"), stdout=full.fileno())
    with command:
        _, err = command.communicate(timeout=process_exits.PATIENCE_S)

    assert command.returncode == 1
    assert err.startswith(b"recibo: cannot go on")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(("count", "is_shown"), [(1, False), (3, True)])
def test_terminal_shows_how_far_several_files_have_come(
    tmp_path: Path, count: int, is_shown: bool
) -> None:
    files = [write(tmp_path, f"{number}.jpg", "fine") for number in range(count)]
    terminal, side = pty.openpty()
    with start(*files, stderr=side) as command:
        os.close(side)
        out, _ = command.communicate(timeout=process_exits.PATIENCE_S)
    shown = said_on(terminal)

    assert len(lines(out)) == count
    assert (b"reading" in shown) is is_shown


def said_on(terminal: int) -> bytes:
    """Return the output of a terminal that is closed."""
    said = b""
    with open(terminal, "rb", buffering=0) as stream:
        try:
            while part := stream.read(4096):
                said += part
        except OSError:  # Linux reports the end of a terminal like this.
            pass
    return said


def test_file_that_is_not_a_terminal_gets_no_progress(tmp_path: Path) -> None:
    files = [write(tmp_path, f"{number}.jpg", "fine") for number in range(3)]

    assert run(FAULTY_RECIBO, "extract", *files).stderr == b""
