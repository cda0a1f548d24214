"""Lock files pin every package by hash, contain no URLs and agree with each other."""

import importlib.metadata
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.house import source

LOCKS = sorted((source.ROOT / "requirements").glob("*.txt"))
# The packages of which scripts/drop-unused deletes files.
CUT = [
    "alembic",
    "asyncpg",
    "babel",
    "fastapi-offline",
    "greenlet",
    "jsonschema",
    "numpy",
    "onnxruntime",
    "opencv-python-headless",
    "openvino",
    "pillow",
    "referencing",
    "sqlalchemy",
    "stripe",
    "uvloop",
]
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_every_pin_has_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    entries = re.split(r"\n(?=\S)", text.strip())

    assert [] == [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry]
    assert "://" not in text


def test_development_adds_to_the_service_and_changes_nothing() -> None:
    assert set() == _pins("main") - _pins("dev")


def test_documentation_lists_every_locked_package_with_its_version() -> None:
    page = (source.ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([a-z0-9-]+)` (\S+) \|", page, re.MULTILINE))

    assert _pins("main") | _pins("openvino") == listed


def test_documentation_lists_direct_dependencies_apart_from_transitive_ones() -> None:
    page = (source.ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    direct, _, transitive = page.partition("## Transitive dependencies")
    project = tomllib.loads((source.ROOT / "pyproject.toml").read_text())["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["openvino"]]
    named = {re.match(r"[a-z0-9-]+", one).group() for one in required}  # type: ignore[union-attr]

    assert named == set(re.findall(r"^\| `([a-z0-9-]+)` ", direct, re.MULTILINE))
    assert set() == named & set(re.findall(r"^\| `([a-z0-9-]+)` ", transitive, re.MULTILINE))


def test_service_needs_nothing_that_only_rapidocr_imports() -> None:
    names = {name for name, _ in _pins("main")}

    assert set() == names & {"colorlog", "omegaconf", "pyclipper", "pyyaml", "shapely", "tqdm"}


def test_unused_files_of_wheels_are_deleted_and_used_ones_kept(tmp_path: Path) -> None:
    sizes = {
        str(file): file.size or 0
        for name in ("openvino", "onnxruntime")
        for file in importlib.metadata.files(name) or []
        if ".." not in file.parts
    }
    for name in sizes:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    subprocess.run([source.ROOT / "scripts" / "drop-unused", tmp_path], check=True)
    deleted = {name for name in sizes if not (tmp_path / name).exists()}

    # A new version that names its files otherwise fails here.
    assert sum(sizes[name] for name in deleted) > 100_000_000
    assert "openvino/libs/libopenvino_intel_cpu_plugin.so" not in deleted
    assert [] == [name for name in deleted if "onnx_frontend" in name or "pybind11" in name]


@pytest.mark.parametrize("name", CUT)
def test_each_package_has_files_that_are_deleted(tmp_path: Path, name: str) -> None:
    files = [one for one in importlib.metadata.files(name) or [] if ".." not in one.parts]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()

    subprocess.run([source.ROOT / "scripts" / "drop-unused", tmp_path], check=True)

    assert not all((tmp_path / file).exists() for file in files)


def _pins(lock: str) -> set[tuple[str, str]]:
    return set(PIN.findall((source.ROOT / "requirements" / f"{lock}.txt").read_text()))
