"""Where a person wanted to go before signing in: a path of our own, and nowhere else."""

import re
from urllib.parse import quote, urlsplit

HOME = "/portal"
_MAX_LENGTH = 2000
# What the filters and pages of a section need, and too short to hold a message.
_IN_MAILS = re.compile(r"[A-Za-z0-9/_.?&=%-]{1,120}")


def of(given: str | None) -> str:
    """Return a local path as it is, and the home page for whatever could lead elsewhere.

    Browsers take backslashes for slashes and leave tabs and line breaks out, so none may be there.
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
    """Return the path that a link in a mail may lead on to; empty for the home page.

    Anybody can have a mail sent to anybody, so it holds nothing but the address of a section.
    """
    path = of(given)
    is_ours = path.startswith(f"{HOME}/") and _IN_MAILS.fullmatch(path)
    return path if is_ours else ""


def after(path: str, wanted: str) -> str:
    """Return the address of a page that leads on to where a person wanted to go."""
    return path if wanted == HOME else f"{path}?next={quote(wanted, safe='/')}"
