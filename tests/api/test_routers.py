"""What all routes under /v1 have in common."""

from typing import TYPE_CHECKING, cast

import pytest

from recibo.api import application
from recibo.api.routers import ApiRoute
from recibo.web.guarded_route import count_anonymous

if TYPE_CHECKING:
    from recibo.web.services import Services


@pytest.fixture(scope="module")
def routes() -> dict[str, ApiRoute]:
    """The routes under /v1 by their names."""
    app = application.create_app(cast("Services", None))
    under_v1 = [route for route in app.routes if getattr(route, "path", "").startswith("/v1")]
    assert all(isinstance(route, ApiRoute) for route in under_v1)
    return {cast("ApiRoute", route).name: cast("ApiRoute", route) for route in under_v1}


def test_every_route_counts_anonymous_requests_first(routes: dict[str, ApiRoute]) -> None:
    """Otherwise a request that is one too many would be refused only after it had its effect."""
    assert {"extract_receipt", "sign_up"} <= routes.keys()
    assert {count_anonymous} == {route.guards[0] for route in routes.values()}


def test_public_routes_are_those_without_a_credential(routes: dict[str, ApiRoute]) -> None:
    public = {name for name, route in routes.items() if route.is_public}

    assert {"sign_up", "log_in", "verify_email", "receive_provider_event"} <= public
    assert not public & {"extract_receipt", "list_receipts", "get_me", "create_key"}


def test_the_body_is_read_after_all_guards(routes: dict[str, ApiRoute]) -> None:
    for name, route in routes.items():
        modules = [getattr(one.call, "__module__", "") for one in route.dependant.dependencies]
        assert route.body_field is None, name
        assert "recibo.api.json_body" not in modules[:-1], name
