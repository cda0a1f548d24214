"""The Python client is built as a wheel and works where only its dependencies are installed."""

import ast
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import recibo_client
from tests.house import source

PROJECT = source.ROOT / "clients" / "python"
OLDEST_PYTHON = (3, 9)
# One process builds it, for all tests.
pytestmark = pytest.mark.xdist_group("wheel")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=PROJECT, check=True, capture_output=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a clean environment with the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=False)
    [packages] = folder.glob("lib/python3*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    [own] = metadata.distributions(path=[str(packages)])
    for name in _required(own.requires or []):
        _link(name, packages)
    return folder / "bin" / "python"


def test_wheel_has_types_license_and_only_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    assert "recibo_client/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {"recibo_client", f"{wheel.name.split('-py3')[0]}.dist-info"} == {
        name.partition("/")[0] for name in names
    }


def test_client_works_with_only_its_dependencies(python: Path) -> None:
    program = (
        "import recibo_client, recibo_client.webhooks as webhooks\n"
        "with recibo_client.Recibo('sk_live_x', base_url='http://127.0.0.1:1', retry_seconds=0)"
        " as recibo:\n"
        "    try:\n"
        "        recibo.receipts.extract(b'lunch')\n"
        "    except recibo_client.errors.ConnectionFailedError:\n"
        "        print(recibo_client.__version__)\n"
    )
    run = [str(python), "-I", "-W", "error", "-c", program]
    answer = subprocess.run(run, check=True, capture_output=True, text=True, cwd="/")

    assert f"{_version()}\n" == answer.stdout


def test_few_packages_are_required() -> None:
    direct = {"anyio", "httpx", "pydantic", "standardwebhooks", "typing-extensions"}
    below = {"annotated-types", "certifi", "h11", "httpcore", "idna", "pydantic-core"}

    assert direct | below | {"typing-inspection"} == _required(_project()["dependencies"])


def test_changelog_begins_with_the_version() -> None:
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert f"## [{_version()}]" in changelog


def test_source_is_valid_in_the_oldest_python() -> None:
    files = source.python_files(PROJECT / "src")

    assert files
    for path in files:
        ast.parse(path.read_text(encoding="utf-8"), feature_version=OLDEST_PYTHON)


def _required(requirements: Iterable[str], found: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the names of the packages that requirements name, and of those that these require."""
    for requirement in map(Requirement, requirements):
        name = canonicalize_name(requirement.name)
        is_used = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if is_used and name not in found:
            found = _required(metadata.requires(name) or [], found | {name})
    return found


def _link(name: str, packages: Path) -> None:
    """Install a package of this environment in another one."""
    here = Path(sysconfig.get_path("purelib"))
    for entry in {file.parts[0] for file in metadata.files(name) or []} - {"..", "__pycache__"}:
        (packages / entry).symlink_to(here / entry)


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    return project


def _version() -> str:
    return recibo_client.__version__
