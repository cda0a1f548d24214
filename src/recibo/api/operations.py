"""GET /healthz, /readyz and /metrics: for those who run the service."""

import asyncio
import hmac
from collections.abc import Mapping
from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel

from recibo.api import routers
from recibo.api.errors import ErrorAnswer, render
from recibo.api.responses import errors_of
from recibo.errors import NotFound, Overloaded
from recibo.web import loopback
from recibo.web.services import Probe, TheServices

router = APIRouter(tags=["operations"], generate_unique_id_function=routers.operation_id)

_PROBE_SECONDS = 5
# Health checks often wait one second only, and degraded parts must not make them fail.
_DISPENSABLE_PROBE_SECONDS = 0.5


class Readiness(BaseModel):
    """The state of each part."""

    status: Literal["ok"]
    checks: dict[str, Literal["ok", "degraded"]]


class Unreadiness(ErrorAnswer):
    """The state of each part, with the usual error."""

    status: Literal["unavailable"]
    checks: dict[str, Literal["ok", "degraded", "failing"]]


@router.get("/healthz", summary="Check health")
async def check_health() -> dict[str, str]:
    """Return 200 as long as the process answers."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    summary="Check readiness",
    response_model=Readiness,
    responses={503: {"model": Unreadiness, "description": "A part does not work; see `checks`."}},
)
async def check_readiness(request: Request, services: TheServices) -> Response:
    """Check the database, the storage and the queue.

    Requests are still served without a part that is `degraded`, so the answer stays 200.
    """
    needed, dispensable = await asyncio.gather(
        _asked(services.probes, "failing", within_seconds=_PROBE_SECONDS),
        _asked(services.dispensable, "degraded", within_seconds=_DISPENSABLE_PROBE_SECONDS),
    )
    checks = needed | dispensable
    failing = ", ".join(name for name, state in needed.items() if state == "failing")
    if not failing:
        return JSONResponse({"status": "ok", "checks": checks})
    error = Overloaded(f"Not ready: {failing}.", retry_after=_PROBE_SECONDS)
    return render(
        error, request.state.request_id, extra={"status": "unavailable", "checks": checks}
    )


@router.get(
    "/metrics",
    summary="Get metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **errors_of(404),
    },
)
async def get_metrics(request: Request, services: TheServices) -> Response:
    """Return the metrics in the Prometheus text format.

    In production it needs the metrics token as bearer token, except from loopback.
    """
    if services.is_production and not _may_see_metrics(request, services.metrics_token):
        raise NotFound
    await services.refresh_metrics()
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _asked(
    probes: Mapping[str, Probe], otherwise: str, *, within_seconds: float
) -> dict[str, str]:
    works = (_works(probe, within_seconds) for probe in probes.values())
    outcomes = await asyncio.gather(*works)
    return {
        name: "ok" if works else otherwise for name, works in zip(probes, outcomes, strict=True)
    }


async def _works(probe: Probe, within_seconds: float) -> bool:
    try:
        return await asyncio.wait_for(probe(), within_seconds)
    except Exception:  # noqa: BLE001 - whatever a probe raises, the part does not work
        return False


def _may_see_metrics(request: Request, token: str | None) -> bool:
    # Behind a proxy, every request seems to come from loopback.
    if loopback.is_direct(request):
        return True
    given = request.headers.get("authorization", "")
    return bool(token) and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
