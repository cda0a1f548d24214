"""Reads the outbox: mails that were written to files instead of being sent."""

import datetime as dt
import email
import email.policy
import re
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

_NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}\.eml")


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail of the outbox."""

    #: The name of its file; the names sort by time.
    name: str
    to: str
    subject: str
    sent_at: dt.datetime
    #: The plain text of the mail.
    text: str


def newest(folder: Path, *, limit: int) -> list[Mail]:
    """Return the mails of a folder, newest first."""
    try:
        names = [path.name for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    except FileNotFoundError:
        # The first mail creates the folder.
        return []
    found = (get(folder, name) for name in sorted(names, reverse=True)[:limit])
    return [mail for mail in found if mail is not None]


def get(folder: Path, name: str) -> Mail | None:
    """Return one mail; None if there is none of this name."""
    if not _NAME.fullmatch(name):
        return None
    try:
        data = (folder / name).read_bytes()
    except FileNotFoundError:
        return None
    message = email.message_from_bytes(data, _class=EmailMessage, policy=email.policy.default)
    body = message.get_body(("plain",))
    written = dt.datetime.strptime(name.partition("-")[0], "%Y%m%dT%H%M%S.%f%z")
    return Mail(
        name=name.removesuffix(".eml"),
        to=str(message["To"] or ""),
        subject=str(message["Subject"] or ""),
        sent_at=written,
        text=str(body.get_content()) if isinstance(body, EmailMessage) else "",
    )
