"""Devices in words."""

import pytest

from recibo.portal import user_agents

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("name", "icon", "given"),
    [
        ("Chrome on Windows", "laptop",
         f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/142.0.0.0 Safari/537.36"),
        ("Edge on Windows", "laptop",
         f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/142.0 Safari/537.36 Edg/142.0"),
        ("Opera on macOS", "laptop",
         f"Mozilla/5.0 (Macintosh; Intel Mac OS X 15_1) {WEBKIT} Chrome/140 Safari/537 OPR/120"),
        ("Safari on macOS", "laptop",
         "Mozilla/5.0 (Macintosh; Intel Mac OS X 15_1) AppleWebKit/605 Version/26 Safari/605"),
        ("Safari on iPad", "smartphone",
         "Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) Version/18.1 Mobile/15E Safari/604.1"),
        ("Chrome on iPhone", "smartphone",
         "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) CriOS/142 Mobile Safari/604.1"),
        ("Samsung Internet on Android", "smartphone",
         f"Mozilla/5.0 (Linux; Android 15) {WEBKIT} SamsungBrowser/28.0 Chrome/130 Safari/537"),
        ("Firefox on Linux", "laptop", "Mozilla/5.0 (X11; Linux x86_64) Gecko Firefox/145.0"),
        ("Chrome on ChromeOS", "laptop", f"Mozilla/5.0 (X11; CrOS x86_64) {WEBKIT} Chrome/142"),
        ("curl", "monitor", "curl/8.15.0"),
        ("Python", "monitor", "python-httpx/0.28.1"),
        ("okhttp", "monitor", "okhttp/4.12.0"),
        ("Unknown device", "monitor", "Mozilla/5.0"),
        ("Unknown device", "monitor", "<script>alert(1)</script>"),
        ("Unknown device", "monitor", None),
    ],
)  # fmt: skip
def test_browser_and_system_are_named(name: str, icon: str, given: str | None) -> None:
    assert user_agents.Device(name, icon) == user_agents.device(given)
