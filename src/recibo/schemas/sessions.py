"""The wire form of a session's tokens."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class TokenResponse(BaseModel):
    """A pair of tokens; both are JWTs."""

    model_config = ConfigDict(frozen=True)

    access_token: str
    refresh_token: str
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105 - a type, not a password
    expires_in: int = Field(description="Seconds until the access token expires.")
    user_id: str
    org_id: str | None
    two_factor_required: Literal[True] | None = Field(
        default=None,
        description="Only there when the pair works after the second factor is shown.",
        exclude_if=lambda value: value is None,
    )
