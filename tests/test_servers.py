"""Test servers end when the tests are killed."""

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KILLED_WITH_POSTGRES = """
import os, signal
from tests import servers
with servers.run_postgres() as server:
    print(server.port, server.folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
KILLED_WITH_REDIS = """
import os, signal
from tests import servers
with servers.run_redis() as server:
    print(server.port, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
KILLED_WITH_S3 = """
import os, signal
from tests import servers
with servers.run_s3() as server:
    print(server.port, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
PATIENCE_S = 60.0


def test_postgres_ends_when_the_tests_are_killed() -> None:
    run = subprocess.run(
        [sys.executable, "-c", KILLED_WITH_POSTGRES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    port, folder = run.stdout.split()

    assert run.returncode == -9
    assert _closes(int(port))
    shutil.rmtree(folder)


@pytest.mark.parametrize("program", [KILLED_WITH_REDIS, KILLED_WITH_S3], ids=["redis", "s3"])
def test_server_ends_when_the_tests_are_killed(program: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == -9
    assert _closes(int(run.stdout))


def _closes(port: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return True
        time.sleep(0.05)
    return False
