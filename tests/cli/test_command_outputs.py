"""What `recibo extract` prints, stores and renames, in each format."""

import csv
import io
import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

from recibo.cli.examples import EXAMPLES
from tests.adapters import process_exits
from tests.cli.test_command import FAULTY_RECIBO, RECIBO, ROOT, run, said_on, write


def test_json_is_one_array(tmp_path: Path) -> None:
    files = [write(tmp_path, f"{text}.jpg", text) for text in ("fine", "bug")]
    done = run(FAULTY_RECIBO, "extract", "--format", "json", *files)

    first, second = json.loads(done.stdout)
    assert "fine" == first["merchant_name"]
    assert "error" in second
    assert 1 == done.returncode


def test_csv_is_safe_in_a_spreadsheet(tmp_path: Path) -> None:
    write(tmp_path, "a.jpg", "=HYPERLINK(1)")
    write(tmp_path, "b\n.jpg", "unreadable")
    done = run(FAULTY_RECIBO, "extract", "--format", "csv", tmp_path)

    first, second = csv.DictReader(io.StringIO(done.stdout.decode(), newline=""))
    assert "'=HYPERLINK(1)" == first["merchant_name"]
    assert "missing total" in first["review"]
    assert f"{tmp_path}/b\n.jpg" == second["file"]
    assert second["error"].endswith(".")


def test_table_shows_no_control_characters(tmp_path: Path) -> None:
    write(tmp_path, "a\x1b[2J\n.jpg", "Cafe \x1b[31m [bold]")
    done = run(FAULTY_RECIBO, "extract", "--format", "table", tmp_path)

    assert b"\x1b" not in done.stdout
    assert b"[bold]" in done.stdout


def test_output_has_a_file_for_each_document(tmp_path: Path) -> None:
    for folder in ("in", "in/deep"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, "a.jpg", f"from {folder}")
    write(tmp_path / "in", "broken.jpg", "unreadable")
    done = run(FAULTY_RECIBO, "extract", "--output", tmp_path / "out", tmp_path / "in")

    written = {str(one.relative_to(tmp_path / "out")) for one in (tmp_path / "out").rglob("*.json")}
    assert {"a.jpg.json", "deep/a.jpg.json"} == written
    assert b"2 read, 2 need review, 1 failed" == done.stderr.splitlines()[-1]
    assert b"broken.jpg: " in done.stderr
    assert (1, b"") == (done.returncode, done.stdout)


def test_result_that_cannot_have_its_name_stops_no_other(tmp_path: Path) -> None:
    long = write(tmp_path, "a" * 250 + ".jpg", "fine")
    done = run(
        FAULTY_RECIBO, "extract", "--output", tmp_path / "out", long,
        write(tmp_path, "b.jpg", "fine"),
    )  # fmt: skip

    assert ["b.jpg.json"] == [one.name for one in (tmp_path / "out").iterdir()]
    assert b"name" in done.stderr.splitlines()[0]
    assert (1, b"1 read, 1 needs review, 1 failed") == (
        done.returncode,
        done.stderr.splitlines()[-1],
    )


def test_folder_of_results_that_is_a_file_is_named(tmp_path: Path) -> None:
    taken = write(tmp_path, "out", "")
    done = run(FAULTY_RECIBO, "extract", "--output", taken, write(tmp_path, "a.jpg", "fine"))

    assert f"{taken}" in done.stderr.decode()
    assert 1 == done.returncode


def test_same_names_from_different_places_are_kept_apart(tmp_path: Path) -> None:
    files = []
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        files.append(write(tmp_path / folder, "a.jpg", folder))
    run(FAULTY_RECIBO, "extract", "--output", tmp_path / "out", *files)

    assert {"x", "y"} == {
        json.loads(one.read_text())["merchant_name"] for one in (tmp_path / "out").iterdir()
    }


def test_output_of_lines_is_one_file(tmp_path: Path) -> None:
    run(
        FAULTY_RECIBO, "extract", "--output", tmp_path / "out", "--format", "csv",
        write(tmp_path, "a.jpg", "fine"),
    )  # fmt: skip

    assert ["receipts.csv"] == [one.name for one in (tmp_path / "out").iterdir()]


def test_renames_are_printed_and_done(tmp_path: Path) -> None:
    for name, text in (("1.jpg", "Cafe"), ("2.jpg", "Bar"), ("3.jpg", "unreadable")):
        write(tmp_path, name, text)
    template = ["--rename", "{merchant_name}"]
    done = run(FAULTY_RECIBO, "extract", *template, tmp_path, tmp_path / "1.jpg")

    assert [("1.jpg", "Cafe.jpg"), ("2.jpg", "Bar.jpg")] == [
        tuple(part.removeprefix(f"{tmp_path}/") for part in line.split(" -> "))
        for line in done.stdout.decode().splitlines()
    ]
    assert {"Cafe.jpg", "Bar.jpg", "3.jpg"} == {one.name for one in tmp_path.iterdir()}
    assert done.stderr.endswith(b"2 read, 2 need review, 2 renamed, 1 failed\n")


def test_dry_run_renames_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "1.jpg", "Cafe")
    done = run(FAULTY_RECIBO, "extract", "--rename", "{merchant_name}", "--dry-run", path)

    assert b"Cafe.jpg" in done.stdout
    assert done.stderr.endswith(b", 1 to rename\n")
    assert path.exists()


def test_options_that_do_not_go_together_are_wrong_usage(tmp_path: Path) -> None:
    path = write(tmp_path, "1.jpg", "Cafe")

    for options in (
        ["--dry-run"], ["--copy-to", "x"], ["--format", "table", "--output", "x"],
        ["--rename", "{nothing}"],
    ):  # fmt: skip
        assert 2 == run(FAULTY_RECIBO, "extract", *options, path).returncode


def test_terminal_shows_the_current_file_and_a_summary(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path, f"{number}.jpg", "fine")
    terminal, side = pty.openpty()
    with subprocess.Popen(
        [*FAULTY_RECIBO, "extract", tmp_path], cwd=ROOT, stdout=subprocess.PIPE, stderr=side
    ) as command:
        os.close(side)
        command.communicate(timeout=process_exits.PATIENCE_S)
    shown = said_on(terminal)

    assert b"reading 0.jpg" in shown
    assert b"3 read, 3 need review" in shown


def test_every_command_has_examples_in_its_help() -> None:
    for name in EXAMPLES:
        said = run(RECIBO, name, "--help").stdout.decode()
        assert "examples:" in said, name
        assert EXAMPLES[name].strip() in said


def test_completion_script_is_one_that_bash_accepts() -> None:
    script = run(RECIBO, "completion", "bash").stdout

    assert b"--rename" in script
    assert (
        0
        == subprocess.run([shutil.which("bash") or "", "-n"], input=script, check=False).returncode
    )
