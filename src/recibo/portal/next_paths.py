"""The page to open after signing in: only local paths are accepted."""

import re
from urllib.parse import quote, urlsplit

HOME = "/portal"
_MAX_LENGTH = 2000
# Enough for the filters and pages of a section, and too short for a message.
_IN_MAILS = re.compile(r"[A-Za-z0-9/_.?&=%-]{1,120}")


def of(given: str | None) -> str:
    """Return a local path unchanged, and the home page for anything else.

    Browsers read backslashes as slashes and ignore tabs and line breaks, so these are refused.
    """
    if not given or len(given) > _MAX_LENGTH or not given.startswith("/"):
        return HOME
    if given.startswith("//") or "\\" in given or not given.isprintable() or " " in given:
        return HOME
    try:
        parts = urlsplit(given)
    except ValueError:
        return HOME
    return HOME if parts.scheme or parts.netloc else given


def for_mail(given: str | None) -> str:
    """Return the path that a link in an email may open next; empty for the home page.

    Anyone can send such an email to anyone, so only paths of sections are accepted.
    """
    path = of(given)
    is_ours = path.startswith(f"{HOME}/") and _IN_MAILS.fullmatch(path)
    return path if is_ours else ""


def after(path: str, wanted: str) -> str:
    """Return the URL of a page that opens `wanted` afterwards."""
    return path if wanted == HOME else f"{path}?next={quote(wanted, safe='/')}"
