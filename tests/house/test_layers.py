"""The import contracts of pyproject.toml hold."""

import subprocess
import sys
from pathlib import Path

from tests.house import source

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def test_import_contracts_hold() -> None:
    checked = subprocess.run(
        [LINT_IMPORTS, "--no-cache"], cwd=source.ROOT, capture_output=True, text=True, check=False
    )

    assert checked.returncode == 0, checked.stdout
