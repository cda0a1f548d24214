"""Users with two-factor authentication and their authenticator apps."""

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from pyotp.totp import TOTP

from recibo.lib import clock
from recibo.store.tables import AuditEvent
from tests import people
from tests.installation import Installation
from tests.people import PASSWORD, Session

#: User agents.
HERE = "here/1"
ELSEWHERE = "elsewhere/1"
STEP = dt.timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class TwoFactorUser:
    """A user with two-factor authentication."""

    session: Session
    secret: str
    recovery_codes: list[str]

    @property
    def user_id(self) -> str:
        """The user's id."""
        return self.session.user_id

    @property
    def code(self) -> str:
        """The current code of the app."""
        return code_of(self.secret)

    @property
    def wrong_code(self) -> str:
        """A code that is not valid now or soon."""
        near = {code_of(self.secret, steps=steps) for steps in range(-2, 4)}
        return next(code for number in range(10) if (code := f"{number:06}") not in near)


@contextmanager
def new_step() -> Iterator[None]:
    """Move the clock to the start of a time step, so that none ends during a test."""
    with clock.moved(STEP - dt.timedelta(seconds=clock.now().timestamp() % 30)):
        yield


def code_of(secret: str, *, steps: int = 0) -> str:
    """Return the code of an app now, or some steps later."""
    return TOTP(secret).at(clock.now().timestamp(), steps)


async def post(
    i: Installation,
    path: str,
    headers: Mapping[str, str] | None = None,
    *,
    client: httpx.AsyncClient | None = None,
    **body: Any,
) -> httpx.Response:
    """Post to a route of two-factor authentication; the client keeps no cookie."""
    client = client or i.stranger
    answer = await client.post(f"/v1/auth/2fa{path}", json=body, headers=headers)
    client.cookies.clear()
    return answer


async def enrolled(i: Installation, session: Session) -> str:
    """Enroll an app and return its secret."""
    answer = await post(i, "/enroll", session.headers)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["secret"])


async def two_factor_user(i: Installation, *, email: str = "ana@people.test") -> TwoFactorUser:
    """Sign up a user and enable two-factor authentication."""
    session = await people.signed_up(i, email=email)
    secret = await enrolled(i, session)
    answer = await post(i, "/enroll/verify", session.headers, code=code_of(secret))
    assert answer.status_code == 200, answer.text
    return TwoFactorUser(session, secret, answer.json()["recovery_codes"])


async def log_in(
    i: Installation,
    who: TwoFactorUser,
    *,
    agent: str = HERE,
    client: httpx.AsyncClient | None = None,
) -> dict[str, Any]:
    """Sign in by password and return the pending tokens; the client keeps no cookie."""
    client = client or i.stranger
    body = {"email": who.session.email, "password": PASSWORD}
    answer = await client.post("/v1/auth/login", json=body, headers={"User-Agent": agent})
    client.cookies.clear()
    assert answer.status_code == 200, answer.text
    assert answer.json()["two_factor_required"] is True
    return dict(answer.json())


def session_headers(tokens: Mapping[str, Any], *, agent: str = HERE) -> dict[str, str]:
    """Return the headers of a request with a session."""
    return {**people.bearer(tokens["access_token"]), "User-Agent": agent}


async def me(i: Installation, tokens: Mapping[str, Any]) -> httpx.Response:
    """Return the answer of `/me` for a session."""
    return await i.stranger.get("/v1/auth/me", headers=people.bearer(tokens["access_token"]))


async def refreshed(i: Installation, tokens: Mapping[str, Any]) -> httpx.Response:
    """Refresh a token pair; the client keeps no cookie."""
    body = {"refresh_token": tokens["refresh_token"]}
    answer = await i.stranger.post("/v1/auth/refresh", json=body)
    i.stranger.cookies.clear()
    return answer


def error_of(answer: httpx.Response) -> tuple[int, str]:
    """Return the status and the error code of an answer."""
    return answer.status_code, answer.json()["error"]["code"]


async def verify(
    i: Installation,
    who: TwoFactorUser,
    headers: Mapping[str, str] | None = None,
    *,
    code: str | None = None,
    client: httpx.AsyncClient | None = None,
) -> httpx.Response:
    """Verify a code of the user's app, the right one by default."""
    code = who.code if code is None else code
    return await post(i, "/verify", headers, client=client, user_id=who.user_id, code=code)


async def recover(
    i: Installation,
    who: TwoFactorUser,
    headers: Mapping[str, str] | None = None,
    *,
    code: str | None = None,
) -> httpx.Response:
    """Use a recovery code of the user, the first by default."""
    code = code or who.recovery_codes[0]
    return await post(i, "/recovery/use", headers, user_id=who.user_id, code=code)


async def audit_log(i: Installation) -> list[tuple[str, Any]]:
    """Return the actions of the audit log with their outcomes, oldest first."""
    rows = sorted(await i.rows(AuditEvent), key=lambda row: row.id)
    return [(row.action, row.after) for row in rows]


def status_and_body(answer: httpx.Response) -> tuple[int, Any]:
    """Return the status and the body of an answer."""
    return answer.status_code, answer.json()
