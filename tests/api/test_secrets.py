"""No secret leaks: not in rows, not in the audit log, not in logs.

The journey below goes through every endpoint that takes or gives one. Each secret must be found in
no column of any table and no log line; what is kept in its stead, a hash, in no audit entry either.
"""

import hashlib
import json
import logging
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from recibo.adapters.fake_mailer import FakeMailer
from recibo.lib import clock
from recibo.schemas.states import AuditAction
from recibo.services import mail_templates
from recibo.services.mail_templates import MailSettings
from recibo.store import tables
from recibo.store.tables import Table
from recibo.worker.mail_worker import MailWorker
from tests import installation, mail_fixtures, make
from tests.installation import Installation
from tests.second_factors import STEP, code_of, new_step

HEAD = MailSettings("https://recibo.test", mail_templates.sender("", "https://recibo.test"))
PASSWORDS = ["first long password", "second long password", "third long password"]
MISTYPED = ["xfirst long password", "short-1", "unfinished password"]
ANA, BETO = "ana@people.test", "beto@people.test"
# Columns that store a secret's hash or the encrypted secret.
HASHES = [
    tables.SigningSecret.sealed,
    tables.SigningSecret.earlier,
    tables.User.password_hash,
    tables.User.totp_secret,
    tables.RecoveryCode.code_hash,
    tables.ApiKey.secret_hash,
    tables.MailToken.token_hash,
    tables.Invitation.token_hash,
]


@dataclass
class Journey:
    """The requests to a service, and the secrets in requests and responses."""

    service: Installation
    post: MailWorker
    mailer: FakeMailer
    secrets: set[str] = field(default_factory=lambda: {*PASSWORDS, *MISTYPED})
    #: The stored hashes and encrypted secrets seen so far, by column.
    hashes: dict[str, set[str]] = field(default_factory=lambda: {str(one): set() for one in HASHES})
    refusals: list[str] = field(default_factory=list)
    #: The headers of the current session.
    headers: dict[str, str] = field(default_factory=dict)

    async def ask(self, path: str, *, method: str = "POST", **body: Any) -> dict[str, Any]:
        """Send a request under /v1 with the current session, and record the secrets returned."""
        answer = await self.service.stranger.request(
            method, f"/v1{path}", json=body, headers=self.headers
        )
        self.service.stranger.cookies.clear()
        result: dict[str, Any] = answer.json() if answer.content else {}
        if answer.is_error:
            self.refusals.append(answer.text)
        for name in ("access_token", "refresh_token", "secret"):
            if name in result:
                # A token's last part is what makes it more than a claim.
                self.secrets |= {result[name], result[name].rpartition(".")[2]}
        if "access_token" in result:
            self.headers = {"Authorization": f"Bearer {result['access_token']}"}
        return result

    async def raw(self, path: str, content: str) -> httpx.Response:
        """Send a body that is no good JSON."""
        headers = {"Content-Type": "application/json"}
        answer = await self.service.stranger.post(f"/v1{path}", content=content, headers=headers)
        self.refusals.append(answer.text)
        return answer

    async def mailed_token(self, to: str) -> str:
        """Have the owed mails sent and return the token of the newest one to an address."""
        while await self.post.run_once():
            pass
        # Several are sent at once, in any order; some contain no token.
        newest = [one for one in reversed(self.mailer.sent) if to in one["To"]]
        token = mail_fixtures.token(next(one for one in newest if mail_fixtures.has_token(one)))
        self.secrets.add(token)
        return token

    async def note_hashes(self) -> None:
        """Keep the hashes that stand in the tables now."""
        async with self.service.database.read() as session:
            for column in HASHES:
                kept = (await session.execute(select(column))).scalars()
                self.hashes[str(column)] |= {text for one in kept for text in _texts(one)}


@pytest.fixture
async def journey(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[Journey]:
    """A service that has seen every secret there is."""
    caplog.set_level(logging.INFO)
    # Mails are sent by hand, so that each is there when it is looked for; nothing is read.
    async with installation.start(
        database_url, tmp_path, with_worker=False, extract_wait_seconds=0
    ) as service:
        mailer = FakeMailer()
        made = Journey(service, MailWorker(service.database, mailer, HEAD), mailer)
        made.secrets.add(service.secret)
        with new_step():
            for stage in (accounts, second_factor, keys, webhooks, links, invitation):
                await stage(made)
                await made.note_hashes()
        await mistakes(made)
        yield made


async def accounts(journey: Journey) -> None:
    """Sign up, prove the address, sign in, refresh."""
    first, _, _ = PASSWORDS
    signup = {"email": ANA, "password": first, "org_name": "Aurora"}
    tokens = await journey.ask("/auth/signup", **signup)
    await journey.ask(f"/auth/verify-email/{await journey.mailed_token(ANA)}")
    await journey.ask("/auth/verify-email/resend")
    await journey.ask("/auth/refresh", refresh_token=tokens["refresh_token"])
    await journey.ask("/auth/refresh", refresh_token=tokens["refresh_token"])
    await journey.ask("/auth/login", email=ANA, password=first)
    await journey.ask("/auth/me", method="PATCH", name="Ana")


async def second_factor(journey: Journey) -> None:
    """Enroll, sign in by a code and by a recovery code, disable."""
    code, recovery_code = await enrol(journey)
    for path, shown in (("verify", code), ("recovery/use", recovery_code)):
        user_id = (await journey.ask("/auth/login", email=ANA, password=PASSWORDS[0]))["user_id"]
        await journey.ask(f"/auth/2fa/{path}", user_id=user_id, code="000000")
        await journey.ask(f"/auth/2fa/{path}", user_id=user_id, code=shown)
    await journey.ask("/auth/2fa/disable", code=code)


async def enrol(journey: Journey) -> tuple[str, str]:
    """Switch the second factor on and return a code of the app and a recovery code."""
    code = code_of((await journey.ask("/auth/2fa/enroll"))["secret"])
    codes = (await journey.ask("/auth/2fa/enroll/verify", code=code))["recovery_codes"]
    journey.secrets |= {*codes, *(code.replace("-", "") for code in codes)}
    return code, codes[0]


async def keys(journey: Journey) -> None:
    """Make keys of both kinds, use one, revoke one."""
    result = [
        await journey.ask("/api-keys", name="Till"),
        await journey.ask("/api-keys", name="Shop", kind="publishable"),
    ]
    answer = await journey.service.extract(make.jpeg("a"), secret=result[0]["secret"])
    assert 503 != answer.status_code
    await journey.ask(f"/api-keys/{result[0]['id']}", method="DELETE")
    await journey.service.get("/key", secret=result[0]["secret"])


async def webhooks(journey: Journey) -> None:
    """Set an endpoint in the portal, rotate both secrets, send a test and mistype a URL."""
    client = journey.service.stranger
    # The page knows a session by its cookie.
    cookie = journey.headers["Authorization"].removeprefix("Bearer ")
    forms = [
        ("", {"url": "https://hooks.acme.test/recibo"}),
        ("/rotate", {"secret": "endpoint"}),
        ("/rotate", {"secret": "org"}),
        ("/test", {}),
        ("", {"url": "ftp://hooks.acme.test"}),
    ]
    for path, form in forms:
        client.cookies.set("service_access", cookie)
        answer = await client.post(f"/portal/webhooks{path}", data=form)
        assert answer.status_code == (400 if "ftp" in str(form) else 303)
        page = (await client.get("/portal/webhooks")).text
        found = re.findall(r"whsec_[A-Za-z0-9+/]{43}=", page)
        assert 2 == len(found)
        # The prefix is public; the rest is the secret.
        journey.secrets |= {*found, *(one.removeprefix("whsec_") for one in found)}
        await journey.note_hashes()
    client.cookies.clear()


async def links(journey: Journey) -> None:
    """Sign in by a link, change the password, forget it and set another."""
    first, second, third = PASSWORDS
    await journey.ask("/auth/magic-link", email=ANA)
    token = await journey.mailed_token(ANA)
    await journey.service.stranger.get(f"/portal/magic-link?token={token}")
    await journey.ask("/auth/magic-link/verify", token=token)
    await journey.ask("/auth/magic-link/verify", token=token)
    await journey.ask("/auth/password", new_password=second, current_password=first)
    await journey.ask("/auth/password/forgot", email=ANA)
    token = await journey.mailed_token(ANA)
    await journey.ask("/auth/password/reset", token=token, new_password=third)
    await journey.ask("/auth/login", email=ANA, password=third)


async def invitation(journey: Journey) -> None:
    """Invite a user who accepts, and leave some tokens unused."""
    await journey.ask("/org/members", email=BETO, role="developer")
    token = await journey.mailed_token(BETO)
    await journey.ask("/auth/login", email=ANA, password=PASSWORDS[2])
    await journey.ask("/org/members", email="carla@people.test", role="admin")
    await journey.mailed_token("carla@people.test")
    # A link a minute is sent.
    with clock.moved(2 * STEP):
        await journey.ask("/auth/magic-link", email=ANA)
        await journey.mailed_token(ANA)
    owner = journey.headers
    journey.headers = {}
    await journey.ask("/auth/accept-invite", token=token)
    journey.headers = owner
    with clock.moved(4 * STEP):
        await enrol(journey)


async def mistakes(journey: Journey) -> None:
    """Say secrets where they are refused."""
    mistyped, short, unfinished = MISTYPED
    await journey.ask("/auth/login", email=ANA, password=mistyped)
    await journey.ask("/auth/login", email=ANA, password=[mistyped])
    signup = {"email": "dora@people.test", "org_name": "A"}
    await journey.ask("/auth/signup", password=short, **signup)
    await journey.ask("/auth/signup", password=mistyped, **signup | {"email": mistyped})
    await journey.raw("/auth/login", f'{{"email": "{ANA}", "password": "{unfinished}')
    await journey.raw("/auth/password/reset", f'["{unfinished}"]')
    for secret in list(journey.secrets):
        headers = {"X-API-Key": secret, "Authorization": f"Bearer {secret}"}
        await journey.service.stranger.get("/v1/receipts", headers=headers)
        await journey.service.stranger.get("/v1/auth/me", headers=headers)


async def rows(service: Installation, table: type[Table]) -> list[dict[str, Any]]:
    """Return all rows of a table, each as its columns' attributes."""
    names = table.__mapper__.column_attrs.keys()
    return [{name: getattr(row, name) for name in names} for row in await service.rows(table)]


async def everything(service: Installation) -> dict[str, str]:
    """Return each table with all that is written in it."""
    mappers = Table.registry.mappers
    return {
        one.class_.__name__: json.dumps(await rows(service, one.class_), default=str)
        for one in mappers
    }


def said(journey: Journey, caplog: pytest.LogCaptureFixture) -> str:
    """Return all log lines."""
    lines = [json.dumps(dict(one), default=str) for one in journey.service.logs]
    assert any("/v1/auth/signup" in line for line in lines)
    # The client of the tests writes down what it asks; a service never lets its own do so.
    others = [one.getMessage() for one in caplog.records if one.name != "httpx"]
    return "\n".join([*lines, *others])


async def test_journey_covers_every_secret_and_every_audit_action(journey: Journey) -> None:
    """Else the test below would find nothing because nothing was there."""
    result = {row.action for row in await journey.service.rows(tables.AuditEvent)}

    assert {
        AuditAction.USER_SIGNED_UP,
        AuditAction.USER_SIGNED_IN,
        AuditAction.USER_SIGN_IN_FAILED,
        AuditAction.USER_EMAIL_VERIFIED,
        AuditAction.USER_PASSWORD_CHANGED,
        AuditAction.USER_PASSWORD_RESET,
        AuditAction.USER_2FA_ENROLLING,
        AuditAction.USER_2FA_ENABLED,
        AuditAction.USER_2FA_DISABLED,
        AuditAction.USER_RECOVERY_CODE_USED,
        AuditAction.APIKEY_CREATED,
        AuditAction.APIKEY_REVOKED,
        AuditAction.MEMBER_INVITED,
        AuditAction.INVITATION_ACCEPTED,
        AuditAction.WEBHOOK_ENDPOINT_CREATED,
        AuditAction.WEBHOOK_ENDPOINT_SECRET_ROTATED,
        AuditAction.WEBHOOK_EVENT_TESTED,
    } <= result
    # The endpoint's and the org's, before and after their rotation.
    assert 4 == sum("whsec_" in secret for secret in journey.secrets)
    assert 2 == sum("sk_live_" in secret for secret in journey.secrets)
    assert 1 == sum("pk_publishable_" in secret for secret in journey.secrets)
    assert [] == [column for column, hashes in journey.hashes.items() if not hashes]
    # Links of all four kinds.
    assert 6 <= sum(len(secret) == 32 and secret.isalnum() for secret in journey.secrets)


async def test_no_secret_leaks(journey: Journey, caplog: pytest.LogCaptureFixture) -> None:
    written = await everything(journey.service)
    fingerprints = {hashlib.sha256(one.encode()).hexdigest() for one in journey.secrets}
    hashes = fingerprints.union(*journey.hashes.values())
    lines = said(journey, caplog)
    refusals = "\n".join(journey.refusals)

    assert set() == found(journey.secrets, "\n".join(written.values()))
    assert set() == found(hashes, written["AuditEvent"] + written["Mail"])
    assert set() == found(journey.secrets | hashes, lines)
    assert set() == found(journey.secrets | hashes, refusals)


def found(hidden: set[str], text: str) -> set[str]:
    """Return the secrets that a text contains."""
    return {one for one in hidden if one in text}


def _texts(kept: object) -> list[str]:
    """Return the hashes or encrypted secrets in a column: one, several or none."""
    if isinstance(kept, list):
        return [one["sealed"] for one in kept]
    return [kept] if isinstance(kept, str) else []
