"""The wire forms of analytics."""

import datetime as dt

from pydantic import BaseModel, ConfigDict, Field


class UsageOfDay(BaseModel):
    """The readings billed on a day."""

    model_config = ConfigDict(frozen=True)

    #: Midnight, UTC.
    day: dt.datetime
    count: int


class CategoryCount(BaseModel):
    """An org's receipts of a category."""

    model_config = ConfigDict(frozen=True)

    category: str
    count: int


class Vendor(BaseModel):
    """An org's receipts of a merchant."""

    model_config = ConfigDict(frozen=True)

    merchant: str
    receipts: int
    total_spent: float = Field(description="The sum of the totals, whatever their currencies.")
