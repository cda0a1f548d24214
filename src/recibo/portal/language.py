"""The language of the pages: that of the browser, unless a cookie stores another choice."""

from typing import Annotated

from fastapi import Depends, Request, Response
from pydantic import BaseModel
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recibo.portal import choices, forms, routers, translations
from recibo.portal.request_user import CurrentVisitor
from recibo.schemas import languages
from recibo.schemas.languages import Language
from recibo.services.identity import account
from recibo.web.services import LANGUAGE, TheServices

router = routers.make("/portal/language")

COOKIE = "service_language"
# Portuguese of any country is closer than English.
_BY_PRIMARY_TAG = {"en": Language.ENGLISH, "pt": Language.PORTUGUESE}
_TRANSLATED = ("text/html", "application/json")


class LanguageForm(BaseModel):
    """The chosen language, and the page to return to."""

    language: Language
    next: str = ""


class Languages:
    """ASGI middleware that chooses the language of each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        translations.load()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        language = of(Request(scope))
        # A sign-in stores it for mails.
        scope["state"][LANGUAGE] = language

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                _describe(MutableHeaders(scope=message), language)
            await send(message)

        with translations.using(language):
            await self._app(scope, receive, answer)


@router.post("")
async def choose_language(
    request: Request,
    visitor: CurrentVisitor,
    services: TheServices,
    form: Annotated[LanguageForm, Depends(forms.plain(LanguageForm))],
) -> Response:
    """Store the language in a cookie of the browser, and for the mails of a user."""
    if visitor.user is not None:
        await account.set_language(services.identity, visitor.user, form.language)
    return choices.remember(
        request, services, cookie=COOKIE, value=form.language, next_path=form.next
    )


def of(request: Request) -> Language:
    """Return the language of a request: the chosen one, or else that of the browser."""
    chosen = languages.known(request.cookies.get(COOKIE))
    return chosen or accepted(request.headers.get("accept-language", ""))


def accepted(header: str) -> Language:
    """Return the language that an `Accept-Language` header prefers; English if it names none."""
    qualities: dict[Language, float] = {}
    for item in header.split(","):
        tag, _, quality = item.partition(";")
        language = _BY_PRIMARY_TAG.get(tag.strip().partition("-")[0].lower())
        if language is not None:
            qualities[language] = max(qualities.get(language, 0), _quality(quality))
    best = max(qualities, key=lambda one: qualities[one], default=Language.ENGLISH)
    return best if qualities.get(best) else Language.ENGLISH


def _quality(parameter: str) -> float:
    name, _, figure = parameter.partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        quality = float(figure)
    except ValueError:
        return 0.0
    return quality if 0 <= quality <= 1 else 0.0


def _describe(headers: MutableHeaders, language: Language) -> None:
    if headers.get("content-type", "").startswith(_TRANSLATED):
        headers["Content-Language"] = language
        headers.add_vary_header("Accept-Language")
        headers.add_vary_header("Cookie")
