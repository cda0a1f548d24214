"""The lock of a data folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from recibo.store import folder_lock

HOLD = """
import sys
from pathlib import Path
from recibo.store import folder_lock
with folder_lock.hold_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_second_lock_is_refused_until_the_first_is_released(tmp_path: Path) -> None:
    with (
        folder_lock.hold_lock(tmp_path),
        pytest.raises(folder_lock.FolderInUseError),
        folder_lock.hold_lock(tmp_path),
    ):
        pass
    with folder_lock.hold_lock(tmp_path):
        pass


def test_error_message_says_what_to_do() -> None:
    assert "RECIBO_DATA_DIR" in str(folder_lock.FolderInUseError())


def test_other_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert b"held\n" == holder.stdout.readline()
        with pytest.raises(folder_lock.FolderInUseError), folder_lock.hold_lock(tmp_path):
            pass
        holder.kill()
        holder.wait()

    with folder_lock.hold_lock(tmp_path):
        pass
