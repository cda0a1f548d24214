"""The documentation site is built without a warning, and has every page and operation."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.house.source import ROOT

pytestmark = pytest.mark.xdist_group("docs")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert "" == printed_by("site", folder)
    return folder


def printed_by(script: str, *arguments: Path) -> str:
    """Run a script of the project and return what it printed."""
    ran = subprocess.run(
        [ROOT / "scripts" / script, *arguments], capture_output=True, text=True, check=False
    )
    assert (0, "") == (ran.returncode, ran.stderr)
    return ran.stdout


def test_site_has_all_pages(site: Path) -> None:
    guides = {path.with_suffix(".html").name for path in (ROOT / "docs").glob("*.md")}
    assert guides <= {path.name for path in (site / "docs").iterdir()}
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [] == [name for name in guides if name.replace(".html", ".md") not in navigation]


def test_site_has_all_operations(site: Path) -> None:
    paths = json.loads(printed_by("openapi"))["paths"]
    reference = list((site / "api-reference").rglob("operation-*.html"))
    assert sum(map(len, paths.values())) == len(reference)


def test_search_finds_guides_and_operations(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    titles = {one["title"] for one in index["docs"]}
    assert {"Move from another API", "Correct or approve a receipt"} <= titles


def test_site_loads_nothing_from_other_hosts(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert 'src="http' not in text, page
        assert 'rel="stylesheet" href="http' not in text, page
