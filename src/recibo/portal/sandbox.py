"""The sandbox's pages, under /sandbox: a checkout and a customer portal; no money moves.

They replace the pages of a payment provider. As there, anyone who has a URL may use it until it
expires: it is signed, and belongs to one customer.
"""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, Request, Response
from pydantic import BaseModel
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from recibo.adapters.payments import PORTAL_PATH
from recibo.portal import errors, forms, headers, pages, routers
from recibo.portal.headers import Headers
from recibo.portal.language import Languages
from recibo.schemas.plans import PLANS, PlanName
from recibo.services.billing import sandbox
from recibo.services.billing.sandbox import PRICES, Change
from recibo.web.services import Services, TheServices

router = routers.make("/sandbox")


class SandboxPages(BaseRoute):
    """The route for `/sandbox` and everything below it."""

    def __init__(self, services: Services) -> None:
        self._app = Languages(Headers(create_app(services), services))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the paths of the sandbox."""
        path = scope["path"] if scope["type"] == "http" else ""
        is_page = path == "/sandbox" or path.startswith("/sandbox/")
        return (Match.FULL if is_page else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a page."""
        await self._app(scope, receive, send)


class Sent(BaseModel):
    """The data that each button sends: the session of the page."""

    session: str


class PlanSent(Sent):
    """The data of the buttons that change the plan."""

    plan: PlanName


def create_app(services: Services) -> FastAPI:
    """Create the app of the sandbox's pages; its routes have full paths."""
    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.services = services
    app.router.routes.extend(router.routes)
    errors.install(app)
    return app


@router.get("/checkout")
async def show_checkout(request: Request, services: TheServices, session: str = "") -> Response:
    """Show the plan and a button that pays."""
    checkout, standing = await sandbox.checkout(services.billing, session)
    answer = pages.show(
        request,
        "sandbox_checkout.html",
        session=session,
        wanted=checkout.wanted,
        standing=standing,
        price=PRICES[checkout.wanted.plan],
        plan=PLANS[checkout.wanted.plan],
    )
    # Browsers apply this page's policy to the redirect of its form.
    answer.headers["Content-Security-Policy"] = headers.policy(
        headers.source_of(checkout.wanted.success_url)
    )
    return answer


@router.post("/checkout")
async def pay(services: TheServices, sent: Annotated[Sent, Depends(forms.plain(Sent))]) -> Response:
    """Pay, and redirect to the success URL."""
    checkout = await sandbox.pay(services.billing, sent.session)
    return pages.see_other(checkout.wanted.success_url)


@router.get("/portal")
async def show_portal(request: Request, services: TheServices, session: str = "") -> Response:
    """Show the subscription, and a button for each change."""
    portal, standing = await sandbox.portal(services.billing, session)
    return pages.show(
        request,
        "sandbox_portal.html",
        session=session,
        return_url=portal.return_url,
        standing=standing,
        prices=PRICES,
    )


@router.post("/portal/plan")
async def change_plan(
    services: TheServices, sent: Annotated[PlanSent, Depends(forms.plain(PlanSent))]
) -> Response:
    """Change the plan at once."""
    await sandbox.change(services.billing, sent.session, Change.PLAN, plan=sent.plan)
    return _portal_again(sent)


@router.post("/portal/cancel")
async def cancel(
    services: TheServices, sent: Annotated[Sent, Depends(forms.plain(Sent))]
) -> Response:
    """Cancel at the end of the period."""
    await sandbox.change(services.billing, sent.session, Change.CANCEL)
    return _portal_again(sent)


@router.post("/portal/resume")
async def resume(
    services: TheServices, sent: Annotated[Sent, Depends(forms.plain(Sent))]
) -> Response:
    """Undo the cancellation."""
    await sandbox.change(services.billing, sent.session, Change.RESUME)
    return _portal_again(sent)


@router.post("/portal/cancel-now")
async def cancel_now(
    services: TheServices, sent: Annotated[Sent, Depends(forms.plain(Sent))]
) -> Response:
    """End the subscription at once."""
    await sandbox.change(services.billing, sent.session, Change.CANCEL_NOW)
    return _portal_again(sent)


def _portal_again(sent: Sent) -> Response:
    return pages.see_other(f"{PORTAL_PATH}?{urlencode({'session': sent.session})}")
