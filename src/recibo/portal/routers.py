"""What all routes of the pages have in common."""

from fastapi import APIRouter, Request

from recibo.portal.request_user import request_user_of
from recibo.web import csrf
from recibo.web.guarded_route import GuardedRoute, count_anonymous
from recibo.web.services import services_of


async def _refuse_foreign_page(request: Request) -> None:
    """Guard every form: no page of another site may send one in the user's name."""
    services = await services_of(request)
    csrf.refuse_foreign_page(request, services.base_url)


class PageRoute(GuardedRoute):
    """A page, or what a button on one sends to."""

    guards = (_refuse_foreign_page, count_anonymous)
    identifying = (request_user_of,)


def make(prefix: str = "") -> APIRouter:
    """Return the router of a section."""
    return APIRouter(prefix=prefix, route_class=PageRoute)
