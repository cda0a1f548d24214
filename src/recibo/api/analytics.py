"""GET /v1/analytics."""

from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field

from recibo.api import routers
from recibo.api.deps import MayReadAnalytics, refuse_repeated
from recibo.api.queries import Digits
from recibo.api.responses import errors_of
from recibo.schemas.analytics import CategoryCount, UsageOfDay, Vendor
from recibo.services.reading import analytics
from recibo.web.services import TheServices

router = routers.make("/v1/analytics", tag="analytics")

_ERRORS = errors_of(401, 403, 429, 500)
_ERRORS_OF_QUERY = errors_of(400, 401, 403, 429, 500)


class UsageQuery(BaseModel):
    """The number of days."""

    days: Digits = Field(default=30, ge=1, le=365, description="Today and the days before.")


class VendorsQuery(BaseModel):
    """The number of merchants."""

    limit: Digits = Field(default=10, ge=1, le=100)


class UsageSeries(BaseModel):
    """Readings by day."""

    series: list[UsageOfDay]


class CategoryList(BaseModel):
    """Receipts by category."""

    items: list[CategoryCount]


class VendorList(BaseModel):
    """Receipts by merchant."""

    items: list[Vendor]


@router.get("/usage", summary="Count billed readings by day", responses=_ERRORS_OF_QUERY)
async def get_usage(
    request: Request,
    member: MayReadAnalytics,
    services: TheServices,
    query: Annotated[UsageQuery, Query()],
) -> UsageSeries:
    """Return the readings billed on each day, UTC, the oldest day first.

    Days with none are left out. Receipts deleted since are counted.
    """
    refuse_repeated(request, UsageQuery)
    async with services.database.read() as session:
        return UsageSeries(series=await analytics.usage(session, member, days=query.days))


@router.get("/categories", summary="Count receipts by category", responses=_ERRORS)
async def list_categories(member: MayReadAnalytics, services: TheServices) -> CategoryList:
    """Return the number of receipts per category, the largest first."""
    async with services.database.read() as session:
        return CategoryList(items=await analytics.categories(session, member))


@router.get("/top-vendors", summary="List the top vendors", responses=_ERRORS_OF_QUERY)
async def list_top_vendors(
    request: Request,
    member: MayReadAnalytics,
    services: TheServices,
    query: Annotated[VendorsQuery, Query()],
) -> VendorList:
    """Return the merchants with the most receipts, then the most spent, then by name."""
    refuse_repeated(request, VendorsQuery)
    async with services.database.read() as session:
        return VendorList(items=await analytics.top_vendors(session, member, limit=query.limit))
