"""The page to open after a form: only local paths are accepted."""

import re
from urllib.parse import quote, urlsplit

from fastapi import Request

from recibo.portal import navigation

HOME = "/portal"
_MAX_LENGTH = 2000
# The forms of people who are not signed in, and of links in emails.
_OF_VISITORS = tuple(
    f"{HOME}/{name}"
    for name in (
        "sign-in", "sign-up", "magic-link", "verify-email", "forgot-password", "reset-password",
        "accept-invite",
    )
)  # fmt: skip
_RECEIPT = re.compile(rf"{HOME}/receipts/rcp_[A-Za-z0-9]{{1,64}}(?=/|$)")
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


def form_of_visitors(path: str) -> str:
    """Return the page with the form that is sent to a path; empty if users only see it."""
    return next((page for page in _OF_VISITORS if path in (page, f"{page}/resend")), "")


def after(path: str, wanted: str) -> str:
    """Return the URL of a page that opens `wanted` afterwards."""
    return path if wanted == HOME else f"{path}?next={quote(wanted, safe='/')}"


def wanted(request: Request) -> str:
    """Return the page that was asked for; for a form, its receipt or the section it belongs to."""
    if request.method != "GET":
        receipt = _RECEIPT.match(request.url.path)
        return receipt[0] if receipt else navigation.path_of(request.url.path) or HOME
    query = f"?{request.url.query}" if request.url.query else ""
    return of(request.url.path + query)
