"""GET /healthz, /readyz and /metrics: for those who run the service."""

import asyncio
import hmac
import ipaddress

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from recibo.api.answers import errors_of
from recibo.api.deps import Probe, TheServices
from recibo.errors import NotFound

router = APIRouter(tags=["operations"])

_PROBE_SECONDS = 5


@router.get("/healthz", summary="Alive?")
async def healthz() -> dict[str, str]:
    """Answer as long as the process can."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    summary="Ready?",
    responses={503: {"description": "A part does not work; `checks` tell which."}},
)
async def readyz(services: TheServices) -> JSONResponse:
    """Tell whether the database, the storage and the queue work."""
    outcomes = await asyncio.gather(*(_works(probe) for probe in services.probes.values()))
    checks = dict(zip(services.probes, outcomes, strict=True))
    is_ready = all(checks.values())
    return JSONResponse(
        {
            "status": "ok" if is_ready else "unavailable",
            "checks": {name: "ok" if works else "failing" for name, works in checks.items()},
        },
        status_code=200 if is_ready else 503,
    )


@router.get(
    "/metrics",
    summary="Metrics",
    response_class=Response,
    responses={
        200: {"content": {"text/plain": {"schema": {"type": "string"}}}},
        **errors_of(404),
    },
)
async def metrics(request: Request, services: TheServices) -> Response:
    """Return the metrics in the Prometheus text format.

    In production only with the metrics token as bearer, or from loopback.
    """
    if services.is_production and not _may_see_metrics(request, services.metrics_token):
        raise NotFound
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _works(probe: Probe) -> bool:
    try:
        return await asyncio.wait_for(probe(), _PROBE_SECONDS)
    except Exception:  # noqa: BLE001 - whatever a probe raises, the part does not work
        return False


def _may_see_metrics(request: Request, token: str | None) -> bool:
    if request.client and ipaddress.ip_address(request.client.host).is_loopback:
        return True
    given = request.headers.get("authorization", "")
    return bool(token) and hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
