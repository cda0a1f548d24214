"""The version is the same everywhere."""

import re
import tomllib
from importlib import metadata

from tests.house import source


def test_changelog_begins_with_the_packaged_version() -> None:
    project = tomllib.loads((source.ROOT / "pyproject.toml").read_text())["project"]
    changelog = (source.ROOT / "CHANGELOG.md").read_text()
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", changelog, re.MULTILINE)

    assert project["version"] == released[0]


def test_installed_version_is_the_packaged_one() -> None:
    project = tomllib.loads((source.ROOT / "pyproject.toml").read_text())["project"]

    assert project["version"] == metadata.version("recibo")
