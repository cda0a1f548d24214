"""Validates email addresses and recognizes disposable ones."""

from disposable_email_domains import blocklist
from email_validator import SPECIAL_USE_DOMAIN_NAMES, EmailNotValidError, validate_email

# Reserved by RFC 6761 and RFC 6762: only developers use mail there. The library refuses them by a
# list that applications may change; here they depend on the environment.
_DEVELOPERS_DOMAINS = frozenset({"test", "local", "localhost", "invalid"})
SPECIAL_USE_DOMAIN_NAMES[:] = [
    one for one in SPECIAL_USE_DOMAIN_NAMES if one not in _DEVELOPERS_DOMAINS
]
# RFC 5321, 4.5.3.1 allows 64 and 255. The library is slow on longer texts.
_MAX_LENGTH = 320
_DISPOSABLE = frozenset(blocklist) | {"tempmail.com", "throwaway.email"}


class BadEmailError(Exception):
    """The address is not well-formed; the message says why."""


def parse(text: str, *, is_production: bool) -> str:
    """Return an address in lower case, with its domain in ASCII (RFC 5890).

    Raises:
        BadEmailError: the address cannot exist. DNS is not asked for the domain.
    """
    if len(text) > _MAX_LENGTH:
        message = f"it is longer than {_MAX_LENGTH} characters"
        raise BadEmailError(message)
    if "=?" in text:
        # In a header it would be decoded into another address (RFC 2047).
        message = "it contains =?"
        raise BadEmailError(message)
    domain = text.rpartition("@")[2].lower().rstrip(".")
    is_developers = domain.rpartition(".")[2] in _DEVELOPERS_DOMAINS
    if is_developers and is_production:
        message = f"{domain} is a reserved domain that has no mail"
        raise BadEmailError(message)
    try:
        parsed = validate_email(
            text,
            allow_smtputf8=False,
            check_deliverability=False,
            globally_deliverable=not is_developers,
            # RFC 5321: 64 characters before the @-sign.
            strict=True,
        )
    except EmailNotValidError as e:
        raise BadEmailError(str(e)) from None
    return (parsed.ascii_email or parsed.normalized).lower()


def is_disposable(address: str) -> bool:
    """Return whether the domain of a parsed address is disposable, or below one that is."""
    labels = address.rpartition("@")[2].split(".")
    return any(".".join(labels[start:]) in _DISPOSABLE for start in range(len(labels)))
