"""A real browser, a real server, and the mails in its outbox."""

import email
import email.policy
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    FilePayload,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.serving.running import Server

# Pages load at once and mails arrive within seconds, except on a loaded machine.
PATIENCE_S = 60.0
PHONE = (320, 640)
DESK = (1280, 900)
#: The name of each theme, and what is checked in it.
Themes = Sequence[tuple[Literal["light", "dark"], dict[str, Any]]]
#: Makes the email address of a name.
Address = Callable[[str], str]
# What breaks `region` is moderate, so it would be left out, and takes axe a tenth of the time.
_ALL_RULES = {"resultTypes": ["violations"], "rules": {"region": {"enabled": False}}}
# The theme changes nothing but colors. These are all of axe's rules of colors that are on.
_COLOR_RULES = {**_ALL_RULES, "runOnly": ["color-contrast", "link-in-text-block"]}


class MissingBrowserError(RuntimeError):
    """The browser that the tests need is not installed."""


@dataclass(frozen=True, slots=True)
class Site:
    """A server, its mails, and a browser on the same machine."""

    server: Server
    browser: Browser
    data_dir: Path

    @contextmanager
    def visit(
        self,
        *,
        size: tuple[int, int] = PHONE,
        javascript: bool = True,
        language: str | None = None,
        zone: str = "UTC",
    ) -> Iterator[Page]:
        """Open a new browser context; console errors and warnings fail the test."""
        width, height = size
        context = self.browser.new_context(
            base_url=self.server.url,
            viewport={"width": width, "height": height},
            java_script_enabled=javascript,
            locale=language,
            timezone_id=zone,
        )
        context.set_default_timeout(PATIENCE_S * 1000)
        errors: list[str] = []
        _listen(context, errors, own=self.server.url)
        try:
            yield context.new_page()
        finally:
            context.close()
        assert not errors, errors

    def link_to(self, address: str, page: str) -> str:
        """Wait for a mail with a link to a page and return the link's path."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if found := self._link_to(address, page):
                return found
            time.sleep(0.05)
        message = f"no mail to {address} has a link to {page}"
        raise AssertionError(message)

    def _link_to(self, address: str, page: str) -> str | None:
        pattern = re.compile(rf"https?://\S+?(/portal/{page}\?token=\w+)")
        for path in sorted((self.data_dir / "outbox").glob("*.eml"), reverse=True):
            mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
            body = mail.get_body(("plain",))
            if mail["To"] == address and body and (found := pattern.search(body.get_content())):
                return found[1]
        return None


@contextmanager
def run_browser() -> Iterator[Browser]:
    """Run a browser until the block ends: Chromium without its windows, at half the cost."""
    program = shutil.which("chromium-headless-shell")
    if program is None:
        raise MissingBrowserError("Chromium is not installed: run `make test` or apt-get")
    expect.set_options(timeout=PATIENCE_S * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            # The tests may run as root, in containers; they open no page but our own.
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        try:
            yield browser
        finally:
            browser.close()


def upload(page: Page, *contents: bytes) -> list[str]:
    """Upload PDFs to the user's organization; return the paths of receipts that are read.

    The pages of pending receipts look for results only every few seconds.
    """
    wanted = {"name": "Uploads", "scopes": ["read", "write"]}
    headers = {"X-API-Key": page.request.post("/v1/api-keys", data=wanted).json()["secret"]}
    paths = []
    for content in contents:
        file: FilePayload = {"name": "a.pdf", "mimeType": "application/pdf", "buffer": content}
        answer = page.request.post("/v1/extract", headers=headers, multipart={"file": file})
        # On a loaded machine, a reading may outlast the wait of a request.
        while (receipt := answer.json())["status"] == "pending":
            answer = page.request.get(f"/v1/receipts/{receipt['id']}?wait=20", headers=headers)
        paths.append(f"/portal/receipts/{receipt['id']}")
    return paths


def drop(page: Page, *files: Path) -> None:
    """Drop files on the page, with the browser's own events."""
    box = page.locator("h1").bounding_box()
    assert box is not None
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    devtools = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": box["x"] + 40, "y": box["y"] + 20, "data": data}
        devtools.send("Input.dispatchDragEvent", event)


def width(page: Page) -> int:
    """Return how wide a page is, what is scrolled to included."""
    # Before its style sheets have arrived, a page has another width.
    page.wait_for_load_state("load")
    found: int = page.evaluate("document.documentElement.scrollWidth")
    return found


def violations(page: Page) -> list[str]:
    """Return the serious violations of accessibility rules, in both themes and widths."""
    found = []
    themes: Themes = (("light", _ALL_RULES), ("dark", _COLOR_RULES))
    for scheme, rules in themes:
        for width, height in (DESK, PHONE):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.set_viewport_size({"width": width, "height": height})
            # Scripts hear of another theme before the next frame.
            page.evaluate("() => new Promise(done => requestAnimationFrame(() => done()))")
            # A page that was shown again has lost it.
            if not page.evaluate("'axe' in window"):
                page.evaluate(AXE_SCRIPT)
            results = page.evaluate("async how => (await axe.run(how)).violations", rules)
            found += [
                f"{page.url} {scheme} {width}: {one['id']} {node['html']}"
                for one in results
                if one["impact"] in ("serious", "critical")
                for node in one["nodes"]
            ]
    return found


def _listen(context: BrowserContext, errors: list[str], *, own: str) -> None:
    """Record violations of the content security policy and requests to other hosts."""

    def note(message: ConsoleMessage) -> None:
        # Refused forms have error statuses on purpose.
        is_of_status = message.text.startswith("Failed to load resource: the server responded")
        if message.type in ("error", "warning") and not is_of_status:
            errors.append(message.text)

    def note_request(request: Request) -> None:
        if not request.url.startswith(f"{own}/"):
            errors.append(request.url)

    context.on("console", note)
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("request", note_request)
