"""Strings with a format in the OpenAPI document: generated clients take their types from it."""

from typing import Annotated, TypeAlias

from pydantic import Field

DecimalText: TypeAlias = Annotated[str, Field(json_schema_extra={"format": "decimal"})]
TimestampText: TypeAlias = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
DateText: TypeAlias = Annotated[str, Field(json_schema_extra={"format": "date"})]
