"""Use the forms for accounts: sign up, sign in, and more."""

import datetime as dt

import httpx

from recibo.schemas.ids import UserId
from recibo.schemas.states import MailTokenKind
from recibo.services.identity import email_tokens, operators
from tests.installation import Installation
from tests.people import PASSWORD
from tests.portal import pages

DAY = dt.timedelta(days=1)
EMAIL = "ana@people.test"
SIGNUP = {"email": EMAIL, "password": PASSWORD, "full_name": "Ana Lima", "org_name": "Aurora"}


async def sign_up(client: httpx.AsyncClient, **form: str) -> httpx.Response:
    """Send the sign-up form; the client keeps the session."""
    answer = await client.post("/portal/sign-up", data={**SIGNUP, **form})
    assert answer.status_code == 303, answer.text
    return answer


async def sign_in(client: httpx.AsyncClient, **form: str) -> httpx.Response:
    """Send the sign-in form; the client keeps the session."""
    data = {"email": EMAIL, "password": PASSWORD, **form}
    return await client.post("/portal/sign-in", data=data)


async def home(client: httpx.AsyncClient) -> pages.Page | None:
    """Return the home page; None if the response is a redirect."""
    answer = await client.get("/portal")
    return pages.parse(answer) if answer.status_code == 200 else None


async def mint_token(i: Installation, kind: MailTokenKind, user_id: str) -> str:
    """Create the token that an email would contain; only if no mail worker runs."""
    async with i.database.write() as session:
        return await email_tokens.mint(session, kind, UserId(user_id))


async def disable_user(i: Installation, email: str) -> None:
    """Disable an account, as an operator does."""
    async with i.database.write() as session:
        await operators.disable_user(session, email)


def redirect_target(answer: httpx.Response) -> str:
    """Return the target of a redirect."""
    assert answer.status_code == 303, (answer.status_code, answer.text)
    return answer.headers["location"]
