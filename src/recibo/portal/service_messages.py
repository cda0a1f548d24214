"""The messages of services and of the reading library that pages show, in the reader's language.

Services write English: the API is in English. What they say is listed here, so that it is
translated when a page shows it.
"""

import re
from collections.abc import Mapping
from functools import cache

from recibo.portal import translations
from recibo.portal.translations import gettext_noop
from recibo.schemas.languages import Language

# The beginnings of API messages, after the name of a field, and what pages say instead.
_BEGINNINGS = {
    "is one of ": "must be one of ",
    "has ": "must have ",
    "is needed": "is required",
}
#: What follows the label of a field.
ABOUT_FIELDS = (
    gettext_noop("is required"),
    gettext_noop("is required: this account has a password"),
    gettext_noop("is not valid"),
    gettext_noop("is too long"),
    gettext_noop("is empty; send the document"),
    gettext_noop("is in the past; choose a time in the future"),
    gettext_noop("is not a URL"),
    gettext_noop("is not the access key of a fiscal document: 44 or 50 characters"),
    gettext_noop("is on a disposable domain; use a lasting address"),
    gettext_noop("is yourself; another member must remove you"),
    gettext_noop("must be %(slug)s, to confirm the deletion"),
    gettext_noop("must be a URL of at most %(most)s printable characters"),
    gettext_noop("must be a URL that begins with %(beginnings)s"),
    gettext_noop("must be one of %(values)s"),
    gettext_noop("must have %(least)s to %(most)s characters"),
    gettext_noop("must have at most %(most)s characters"),
    gettext_noop("must have at most %(digits)s decimals in %(currency)s"),
    gettext_noop("must include at least one type"),
    gettext_noop("may have at most %(most)s characters"),
    gettext_noop("may have at most %(most)s lines"),
    gettext_noop("contains a line that is no address: %(line)s"),
    gettext_noop("it contains =?"),
    gettext_noop("it is longer than %(most)s characters"),
    gettext_noop("%(domain)s is a reserved domain that has no mail"),
    gettext_noop("must name a host"),
    gettext_noop("must not hold a user name or password"),
    gettext_noop("must not name port 0"),
    gettext_noop("name one at least of %(scopes)s"),
    gettext_noop("needs a currency: totals of several are not compared"),
    gettext_noop("needs at least %(least)s characters"),
    gettext_noop("holds %(most)s rows at most; narrow the filters, or take csv"),
    gettext_noop("points to an address that webhooks are not sent to"),
    gettext_noop("would leave the org without an owner; make one first"),
    gettext_noop("holds a NUL character or half of a surrogate pair; leave it out"),
)
#: Whole sentences, and names in place of those of persons.
SENTENCES = (
    gettext_noop("API key %(name)s"),
    gettext_noop("The operator of this installation"),
    gettext_noop("a deleted API key"),
    gettext_noop("a deleted user"),
    gettext_noop("a sender of mail"),
    gettext_noop("a visitor with a publishable key"),
    gettext_noop("TLS failed: %(reason)s"),
    gettext_noop("connection refused"),
    gettext_noop("redirects are not followed"),
    gettext_noop("the URL %(problem)s"),
    gettext_noop("the answer was not HTTP, or broke off"),
    gettext_noop("the connection broke off"),
    gettext_noop("the host cannot be reached"),
    gettext_noop("the host did not answer in time"),
    gettext_noop("the name does not resolve"),
    gettext_noop("the name has no address that webhooks are sent to"),
    gettext_noop("the name was not resolved in time"),
    gettext_noop("the request cannot be sent"),
    gettext_noop("the answer could not be stored"),
    gettext_noop("timed out after %(seconds)s s"),
    gettext_noop("Nothing on the document could be read; send a sharper or larger picture of it."),
    gettext_noop(
        "No text was found on the document; send a sharp picture of the side that is printed."
    ),
    gettext_noop(
        "The text is in a script that is not supported, and nothing else on it could be read."
    ),
    gettext_noop("Only a completed receipt can be changed; this one is %(status)s."),
    gettext_noop("Only a document that could not be read is replaced by a new copy."),
    gettext_noop(
        "Reading this document took too long; send fewer pages, or a plainer picture of it."
    ),
    gettext_noop(
        "Reading this document took more memory than it may; send a smaller picture, or fewer "
        "pages."
    ),
    gettext_noop("The code is wrong, or was used already."),
    gettext_noop("The credentials are not right."),
    gettext_noop("The current password is wrong."),
    gettext_noop("The document has more than 30 pages."),
    gettext_noop("The document has no page %(number)s."),
    gettext_noop("The document is encrypted; send it without a password."),
    gettext_noop("The document is refused before it is read."),
    gettext_noop("The document is unreadable; send a sharper or larger picture of it."),
    gettext_noop("A page of the document has more than 100 megapixels."),
    gettext_noop("The e-mail address or the password is wrong."),
    gettext_noop("An organization has at most %(count)s endpoints. Delete one first."),
    gettext_noop("The endpoint is switched off; switch it on first."),
    gettext_noop("The endpoint of this delivery was removed."),
    gettext_noop(
        "The file is damaged or incomplete and cannot be opened; upload it again from the original."
    ),
    gettext_noop("There is no such session; it may have ended."),
    gettext_noop("The file is empty."),
    gettext_noop("The file is larger than 15 MB."),
    gettext_noop("The file is not a JPG, PNG, HEIC, WEBP, TIFF or PDF."),
    gettext_noop("The file of this receipt is gone."),
    gettext_noop("The form is larger than %(size)s KB. Shorten your input."),
    gettext_noop("The invitation is unknown, withdrawn, accepted or expired; ask for a new one."),
    gettext_noop("The link is unknown, was used or has expired; ask for a new one."),
    gettext_noop(
        "The month's quota of %(quota)s receipts is used up; it renews on the first, or upgrade."
    ),
    gettext_noop("The organization still has a paid subscription; cancel it under Billing first."),
    gettext_noop("The password was changed meanwhile; sign in again."),
    gettext_noop("The payment provider does not answer; nothing was bought. Try again later."),
    gettext_noop("The payment provider refuses what it was asked; tell the operator."),
    gettext_noop("The reader failed on this document; try again."),
    gettext_noop(
        "The receipt has changed: it has version %(version)s by now. Get it again and "
        "repeat the change."
    ),
    gettext_noop("There is no API key with this id."),
    gettext_noop("There is no endpoint with this id."),
    gettext_noop("There is no event with this id."),
    gettext_noop("There is no receipt with this id."),
    gettext_noop("There is no subscription to change; begin with a checkout."),
    gettext_noop("There is no such invitation in this org."),
    gettext_noop("There is no such member in this org."),
    gettext_noop("There is no such org of yours."),
    gettext_noop("There is nothing here."),
    gettext_noop("There is no payment customer yet; begin with a checkout session."),
    gettext_noop("This account is disabled."),
    gettext_noop("This address is a member's already."),
    gettext_noop("This e-mail address is registered already; sign in."),
    gettext_noop("This installation takes no new accounts; its operator can change that."),
    gettext_noop("This org has %(count)s active keys already; revoke one first."),
    gettext_noop("This org is gone."),
    gettext_noop("This page cannot be drawn; get the file instead."),
    gettext_noop("This page has expired; go back to Billing and open a new one."),
    gettext_noop("This session waits for the second factor: POST /v1/auth/2fa/verify."),
    gettext_noop("This sign-in took too long, or another began after it; sign in again."),
    gettext_noop("Too many passwords are being checked at once; try again in a moment."),
    gettext_noop("Two-factor authentication is off."),
    gettext_noop("Two-factor authentication is on already; disable it first."),
    gettext_noop("Uploads arriving at once are %(count)s on this plan; wait for one."),
    gettext_noop(
        "Uploads in flight at once are %(count)s on this plan; wait until one is answered."
    ),
    gettext_noop(
        "New accounts come by invitation only; ask an admin of your organization for one."
    ),
    gettext_noop("No endpoint is set; set its URL first."),
    gettext_noop("Owners and admins revoke what others made."),
    gettext_noop("You are in no org; accept an invitation or sign up for one."),
    gettext_noop(
        "%(failure)s It counts against the month's quota: readers timed out, ran out of memory or "
        "crashed on documents of this organization ten times or more within a day."
    ),
)
_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def about_field(message: str) -> str:
    """Return the message about a field, to follow its label; unknown ones say little."""
    return _known(_as_sentence(message)) or translations.gettext("is not valid")


def sentence(message: str) -> str:
    """Return a sentence of a service; unknown ones unchanged."""
    return _known(message) or message


def is_known(message: str) -> bool:
    """Return whether there is a translation of a message in the reader's language."""
    return bool(_known(_as_sentence(message)))


def actors(names: Mapping[str, str]) -> dict[str, str]:
    """Return the names of users and keys, and what is said in place of a name."""
    return {actor: sentence(name) for actor, name in names.items()}


def _as_sentence(message: str) -> str:
    for beginning, instead in _BEGINNINGS.items():
        if message.startswith(beginning):
            return instead + message.removeprefix(beginning)
    return message


def _known(message: str) -> str:
    """Return the translation of a message; empty for unknown ones."""
    if translations.current() is Language.ENGLISH:
        return message
    if message in _plain():
        return translations.translate(message)
    for pattern, text in _patterns():
        if found := pattern.fullmatch(message):
            values = {name: _known(value) or value for name, value in found.groupdict().items()}
            return translations.translate(text) % values
    known = translations.translate(message)
    return "" if known == message else known


@cache
def _plain() -> frozenset[str]:
    return frozenset(one for one in (*ABOUT_FIELDS, *SENTENCES) if "%(" not in one)


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return the texts with values; their placeholders become groups."""
    texts = [one for one in (*ABOUT_FIELDS, *SENTENCES) if "%(" in one]
    return [(_pattern(text), text) for text in texts]


def _pattern(text: str) -> re.Pattern[str]:
    parts = _PLACEHOLDER.split(text)
    named = (
        re.escape(part) if at % 2 == 0 else f"(?P<{part}>.+?)" for at, part in enumerate(parts)
    )
    return re.compile("".join(named), re.DOTALL)
