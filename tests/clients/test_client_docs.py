"""The Python examples of the documentation work, one after the other."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from tests.house import source
from tests.make import jpeg
from tests.serving.running import Server

PAGES = ["docs/clients.md", "clients/python/README.md"]


def blocks(page: str, language: str = "python") -> list[str]:
    text = (source.ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def workplace(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the examples, as the current one."""
    (tmp_path / "inbox").mkdir()
    for name in ("lunch.jpg", "inbox/one.jpg"):
        (tmp_path / name).write_bytes(jpeg(f"{tmp_path.name} {name}"))
    (tmp_path / "blurred.jpg").write_bytes(jpeg(f"unreadable {tmp_path.name}"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECIBO_API_KEY", server.secret)
    monkeypatch.setenv("RECIBO_URL", server.url)
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_examples_work(page: str, workplace: Path) -> None:
    names: dict[str, Any] = {}
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        for block in blocks(page):
            exec(compile(block, page, "exec"), names)
    names["recibo"].__exit__(None, None, None)

    assert "lunch.jpg" in printed.getvalue()
    assert "1 read, 0 known, 0 failed" in printed.getvalue()
    assert re.search(r"(Unreadable:|again: .*) rcp_\w+", printed.getvalue())
    assert list(workplace.glob("*.csv"))
