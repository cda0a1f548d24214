"""GET /v1/key: what an API key may know of itself."""

from fastapi import APIRouter
from pydantic import Field

from recibo.api.answers import errors_of
from recibo.api.deps import AnyKey
from recibo.services.identity import keys
from recibo.services.reading import usage
from recibo.shapes.keys import Key
from recibo.shapes.plans import PLANS, PlanName
from recibo.web.services import TheServices

router = APIRouter(prefix="/v1", tags=["api keys"])


class OwnKey(Key):
    """An API key with its org's plan and use."""

    plan: PlanName
    quota_receipts_month: int
    usage_this_month: int = Field(description="Receipts completed this calendar month, UTC.")
    credits_used_this_month: int


@router.get("/key", summary="Get the calling key", responses=errors_of(401, 429, 500))
async def get_own_key(actor: AnyKey, services: TheServices) -> OwnKey:
    """Return the record of the key that calls, whatever its scopes."""
    async with services.database.read() as session:
        key = await keys.own(session, actor)
        used = await usage.this_month(session, actor)
    return OwnKey(
        **key.model_dump(),
        plan=actor.plan,
        quota_receipts_month=PLANS[actor.plan].receipts_a_month,
        usage_this_month=used.completed,
        credits_used_this_month=used.credits,
    )
