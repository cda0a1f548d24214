"""The development inbox: shows the mails in the outbox to browsers on the same machine.

Mails contain sign-in links, so the pages exist only in development, where mail is written to the
outbox, and answer only requests that come directly from this machine.
"""

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request, Response

from recibo.adapters import mail_folder
from recibo.errors import NotFound
from recibo.portal import pages, routers
from recibo.portal.request_user import CurrentVisitor
from recibo.web import loopback
from recibo.web.services import TheServices

router = routers.make(pages.INBOX)

_LISTED = 100
_LINK = re.compile(r"https?://[^\s<>\"]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a mail's text; a link if it has an address."""

    text: str
    address: str = ""


async def _folder(request: Request, services: TheServices) -> Path:
    if services.outbox is None or not loopback.is_local(request):
        raise NotFound
    return services.outbox


TheFolder = Annotated[Path, Depends(_folder)]


@router.get("")
async def show_inbox(request: Request, folder: TheFolder, _visitor: CurrentVisitor) -> Response:
    """List the mails, newest first."""
    mails = await asyncio.to_thread(mail_folder.newest, folder, limit=_LISTED)
    return pages.show(request, "inbox.html", mails=mails, folder=str(folder), limit=_LISTED)


@router.get("/{name}")
async def show_mail(
    request: Request, folder: TheFolder, _visitor: CurrentVisitor, name: str
) -> Response:
    """Show one mail, with clickable links."""
    mail = await asyncio.to_thread(mail_folder.get, folder, f"{name}.eml")
    if mail is None:
        raise NotFound
    return pages.show(request, "inbox_mail.html", mail=mail, mail_pieces=_pieces(mail.text))


def _pieces(text: str) -> list[Piece]:
    pieces, end = [], 0
    for link in _LINK.finditer(text):
        pieces.append(Piece(text[end : link.start()]))
        pieces.append(Piece(link[0], _address(link[0])))
        end = link.end()
    return [*pieces, Piece(text[end:])]


def _address(url: str) -> str:
    """Return the target of a link; links to the portal become relative."""
    parts = urlsplit(url)
    if parts.path != "/portal" and not parts.path.startswith("/portal/"):
        return url
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
