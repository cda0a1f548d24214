"""Errors as JSON: all of them have the same body."""

import json
from collections.abc import Mapping
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from recibo.api import validation_errors
from recibo.errors import (
    AuthenticationFailed,
    Detail,
    MethodNotAllowed,
    NoSession,
    NotFound,
    ServerError,
    ServiceError,
    ValidationFailed,
)
from recibo.web import methods

log = structlog.get_logger(__name__)

_FOR_SESSIONS = 'Bearer realm="recibo"'
_FOR_KEYS = 'ApiKey realm="recibo", header="X-API-Key"'


class FieldDetail(BaseModel):
    """An invalid field, and why."""

    field: str
    message: str


class ErrorBody(BaseModel):
    """What went wrong."""

    code: str = Field(examples=["validation_error"])
    message: str
    request_id: str
    details: list[FieldDetail] | None = Field(default=None, description="For validation errors.")
    retry_after: int | None = Field(default=None, description="Seconds; for 429 and 503.")
    receipt_id: str | None = Field(default=None, description="The failed receipt that was kept.")


class ErrorAnswer(BaseModel):
    """The body of every answer that is not a success."""

    error: ErrorBody


def install(app: FastAPI) -> None:
    """Make the app answer every error of a route as JSON."""
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)


def render(
    error: ServiceError, request_id: str, *, extra: Mapping[str, object] | None = None
) -> Response:
    """Return the answer to an error; `extra` fields come after it in the body."""
    return Response(
        json.dumps(error_body(error, request_id) | dict(extra or {})),
        status_code=error.status,
        headers=_headers(error),
        media_type="application/json",
    )


def error_body(error: ServiceError, request_id: str) -> dict[str, Any]:
    """Return the JSON body of the answer to an error."""
    body: dict[str, Any] = {
        "code": error.code, "message": error.message, "request_id": request_id
    }  # fmt: skip
    if details := error.details or _of_the_whole(error):
        body["details"] = [{"field": one.field, "message": one.message} for one in details]
    if error.retry_after is not None:
        body["retry_after"] = error.retry_after
    if error.receipt_id is not None:
        body["receipt_id"] = error.receipt_id
    return {"error": body}


def unexpected(request_id: str) -> Response:
    """Return the answer to an unexpected error."""
    return render(ServerError(), request_id)


def _of_the_whole(error: ServiceError) -> tuple[Detail, ...]:
    # Every validation error has `details`, even one about the request as a whole.
    is_invalid = error.code == ValidationFailed.code
    return (Detail("body", error.message),) if is_invalid else ()


def _headers(error: ServiceError) -> Mapping[str, str]:
    headers = {}
    if error.status == 401:  # noqa: PLR2004 - the status that RFC 9110 asks this header for
        is_of_session = isinstance(error, (NoSession, AuthenticationFailed))
        headers["WWW-Authenticate"] = _FOR_SESSIONS if is_of_session else _FOR_KEYS
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    return headers


async def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)  # noqa: S101 - registered for nothing else
    return render(error, request.state.request_id)


async def _invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for nothing else
    return render(validation_errors.fields(error.errors(), above=1), request.state.request_id)


_BY_STATUS: Mapping[int, type[ServiceError]] = {404: NotFound, 405: MethodNotAllowed}


def of_framework(request: Request, error: HTTPException) -> Response:
    """Return the answer to an error of the framework: an unknown path or a wrong method."""
    kind = _BY_STATUS.get(error.status_code, ValidationFailed)
    answer = render(kind(), request.state.request_id)
    answer.headers.update(error.headers or {})
    if error.status_code == MethodNotAllowed.status and (allowed := methods.allowed(request)):
        answer.headers["Allow"] = allowed
    return answer
