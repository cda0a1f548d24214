"""People with several organizations."""

from playwright.sync_api import Page

from tests.people import PASSWORD
from tests.portal.browser import Site


def join_second(site: Site, page: Page, email: str) -> None:
    """Sign the browser up, and accept an invitation to another organization."""
    with site.visit() as owner:
        body = {"email": f"owner-{email}", "password": PASSWORD, "org_name": "Loja Bea"}
        assert owner.request.post("/v1/auth/signup", data=body).ok
        body = {"email": email, "password": PASSWORD, "org_name": "Padaria Aurora"}
        assert page.request.post("/v1/auth/signup", data=body).ok
        invitation = {"email": email, "role": "admin"}
        assert owner.request.post("/v1/org/members", data=invitation).ok
    token = site.link_to(email, "accept-invite").partition("token=")[2]
    assert page.request.post("/v1/auth/accept-invite", data={"token": token}).ok
    credentials = {"email": email, "password": PASSWORD}
    assert page.request.post("/v1/auth/login", data=credentials).ok
