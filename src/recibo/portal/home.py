"""The first page of whoever is signed in."""

from fastapi import APIRouter, Request, Response

from recibo.portal import pages
from recibo.portal.visitors import TheUser

router = APIRouter()


@router.get("/portal")
async def home(request: Request, user: TheUser) -> Response:
    """Say who is signed in, in which org, with which role."""
    return pages.show(request, "home.html", user=user)
