"""What all routes of the pages have in common."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from fastapi.routing import APIRoute

from recibo.portal import application, sandbox
from recibo.portal.routers import PageRoute
from recibo.web.guarded_route import count_anonymous

if TYPE_CHECKING:
    from fastapi import APIRouter


def routes() -> Iterator[APIRoute]:
    """Yield the routes of all sections and of the sandbox."""
    sections: list[APIRouter] = [module.router for module in application.SECTIONS]
    for router in (*sections, sandbox.router):
        yield from (cast("APIRoute", route) for route in router.routes)


def test_every_page_runs_its_guards_before_the_form_is_read() -> None:
    found = list(routes())

    assert len(found) > 50
    for route in found:
        assert isinstance(route, PageRoute), route.path
        assert [count_anonymous] == list(route.guards[1:]), route.path
        assert route.body_field is None, route.path


def test_page_that_needs_no_session_is_public() -> None:
    public = {route.path for route in routes() if isinstance(route, PageRoute) and route.is_public}

    assert "/sandbox/checkout" in public
    assert not public & {"/portal/keys", "/portal/sign-in"}
