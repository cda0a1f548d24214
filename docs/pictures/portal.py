"""Take the README's pictures of the portal: `python -m docs.pictures.portal` from the root.

A server reads generated receipts, some of them photos that are hard to read, and Chromium shows the
pages.
"""

import datetime as dt
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from benchmarks import server
from recibo.lib import clock

FOLDER = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium-headless-shell"
# Of one currency, so that home has months to compare.
_RECEIPTS = (
    *("--count", "10", "--seed", "11", "--look", "photo"),
    *("--language", "en-IE", "de-DE", "fr-FR", "pt-PT"),
)
_SIZE = {"width": 1280, "height": 860}
_PATIENCE_S = 120.0


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        documents, data = Path(folder) / "documents", Path(folder) / "data"
        data.mkdir()
        generator = [sys.executable, "-m", "training.receipts", str(documents), *_RECEIPTS]
        subprocess.run(generator, check=True)
        with server.running(data) as service, sync_playwright() as playwright:
            for number, path in enumerate(sorted(documents.glob("*.jpg"))):
                _date(service, _upload(service, path), days_ago=number * 33)
            _upload(service, FOLDER / "receipt.png")
            doubtful = _most_doubtful(service)
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
            )
            _take(browser, service, {"inbox": "/portal/receipts", "home": "/portal",
                                     "review": f"/portal/receipts/{doubtful}"})  # fmt: skip
            browser.close()


def _upload(service: server.Server, path: Path) -> str:
    with path.open("rb") as file:
        answer = httpx.post(
            f"{service.url}/v1/extract",
            files={"file": file},
            headers={"X-API-Key": service.key or ""},
            timeout=_PATIENCE_S,
        )
    return str(answer.json().get("id", ""))


def _date(service: server.Server, receipt_id: str, *, days_ago: int) -> None:
    """Date a receipt within the last months: the generator has dates of several years."""
    day = clock.now().date() - dt.timedelta(days=days_ago)
    httpx.patch(
        f"{service.url}/v1/receipts/{receipt_id}",
        json={"issued_at": f"{day}T12:00:00Z"},
        headers={"X-API-Key": service.key or ""},
    )


def _most_doubtful(service: server.Server) -> str:
    """Return the receipt with the most to check, without the question about a duplicate."""
    listed = httpx.get(
        f"{service.url}/v1/receipts",
        params={"review": "needs_review"},
        headers={"X-API-Key": service.key or ""},
    ).json()["data"]
    return str(max(listed, key=lambda one: len(one["review"]["reasons"]))["id"])


def _take(browser: Browser, service: server.Server, pages: dict[str, str]) -> None:
    page = browser.new_page(viewport={"width": _SIZE["width"], "height": _SIZE["height"]})
    page.goto(f"{service.url}/portal/sign-in")
    page.fill("input[name=email]", server.OWNER)
    page.fill("input[name=password]", service.password or "")
    page.press("input[name=password]", "Enter")
    page.wait_for_url("**/portal")
    # Without the first steps of a new organization.
    page.get_by_role("button", name="Hide").click()
    page.wait_for_load_state("load")
    for name, path in pages.items():
        page.goto(f"{service.url}{path}")
        page.wait_for_load_state("networkidle")
        picture = Image.open(io.BytesIO(page.screenshot()))
        picture.save(FOLDER / f"{name}.webp", quality=82, method=6)


if __name__ == "__main__":
    main()
