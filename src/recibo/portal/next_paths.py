"""Where a person wanted to go before signing in: a path of our own, and nowhere else."""

from urllib.parse import quote, urlsplit

HOME = "/portal"
_MAX_LENGTH = 2000


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


def after(path: str, wanted: str) -> str:
    """Return the address of a page that leads on to where a person wanted to go."""
    return path if wanted == HOME else f"{path}?next={quote(wanted, safe='/')}"
