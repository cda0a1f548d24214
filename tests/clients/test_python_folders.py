"""Folders are read with several uploads at once, and continued where they were left."""

import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from recibo_client import AsyncRecibo, FolderResult, Recibo, errors
from tests.make import jpeg
from tests.serving.running import Server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with five documents, one of them unreadable, and files that are none."""
    names = ["a.jpg", "b.JPG", "c.pdf", "sub/d.png", "sub/unreadable.jpg"]
    for name in [*names, "notes.txt", ".hidden.jpg", ".git/e.jpg"]:
        path = tmp_path / "inbox" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpeg(f"{tmp_path.name} {name}"))
    return tmp_path / "inbox"


def names(result: FolderResult, folder: Path) -> list[str]:
    return [one.path.relative_to(folder).as_posix() for one in result.files]


def test_all_documents_are_read_and_reported(recibo: Recibo, folder: Path) -> None:
    reports = list[tuple[int, int]]()

    result = recibo.receipts.extract_folder(
        folder,
        concurrency=3,
        metadata={"batch": folder.parent.name},
        on_file=lambda so_far, total: reports.append((len(so_far.files), total)),
    )

    assert ["a.jpg", "b.JPG", "c.pdf", "sub/d.png", "sub/unreadable.jpg"] == names(result, folder)
    assert "4 read, 0 known, 1 failed" == str(result)
    assert [(number, 5) for number in range(1, 6)] == reports
    [failed] = result.failed
    assert isinstance(failed.error, errors.LowConfidenceError)
    listed = recibo.receipts.list(metadata={"batch": folder.parent.name}, status="completed")
    assert {one.receipt_id for one in result.read} == {one.id for one in listed}


def test_second_run_uploads_only_what_is_new(recibo: Recibo, folder: Path) -> None:
    first = recibo.receipts.extract_folder(folder)
    (folder / "a.jpg").rename(folder / "renamed.jpg")
    (folder / "f.jpg").write_bytes(jpeg(f"{folder} f"))
    # As a crash may leave it.
    with (folder / ".recibo-journal.jsonl").open("a") as journal:
        journal.write('[]\n{"context": []}\n{"sha256": "ab')

    second = recibo.receipts.extract_folder(folder)

    assert "1 read, 4 known, 1 failed" == str(second)
    assert {one.receipt_id for one in first.read} == {one.receipt_id for one in second.known}
    assert "0 read, 5 known, 1 failed" == str(recibo.receipts.extract_folder(folder))


def test_files_of_another_organization_are_not_known(recibo: Recibo, folder: Path) -> None:
    recibo.receipts.extract_folder(folder)
    journal = folder / ".recibo-journal.jsonl"
    org_id = recibo.key().org_id
    journal.write_text(journal.read_text().replace(org_id, "org_another"))

    assert "0 known" in str(recibo.receipts.extract_folder(folder))

    # Version 0.1.0 did not note the organization.
    journal.write_text(journal.read_text().replace(f', "{org_id}"', ""))
    assert "4 known" in str(recibo.receipts.extract_folder(folder))


def test_higher_accuracy_reads_known_files_again(recibo: Recibo, folder: Path) -> None:
    recibo.receipts.extract_folder(folder)

    result = recibo.receipts.extract_folder(folder, accuracy="high")

    assert [] == result.known
    assert {"high"} == {one.receipt.accuracy for one in result.read if one.receipt}


def test_pattern_and_journal_are_chosen(recibo: Recibo, folder: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"

    result = recibo.receipts.extract_folder(folder, pattern="*.jpg", journal=journal)

    assert ["a.jpg"] == names(result, folder)
    assert journal.exists()
    assert not (folder / ".recibo-journal.jsonl").exists()


def test_refused_key_stops_all(server: Server, folder: Path) -> None:
    reports = list[str]()

    with (
        Recibo("sk_live_wrong", base_url=server.url) as stranger,
        pytest.raises(errors.UnauthorizedError),
    ):
        stranger.receipts.extract_folder(
            folder, concurrency=1, on_file=lambda so_far, _: reports.append(str(so_far))
        )

    # No file is sent to a server that refuses the key.
    assert [] == reports


def test_failing_callback_stops_all(recibo: Recibo, folder: Path) -> None:
    seen = list[int]()

    def fail(_: FolderResult, total: int) -> None:
        seen.append(total)
        message = "the disk is full"
        raise OSError(message)

    with pytest.raises(OSError, match="disk"):
        recibo.receipts.extract_folder(folder, concurrency=1, on_file=fail)

    assert [5] == seen


async def test_failing_callback_raises_its_own_error_in_asyncio(
    server: Server, folder: Path
) -> None:
    def fail(*_: object) -> None:
        message = "the disk is full"
        raise OSError(message)

    async with AsyncRecibo(server.secret, base_url=server.url) as client:
        with pytest.raises(OSError, match="disk"):
            await client.receipts.extract_folder(folder, concurrency=3, on_file=fail)


def test_journal_that_cannot_be_written_is_an_error_before_the_first_upload(
    recibo: Recibo, folder: Path
) -> None:
    before = len(list(recibo.receipts.list()))

    with pytest.raises(FileNotFoundError, match="nowhere"):
        recibo.receipts.extract_folder(folder, journal=folder / "nowhere" / "journal.jsonl")

    assert before == len(list(recibo.receipts.list()))


def test_missing_folder_is_named(recibo: Recibo, tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError, match="nowhere"):
        recibo.receipts.extract_folder(tmp_path / "nowhere")


async def test_asynchronous_client_does_the_same(server: Server, folder: Path) -> None:
    async with AsyncRecibo(server.secret, base_url=server.url) as client:
        first = await client.receipts.extract_folder(folder, concurrency=3)
        second = await client.receipts.extract_folder(folder, concurrency=3)

    assert "4 read, 0 known, 1 failed" == str(first)
    assert "0 read, 4 known, 1 failed" == str(second)


def test_interrupt_does_not_wait_for_a_busy_server(folder: Path, recibo: Recibo) -> None:
    key = recibo.key().model_dump_json().encode()
    is_uploading = threading.Event()

    class Busy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(200, key)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(503, b"{}")
            is_uploading.set()

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    # Where the tests run in the background, the signal is ignored.
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from recibo_client import Recibo; recibo = Recibo('sk', base_url=sys.argv[1]); "
        "recibo.receipts.extract_folder(sys.argv[2])"
    )
    command = [sys.executable, "-c", program]
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as busy:
        threading.Thread(target=busy.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{busy.server_port}"
        with subprocess.Popen([*command, url, str(folder)], stderr=subprocess.PIPE) as running:
            assert is_uploading.wait(60)
            running.send_signal(signal.SIGINT)
            try:
                _, errors_printed = running.communicate(timeout=60)
            finally:
                running.kill()
        busy.shutdown()

    assert b"KeyboardInterrupt" in errors_printed
