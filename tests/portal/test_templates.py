"""Rules for the files of the templates."""

import base64
import hashlib
import re
from pathlib import Path

import recibo.portal
from recibo.portal import navigation, vendored

PORTAL = Path(recibo.portal.__file__).parent
TEMPLATES = sorted((PORTAL / "templates").rglob("*.html"))
STATIC = PORTAL / "static"


def found(pattern: str) -> set[str]:
    """Return what a pattern captures in all templates."""
    return {one for path in TEMPLATES for one in re.findall(pattern, path.read_text("utf-8"))}


def test_templates_have_no_inline_script_or_style() -> None:
    assert set() == found(r"(<style|<script(?! src=)|\sstyle=|\son[a-z]+=\")")


def test_every_icon_is_in_the_file() -> None:
    icons = set(re.findall(r'<symbol id="([^"]+)"', (STATIC / "icons.svg").read_text("utf-8")))
    used = found(r"icon(?:_avatar)?\(\"([a-z0-9-]+)\"") | found(r"icon_name=\"([a-z0-9-]+)\"")
    sections = {section.icon for group in navigation.GROUPS for section in group.sections}

    assert len(used) > 20
    assert used | sections | {navigation.HOME.icon} <= icons


def test_files_of_other_projects_are_those_that_were_published() -> None:
    files = {
        path.relative_to(STATIC).as_posix()
        for path in (STATIC / "uplot").iterdir()
        if path.suffix != ".txt"
    }
    hashes = {
        name: base64.b64encode(hashlib.sha384((STATIC / name).read_bytes()).digest()).decode()
        for name in files
    }
    elements = found(r"(<(?:script|link)[^>]*uplot[^>]*>)")

    assert vendored.INTEGRITY == {name: f"sha384-{value}" for name, value in hashes.items()}
    assert len(files) == len(elements)
    for name in files:
        pinned = f'static(\'{name}\') }}}}" integrity="{{{{ integrity["{name}"] }}}}"'
        assert any(pinned in one for one in elements)


def test_every_static_file_is_used() -> None:
    files = {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()}
    licenses = {name for name in files if name.endswith(".txt")}
    named = found(r"static\('([^'~]+)'\)")
    sheets = {f"css/{sheet}.css" for sheet in ("tokens", "base", "controls", "status", "surfaces")}
    style = {f"css/{sheet}.css" for sheet in ("code", "style")}
    in_sheets = {
        f"{url.removeprefix('../')}"
        for path in STATIC.rglob("*.css")
        for url in re.findall(r'url\("([^"]+)"\)', path.read_text("utf-8"))
    }

    assert files - licenses == named | sheets | style | in_sheets
