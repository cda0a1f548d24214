"""The language of the pages: of the browser, or as chosen."""

import httpx
import pytest

from recibo.portal import language, translations
from recibo.schemas.languages import Language
from tests import inbox
from tests.installation import Installation
from tests.mail_servers import part
from tests.people import PASSWORD
from tests.portal import accounts, pages

SIGN_IN = "/portal/sign-in"
BEA = "bea@people.test"
PORTUGUESE = {"Accept-Language": "pt-BR"}


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", "en"),
        ("pt-BR", "pt-BR"),
        ("pt", "pt-BR"),
        ("PT-pt, en;q=0.5", "pt-BR"),
        ("pt-BR,pt;q=0.9,en-US;q=0.8,en;q=0.7", "pt-BR"),
        ("en-US,en;q=0.9,pt;q=0.8", "en"),
        ("en;q=0.2, pt;q=0.4", "pt-BR"),
        ("de, fr;q=0.9, pt;q=0.1", "pt-BR"),
        ("de", "en"),
        ("pt;q=0", "en"),
        ("pt;q=2, en;q=0.1", "en"),
        ("pt;q=nan", "en"),
        ("*", "en"),
        (";;,=;q", "en"),
    ],
)
def test_language_of_the_browser(header: str, expected: str) -> None:
    assert expected == language.accepted(header)


async def test_page_is_in_the_language_of_the_browser(sqlite_service: Installation) -> None:
    english = await sqlite_service.stranger.get(SIGN_IN)
    portuguese = await sqlite_service.stranger.get(SIGN_IN, headers={"Accept-Language": "pt"})

    assert "Skip to content" in pages.parse(english).text
    assert "Ir para o conteúdo" in pages.parse(portuguese).text
    assert ("en", "pt-BR") == (_language_of(english), _language_of(portuguese))
    assert portuguese.headers["vary"].endswith("Accept-Language, Cookie")


async def test_switch_works_after_a_refused_form(sqlite_service: Installation) -> None:
    client = sqlite_service.stranger
    form = {"email": "no address", "password": "short", "next": "/portal/keys"}
    refused = await client.post("/portal/sign-up", data=form)

    assert 400 == refused.status_code
    assert 'name="next" value="/portal/sign-up?next=/portal/keys"' in refused.text


async def test_chosen_language_is_kept_on_the_page(sqlite_service: Installation) -> None:
    client = sqlite_service.stranger
    form = {"language": "pt-BR", "next": "/portal/sign-up?next=%2Fportal%2Fkeys"}
    answer = await client.post("/portal/language", data=form)
    chosen = await client.get(SIGN_IN, headers={"Accept-Language": "en"})
    await client.post("/portal/language", data={"language": "en"})
    after = await client.get(SIGN_IN, headers={"Accept-Language": "pt"})

    assert form["next"] == accounts.redirect_target(answer)
    assert "pt-BR" == _language_of(chosen)
    assert "en" == _language_of(after)


async def test_every_page_has_the_choice(sqlite_service: Installation) -> None:
    client = sqlite_service.stranger
    without_session = [await client.get(path) for path in (SIGN_IN, "/portal/nowhere")]
    await accounts.sign_up(client)
    home = await client.get("/portal")

    for answer in (*without_session, home):
        assert 'method="post" action="/portal/language"' in answer.text
        assert 'value="pt-BR" lang="pt-BR" aria-pressed="false">Português<' in answer.text
        assert 'value="en" lang="en" aria-pressed="true">English<' in answer.text


@pytest.mark.parametrize("chosen", ["", "de", '"><script>'])
async def test_unknown_language_is_refused_and_ignored(
    sqlite_service: Installation, chosen: str
) -> None:
    refused = await sqlite_service.stranger.post("/portal/language", data={"language": chosen})
    sqlite_service.stranger.cookies.set("service_language", "de")
    page = await sqlite_service.stranger.get(SIGN_IN)

    assert 400 == refused.status_code
    assert "en" == _language_of(page)


async def test_redirect_stays_on_the_site(sqlite_service: Installation) -> None:
    form = {"language": "pt-BR", "next": "https://evil.example/"}
    answer = await sqlite_service.stranger.post("/portal/language", data=form)

    assert "/portal" == accounts.redirect_target(answer)


async def test_api_is_the_same_in_every_language(sqlite_service: Installation) -> None:
    answers = [
        await sqlite_service.stranger.get("/v1/receipts", headers={"Accept-Language": accepted})
        for accepted in ("en", "pt-BR")
    ]

    assert answers[0].json()["error"]["message"] == answers[1].json()["error"]["message"]
    assert "content-language" not in answers[1].headers


async def test_mails_are_in_the_language_of_their_reader(service: Installation) -> None:
    client = service.stranger
    await client.post("/portal/sign-up", data=accounts.SIGNUP, headers=PORTUGUESE)
    signed_up = await inbox.new_subjects(service)
    await client.post("/portal/members/invite", data={"email": BEA, "role": "viewer"})
    (invitation,) = await inbox.new_mails(service)
    # Of another browser: the user's own language counts.
    await client.post("/portal/magic-link/request", data={"email": accounts.EMAIL})
    link = await inbox.new_subjects(service)
    await client.post("/portal/language", data={"language": "en"})
    await client.post("/portal/forgot-password", data={"email": accounts.EMAIL})
    switched = await inbox.new_subjects(service)

    assert ["Confirme seu e-mail"] == signed_up
    assert 'Convite para "Aurora"' == invitation["Subject"]
    assert "na função de leitor" in part(invitation, "plain")
    assert '<html lang="pt-BR">' in part(invitation, "html")
    assert ["Seu link de acesso"] == link
    assert ["Set a new password"] == switched


async def test_mails_to_users_of_the_api_are_english(sqlite_service: Installation) -> None:
    body = {"email": BEA, "password": PASSWORD, "org_name": "Loja Bea"}
    await sqlite_service.stranger.post("/v1/auth/signup", json=body, headers=PORTUGUESE)
    api = await inbox.new_subjects(sqlite_service)
    form = {"email": BEA, "password": PASSWORD}
    await sqlite_service.stranger.post("/portal/sign-in", data=form, headers=PORTUGUESE)
    await sqlite_service.stranger.post("/portal/forgot-password", data={"email": BEA})
    portal = await inbox.new_subjects(sqlite_service)

    assert ["Confirm your email address"] == api
    assert ["Defina uma nova senha"] == portal


def test_constants_are_translated_when_they_are_shown() -> None:
    text = translations.lazy_gettext("Language")

    with translations.using(Language.PORTUGUESE):
        portuguese = str(text)

    assert ("Language", "Idioma") == (str(text), portuguese)


def _language_of(answer: httpx.Response) -> str:
    tag = answer.headers["content-language"]
    assert f'<html lang="{tag}"' in answer.text
    return str(tag)
