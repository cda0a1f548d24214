"""What an answer acknowledges is on disk before it is sent, as the system calls show."""

import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest

from tests import make_documents
from tests.serving.running import QUICK, serving

CALLS = "openat,write,pwrite64,writev,sendto,sendmsg,fsync,fdatasync,rename,mkdir"
# Long enough for a database page that contains the receipt's id.
STRING_BYTES = 8192
UNFINISHED = " <unfinished ...>"


async def traced_upload(data_dir: Path) -> tuple[str, list[str]]:
    """Upload one file to a fresh server; return the receipt's id and the server's system calls."""
    tracer = shutil.which("strace")
    assert tracer is not None, "scripts/debian-packages strace"
    trace = data_dir.with_suffix(".trace")
    # `-y` names the file of each descriptor, `-f` follows threads, and with `-D` the server is our
    # own child.
    options = (
        "-D",
        "--seccomp-bpf",
        "-f",
        "-y",
        "-s",
        str(STRING_BYTES),
        "-o",
        str(trace),
        "-e",
        f"trace={CALLS}",
    )
    program = (tracer, *options, sys.executable, *QUICK[1:])
    with serving(data_dir, program=program, EXTRACT_WAIT_SECONDS="0") as server:
        async with server.client(server.secret) as client:
            file = {"file": ("receipt.jpg", make_documents.till_receipt("A-1").file())}
            answer = await client.post("/v1/extract", files=file)
        server.process.terminate()
        server.process.wait()
    assert answer.status_code == httpx.codes.OK, answer.text
    return answer.json()["id"], whole_calls(trace.read_text(errors="replace").splitlines())


def whole_calls(lines: Sequence[str]) -> list[str]:
    """Join the halves of calls that others interrupted.

    A write stands where it begins, and every other call where it ends: a file counts as synced
    once `fsync` returns, and an answer as sent once its first byte may be.
    """
    calls = list[str]()
    begun = dict[str, str]()
    for line in lines:
        thread = line.partition(" ")[0]
        if line.endswith(UNFINISHED) and not re.match(r"\d+ +(p?write|send)", line):
            begun[thread] = line.removesuffix(UNFINISHED)
        elif found := re.search(r"<\.\.\. \w+ resumed>(.*)", line):
            if thread in begun:
                calls.append(begun.pop(thread) + found[1].lstrip())
        else:
            calls.append(line)
    return calls


def order_of(calls: Sequence[str], *wanted: str) -> list[int]:
    """Return where each pattern is found first after the one before it."""
    found: list[int] = []
    for pattern in wanted:
        start = found[-1] + 1 if found else 0
        places = (n for n in range(start, len(calls)) if re.search(pattern, calls[n]))
        place = next(places, None)
        assert place is not None, f"no {pattern} after {wanted[: len(found)]}"
        found.append(place)
    return found


@pytest.mark.timeout(300)
async def test_file_and_row_are_on_disk_before_the_answer_is_sent(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    receipt_id, calls = await traced_upload(data_dir)

    folder = f"files/{receipt_id[-2:]}"
    partial, file = f"{folder}/{receipt_id}.part", f"{folder}/{receipt_id}"
    wal = r"recibo\.db-wal>"
    order_of(
        calls,
        rf'mkdir\("[^"]*/{folder}"',
        # The new folder's own name.
        r"fsync\(\d+</[^>]*/files>\)",
        rf"write\(\d+</[^>]*{partial}>",
        rf"fsync\(\d+</[^>]*{partial}>\)",
        rf'rename\("[^"]*{partial}", "[^"]*{file}"\)',
        rf"fsync\(\d+</[^>]*/{folder}>\)",
        rf"pwrite64\(\d+</[^>]*{wal}, .*{receipt_id}",
        rf"(fsync|fdatasync)\(\d+</[^>]*{wal}",
        r"(write|writev|sendto|sendmsg)\(\d+<(socket|TCP)[^>]*>.*HTTP/1\.1 200.*",
    )

    # The names of what the first start made.
    data_is_synced, listens = r"fsync\(\d+</[^>]*/data>\)", r"write\(1<.*Recibo listens on"
    order_of(calls, r'openat\(.*"[^"]*/recibo\.db"', data_is_synced, listens)
    order_of(
        calls,
        r"fsync\(\d+</[^>]*secret_key\.\d+\.part>\)",
        r'rename\(.*secret_key\.\d+\.part", .*secret_key"\)',
        data_is_synced,
        listens,
    )


def test_interrupted_calls_are_joined() -> None:
    lines = [
        "11 fsync(3</data/a.part> <unfinished ...>",
        '12 write(4<socket:[5]>, "HTTP/1.1 200", 12 <unfinished ...>',
        "11 <... fsync resumed>)             = 0",
        "12 <... write resumed>)             = 12",
        '11 rename("a.part", "a") = 0',
    ]

    assert [
        '12 write(4<socket:[5]>, "HTTP/1.1 200", 12 <unfinished ...>',
        "11 fsync(3</data/a.part>)             = 0",
        '11 rename("a.part", "a") = 0',
    ] == whole_calls(lines)
