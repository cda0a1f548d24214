"""Requests that start, continue and end sessions, from several addresses."""

from collections.abc import Mapping
from typing import Any

import httpx
from sqlalchemy import text

from recibo.store.tables import AuditEvent
from tests import installation
from tests.installation import Installation

# Limits apply to this address even in development.
AWAY = "203.0.113.7"
#: The status and the error code.
Outcome = tuple[int, str]


async def ask(
    i: Installation | httpx.AsyncClient,
    path: str,
    body: object = None,
    *,
    method: str = "POST",
    **headers: str,
) -> httpx.Response:
    """Send a request to /v1/auth, with a JSON body if given; the client keeps no cookie."""
    client = i.stranger if isinstance(i, Installation) else i
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = await client.request(method, f"/v1/auth{path}", json=body, headers=named)
    client.cookies.clear()
    return answer


def outcome(answer: httpx.Response) -> Outcome:
    """Return status and code of an answer; the code of a success is empty."""
    code = answer.json()["error"]["code"] if answer.is_error else ""
    return answer.status_code, code


def refusal(answer: httpx.Response) -> dict[str, Any]:
    """Return the error of an answer without its request id."""
    error: dict[str, Any] = answer.json()["error"]
    return {"status": answer.status_code, **error, "request_id": None}


def cookie(**tokens: str) -> str:
    """Return the header with the session's cookies, `access` or `refresh`."""
    return "; ".join(f"service_{name}={value}" for name, value in tokens.items())


def set_cookies(answer: httpx.Response) -> Mapping[str, tuple[str, set[str]]]:
    """Return value and attributes of the cookies that an answer sets."""
    found = {}
    for header in answer.headers.get_list("set-cookie"):
        pair, *attributes = header.split("; ")
        name, _, value = pair.partition("=")
        found[name] = value, {one for one in attributes if not one.startswith("expires")}
    return found


def client_at(
    i: Installation, address: str = AWAY, user_agent: str = "browser/1", **headers: str
) -> httpx.AsyncClient:
    """Return a client with another address and user agent."""
    headers = {"User-Agent": user_agent, **headers}
    return installation.client_of(i.asgi, address=address, headers=headers)


async def audit_entries(i: Installation, *actions: str) -> list[AuditEvent]:
    """Return the entries of these actions in the audit log, the oldest first."""
    found = [row for row in await i.rows(AuditEvent) if row.action in actions]
    return sorted(found, key=lambda row: row.id)


async def waits_for_a_lock(i: Installation) -> bool:
    """Return whether a statement waits for a lock; PostgreSQL only."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    async with i.database.read() as session:
        return bool((await session.execute(text(query))).scalar_one())
