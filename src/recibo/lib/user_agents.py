"""The browser and the system that a user agent names.

A list of a dozen names is enough to recognize one's own devices; libraries that detect versions and
models apart weigh a megabyte of patterns.
"""

import re
from dataclasses import dataclass

# The first match counts: most browsers also name those that they descend from.
_BROWSERS = (
    (r"Edg(?:e|A|iOS)?/", "Edge"),
    (r"OPR/|Opera", "Opera"),
    (r"SamsungBrowser/", "Samsung Internet"),
    (r"Vivaldi/", "Vivaldi"),
    (r"Firefox/|FxiOS/", "Firefox"),
    (r"HeadlessChrome/|Chrome/|CriOS/|Chromium/", "Chrome"),
    (r"Safari/", "Safari"),
    (r"^curl/", "curl"),
    (r"^python", "Python"),
)
_SYSTEMS = (
    (r"iPhone", "iPhone"),
    (r"iPad", "iPad"),
    (r"Android", "Android"),
    (r"Windows", "Windows"),
    (r"CrOS", "ChromeOS"),
    (r"Mac OS X|Macintosh", "macOS"),
    (r"Linux|X11", "Linux"),
)
_MOBILE = re.compile(r"iPhone|iPad|Android|Mobile")
# The name of a program, such as `okhttp/4.12`.
_PROGRAM = re.compile(r"^(?!Mozilla/)([\w.-]{2,40})/\d")


@dataclass(frozen=True, slots=True)
class UserAgent:
    """What a user agent names; empty where it names nothing known."""

    #: A browser, or the name of another program.
    browser: str
    system: str
    is_mobile: bool


def parse(given: str | None) -> UserAgent:
    """Return the browser and the system that a user agent names."""
    text = given or ""
    program = _PROGRAM.match(text)
    browser = _first(_BROWSERS, text) or (program[1] if program else "")
    return UserAgent(browser, _first(_SYSTEMS, text), _MOBILE.search(text) is not None)


def _first(names: tuple[tuple[str, str], ...], text: str) -> str:
    return next((name for pattern, name in names if re.search(pattern, text)), "")
