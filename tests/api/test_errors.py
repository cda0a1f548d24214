"""Errors: one shape for all of them."""

import httpx
import pytest

from recibo import errors
from recibo.api.errors import render
from tests import people
from tests.installation import Installation


async def test_bad_query_does_not_come_before_the_credential(door: Installation) -> None:
    answer = await door.stranger.get("/v1/receipts?limit=0&cursor=broken")

    assert 401 == answer.status_code


@pytest.mark.parametrize(
    "path",
    ["/v2", "/v1", "/v1/", "/v2/receipts", "/v1/receipts/", "/v1/receipts/a/b",
     "/v1/receipts/a%2Fb", "//v1/receipts", "/v1/extract/", "/v1/RECEIPTS", "/%00",
     "/v1/receipts/rcp_0/file/x"],
)  # fmt: skip
async def test_unknown_path_is_a_404_of_the_one_shape(door: Installation, path: str) -> None:
    answer = await door.client.get(httpx.URL(f"http://recibo.test{path}"))

    error = answer.json()["error"]
    assert (404, "not_found") == (answer.status_code, error["code"])
    assert {"code", "message", "request_id"} == set(error)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/extract", "POST"),
        ("POST", "/v1/receipts", "GET"),
        ("PUT", "/v1/receipts/rcp_0", "DELETE, GET, PATCH"),
        ("PATCH", "/v1/receipts/rcp_0/file", "GET"),
        ("DELETE", "/v1/key", "GET"),
        ("POST", "/healthz", "GET"),
    ],
)
async def test_wrong_method_is_405_and_names_the_right_ones(
    door: Installation, method: str, path: str, allowed: str
) -> None:
    answer = await door.stranger.request(method, path)

    assert (405, "method_not_allowed") == (answer.status_code, answer.json()["error"]["code"])
    assert allowed == answer.headers["Allow"]


def test_error_carries_what_it_knows_and_nothing_else() -> None:
    full = errors.ValidationFailed(
        "no", details=(errors.Detail("a", "b"),), retry_after=7, receipt_id="rcp_0"
    )

    assert (
        b'{"error": {"code": "validation_error", "message": "no", "request_id": "req_0", '
        b'"details": [{"field": "a", "message": "b"}], "retry_after": 7, "receipt_id": "rcp_0"}}'
    ) == render(full, "req_0").body
    assert (
        b'{"error": {"code": "not_found", "message": "There is nothing here.", '
        b'"request_id": "req_0"}}'
    ) == render(errors.NotFound(), "req_0").body


async def test_refused_field_is_reported_with_our_message(door: Installation) -> None:
    ana = await people.signed_up(door)
    query = await door.stranger.get("/v1/audit?limit=x", headers=ana.headers)
    body = await door.stranger.patch("/v1/org", json={"slug": "x"}, headers=ana.headers)

    assert "limit: must be a whole number, in digits" == query.json()["error"]["message"]
    assert "slug: cannot be changed here" == body.json()["error"]["message"]
    assert "cannot be changed here" == body.json()["error"]["details"][0]["message"]


async def test_validation_error_of_no_field_has_details_too(door: Installation) -> None:
    ana = await people.signed_up(door)
    answer = await door.stranger.post(
        "/v1/billing/portal-session", json={"return_url": "https://a.test"}, headers=ana.headers
    )

    error = answer.json()["error"]
    assert "validation_error" == error["code"]
    assert [{"field": "body", "message": error["message"]}] == error["details"]


def test_retry_after_is_also_a_header() -> None:
    assert "7" == render(errors.Overloaded(retry_after=7), "").headers["Retry-After"]


def test_message_with_a_lone_surrogate_is_rendered() -> None:
    assert b"\\ud800" in render(errors.ValidationFailed("\ud800"), "").body
