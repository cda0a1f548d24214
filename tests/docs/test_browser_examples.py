"""The script of docs/api.md uploads a receipt from a page and lists it."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import FilePayload, Page

from tests import drawing, make_documents
from tests.docs import markdown
from tests.house.source import ROOT
from tests.people import PASSWORD
from tests.portal.browser import run_browser
from tests.serving.running import serving

pytestmark = pytest.mark.xdist_group("browser")

(SCRIPT,) = [one.text for one in markdown.blocks(ROOT / "docs" / "api.md") if one.language == "js"]
FORM = '<form id="form"><input name="file" type="file"></form>'


@contextmanager
def web_site(folder: Path) -> Iterator[str]:
    """Serve the files of a folder and yield the address."""
    handler = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def publishable_key(page: Page) -> str:
    """Sign up, and return a key for a web page."""
    owner = {"email": "ana@docs.test", "password": PASSWORD, "org_name": "Padaria Aurora"}
    assert page.request.post("/v1/auth/signup", data=owner).ok
    wanted = {"name": "page", "kind": "publishable"}
    secret: str = page.request.post("/v1/api-keys", data=wanted).json()["secret"]
    return secret


def test_page_uploads_with_a_publishable_key(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "index.html").write_text(FORM, encoding="utf-8")
    with (
        serving(tmp_path, READERS="1") as server,
        run_browser() as browser,
        web_site(tmp_path / "shop") as shop,
    ):
        page = browser.new_context(base_url=server.url).new_page()
        key = publishable_key(page)
        page.goto(shop)
        picture = drawing.encode(drawing.picture(make_documents.till_receipt("J-1").rows))
        page.locator("input").set_input_files(
            FilePayload(name="lunch.jpg", mimeType="image/jpeg", buffer=picture)
        )
        script = SCRIPT.replace("http://127.0.0.1:8000", server.url)
        script = script.replace("pk_publishable_...", key)
        listed = page.evaluate(f"async () => {{ {script} return await receipts.json(); }}")

        assert ["34.15"] == [one["total"] for one in listed["data"]]
