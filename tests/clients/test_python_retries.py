"""Requests that fail are sent again if that is safe."""

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import httpx
import pytest

from recibo_client import Recibo, ReciboError, _retries, errors

KEY = {
    "id": "key_1",
    "org_id": "org_1",
    "name": "Till",
    "kind": "secret",
    "prefix": "sk_live_",
    "last4": "x3Qa",
    "scopes": ["read"],
    "is_live": True,
    "created_at": "2026-06-09T12:00:00Z",
    "plan": "scale",
    "usage_this_month": 1,
    "credits_used_this_month": 1,
}
RECEIPT = {
    "id": "rcp_1",
    "org_id": "org_1",
    "status": "completed",
    "metadata": {},
    "created_by": "key_1",
    "accuracy": "standard",
    "version": 1,
    "created_at": "2026-06-09T12:00:00Z",
    "updated_at": "2026-06-09T12:00:00Z",
}

Step = httpx.Response | type[httpx.TransportError]


def refusal(status: int, code: str, **more: object) -> httpx.Response:
    error = {"code": code, "message": "No.", "request_id": "req_1", **more}
    return httpx.Response(status, json={"error": error})


class Stream(httpx.SyncByteStream):
    """A body that arrives in pieces."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def __iter__(self) -> Iterator[bytes]:
        size = 1024
        for start in range(0, len(self.body), size):
            yield self.body[start : start + size]


class Script:
    """Answers requests with one step after the other, and keeps them."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests = list[httpx.Request]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        step = self.steps.pop(0)
        if isinstance(step, httpx.Response):
            return step
        raise step("scripted")

    def client(self, retry_seconds: float = 30, *, follow_redirects: bool = False) -> Recibo:
        http = httpx.Client(transport=httpx.MockTransport(self), follow_redirects=follow_redirects)
        return Recibo("sk_live_x", retry_seconds=retry_seconds, http_client=http)


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between attempts, which take no time but pass on the client's clock."""
    taken = list[float]()
    monkeypatch.setattr(time, "sleep", taken.append)
    clock = SimpleNamespace(monotonic=lambda: sum(taken))
    monkeypatch.setattr(_retries, "time", clock)
    return taken


@pytest.mark.parametrize(
    "problem",
    [
        httpx.ConnectError,
        httpx.ReadTimeout,
        httpx.RemoteProtocolError,
        refusal(503, "server_error"),
        refusal(500, "server_error"),
        refusal(429, "rate_limit_exceeded", retry_after=1),
        httpx.Response(502, text="<html>Bad gateway</html>"),
    ],
    ids=repr,
)
def test_upload_is_repeated_with_the_same_idempotency_key(problem: Step) -> None:
    script = Script(problem, problem, httpx.Response(200, json=RECEIPT))

    with script.client() as recibo:
        receipt = recibo.receipts.extract(b"lunch")

    assert "rcp_1" == receipt.id
    assert 3 == len(script.requests)
    assert 1 == len({one.headers["Idempotency-Key"] for one in script.requests})
    assert all(b"lunch" in one.read() for one in script.requests)


@pytest.mark.parametrize(
    ("problem", "seconds"),
    [(httpx.ConnectError, 5), (refusal(503, "server_error"), 30), (httpx.Response(520), 30)],
    ids=["nothing listens", "busy", "an error of a proxy"],
)
def test_attempts_end_after_some_seconds(
    problem: Step, seconds: float, pauses: list[float]
) -> None:
    script = Script(*[problem] * 200)

    with script.client() as recibo, pytest.raises(ReciboError):
        recibo.receipts.extract(b"lunch")

    assert pytest.approx(seconds) == sum(pauses)


def test_server_that_has_answered_may_restart_for_longer(pauses: list[float]) -> None:
    script = Script(httpx.Response(200, json=KEY), *[httpx.ConnectError] * 200)

    with script.client() as recibo:
        recibo.key()
        with pytest.raises(errors.ConnectionFailedError):
            recibo.key()

    assert pytest.approx(30) == sum(pauses)


def test_a_long_request_that_is_cut_off_is_repeated(pauses: list[float]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("wait") and not pauses:
            # It was held longer than requests are repeated.
            pauses.append(40)
            raise httpx.RemoteProtocolError("cut off")
        return httpx.Response(200, json=RECEIPT)

    http = httpx.Client(transport=httpx.MockTransport(answer))
    with Recibo("sk_live_x", http_client=http) as recibo:
        assert "rcp_1" == recibo.receipts.wait("rcp_1").id


@pytest.mark.parametrize(
    "url", ["http://", "https://", "http://[bad", "http://a b", "http://host:99999", "ftp://host"]
)
def test_url_without_a_host_is_refused(url: str) -> None:
    with pytest.raises(errors.ConfigurationError, match="URL"):
        Recibo("sk_live_x", base_url=url)


def test_two_uploads_have_two_idempotency_keys() -> None:
    script = Script(httpx.Response(200, json=RECEIPT), httpx.Response(200, json=RECEIPT))

    with script.client() as recibo:
        recibo.receipts.extract(b"lunch")
        recibo.receipts.extract(b"lunch")

    assert 2 == len({one.headers["Idempotency-Key"] for one in script.requests})


def test_pause_is_as_long_as_the_server_says(pauses: list[float]) -> None:
    script = Script(
        refusal(429, "rate_limit_exceeded", retry_after=7), httpx.Response(200, json=KEY)
    )

    with script.client() as recibo:
        recibo.key()

    assert 7 <= pauses[0] <= 8


@pytest.mark.parametrize("retry_after", ["7", "Thu, 26 Nov 2026 12:00:07 GMT"])
def test_pause_is_as_long_as_a_proxy_says(pauses: list[float], retry_after: str) -> None:
    headers = {"Retry-After": retry_after, "Date": "Thu, 26 Nov 2026 12:00:00 GMT"}
    busy = httpx.Response(429, headers=headers, html="<p>Slow down</p>")
    script = Script(busy, httpx.Response(200, json=KEY))

    with script.client() as recibo:
        recibo.key()

    assert 7 <= pauses[0] <= 8


@pytest.mark.parametrize("date", ["Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "soon", ""])
def test_refusal_of_a_proxy_is_a_rate_limit(date: str) -> None:
    headers = {"Retry-After": date, "Date": "Thu, 26 Nov 2026 12:00:00 GMT"}
    script = Script(httpx.Response(429, headers=headers, html="<p>Slow down</p>"))

    with script.client(0) as recibo, pytest.raises(errors.RateLimitExceededError, match="429"):
        recibo.key()


def test_refusal_of_a_proxy_for_its_size_is_one_of_the_file() -> None:
    script = Script(httpx.Response(413, html="<p>Too large</p>"))

    with script.client(0) as recibo, pytest.raises(errors.FileTooLargeError, match="413"):
        recibo.receipts.extract(b"lunch")


def test_used_up_quota_is_an_error_at_once(pauses: list[float]) -> None:
    script = Script(refusal(429, "rate_limit_exceeded", retry_after=900_000))

    with script.client() as recibo, pytest.raises(errors.RateLimitExceededError) as raised:
        recibo.receipts.extract(b"lunch")

    assert 900_000 == raised.value.retry_after
    assert [] == pauses


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
def test_refusal_for_good_is_not_repeated(status: int) -> None:
    script = Script(refusal(status, "of_a_later_release"))

    with script.client() as recibo, pytest.raises(errors.APIError) as raised:
        recibo.key()

    assert (status, "of_a_later_release") == (raised.value.status, raised.value.code)
    assert 1 == len(script.requests)


UNSAFE: list[Callable[[Recibo], object]] = [
    lambda recibo: recibo.receipts.delete("rcp_1"),
    lambda recibo: recibo.receipts.correct("rcp_1", total="1.00", version=1),
]


@pytest.mark.parametrize("act", UNSAFE, ids=["delete", "correct a version"])
@pytest.mark.parametrize("problem", [httpx.ReadTimeout, refusal(503, "server_error")], ids=repr)
def test_what_may_have_been_done_is_not_repeated(
    act: Callable[[Recibo], object], problem: Step
) -> None:
    script = Script(problem)

    with script.client() as recibo, pytest.raises(ReciboError):
        act(recibo)

    assert 1 == len(script.requests)


@pytest.mark.parametrize("act", UNSAFE, ids=["delete", "correct a version"])
@pytest.mark.parametrize(
    "problem", [httpx.ConnectError, refusal(429, "rate_limit_exceeded")], ids=repr
)
def test_what_was_surely_not_done_is_repeated(
    act: Callable[[Recibo], object], problem: Step
) -> None:
    script = Script(problem, httpx.Response(200, json=RECEIPT))

    with script.client() as recibo:
        act(recibo)

    assert 2 == len(script.requests)


def test_retries_can_be_turned_off() -> None:
    script = Script(httpx.ConnectError)

    with script.client(0) as recibo, pytest.raises(errors.ConnectionFailedError, match="8000"):
        recibo.key()


def test_another_web_site_is_no_recibo(tmp_path: Path) -> None:
    script = Script(
        httpx.Response(200, text="<html>Welcome</html>"), httpx.Response(200, html="<p>Sign in</p>")
    )

    with script.client() as recibo:
        with pytest.raises(errors.UnexpectedResponseError):
            recibo.key()
        with pytest.raises(errors.UnexpectedResponseError, match="web page"):
            recibo.receipts.export(tmp_path / "june.csv")

    assert not list(tmp_path.iterdir())


def test_export_keeps_files_of_other_names(tmp_path: Path) -> None:
    other = tmp_path / "june.csv.part"
    other.write_text("mine")
    headers = {"Content-Type": "text/csv"}
    script = Script(httpx.Response(200, headers=headers, stream=Stream(b"total\r\n4.80\r\n")))

    with script.client() as recibo:
        written = recibo.receipts.export(tmp_path / "june.csv")

    assert b"total\r\n4.80\r\n" == written.read_bytes()
    assert "mine" == other.read_text()
    assert {written, other} == set(tmp_path.iterdir())


@pytest.mark.parametrize("follow_redirects", [False, True])
def test_redirect_is_an_error_and_gets_no_key(*, follow_redirects: bool) -> None:
    script = Script(httpx.Response(301, headers={"Location": "https://elsewhere.test"}))

    client = script.client(follow_redirects=follow_redirects)
    with client as recibo, pytest.raises(errors.UnexpectedResponseError, match=r"elsewhere\.test"):
        recibo.key()

    assert ["127.0.0.1"] == [request.url.host for request in script.requests]


@pytest.mark.parametrize("name", ["Location", "Retry-After"])
def test_header_that_is_not_ascii_is_no_crash(name: str) -> None:
    headers = [(name.encode(), "/ção²".encode()), (name.encode(), b"\xb2")]
    script = Script(httpx.Response(302, headers=headers))

    with script.client(0) as recibo, pytest.raises(errors.ReciboError, match="302"):
        recibo.key()


@pytest.mark.parametrize("status", [200, 400])
def test_answer_that_unpacks_to_gigabytes_is_refused(status: int) -> None:
    bomb = gzip.compress(bytes(70 * 1024 * 1024))
    headers = {"Content-Encoding": "gzip"}
    script = Script(httpx.Response(status, headers=headers, stream=Stream(bomb)))

    with script.client() as recibo, pytest.raises(errors.UnexpectedResponseError, match="more"):
        recibo.key()


def test_time_in_the_past_is_no_pause(pauses: list[float]) -> None:
    script = Script(
        refusal(429, "rate_limit_exceeded", retry_after=-5), httpx.Response(200, json=KEY)
    )

    with script.client() as recibo:
        recibo.key()

    assert pauses[0] >= 0


@pytest.mark.parametrize("receipt_id", ["..", ".", "../key", "a/b?c"])
def test_id_cannot_name_another_operation(receipt_id: str) -> None:
    script = Script(refusal(404, "not_found"))

    with script.client() as recibo, pytest.raises(errors.NotFoundError):
        recibo.receipts.get(receipt_id)

    [request] = script.requests
    named = request.url.raw_path.removeprefix(b"/v1/receipts/").decode()
    assert receipt_id == unquote(named)
    assert not {"/", "?", "."} & set(named)


@pytest.fixture
def pending() -> httpx.Response:
    """A receipt that is not read yet."""
    return httpx.Response(200, json={**RECEIPT, "status": "pending"})


def test_pending_receipt_is_awaited(pending: httpx.Response) -> None:
    script = Script(pending, pending, httpx.Response(200, json=RECEIPT))

    with script.client() as recibo:
        receipt = recibo.receipts.extract(b"lunch", wait=True)

    assert "completed" == receipt.status
    assert ["/v1/extract", "/v1/receipts/rcp_1", "/v1/receipts/rcp_1"] == [
        one.url.path for one in script.requests
    ]
    assert 20 < float(script.requests[1].url.params["wait"]) <= 25


def test_pending_receipt_is_returned_without_wait(pending: httpx.Response) -> None:
    with Script(pending).client() as recibo:
        assert "pending" == recibo.receipts.extract(b"lunch", wait=False).status


def test_wait_ends(pending: httpx.Response) -> None:
    script = Script(pending, pending)

    with script.client() as recibo, pytest.raises(errors.WaitTimeoutError) as raised:
        recibo.receipts.extract(b"lunch", wait_seconds=0)

    assert "rcp_1" == raised.value.receipt.id


def test_receipt_that_fails_later_is_the_error_of_its_code(pending: httpx.Response) -> None:
    failure = {"code": "low_confidence", "message": "Nothing could be read."}
    failed = httpx.Response(200, json={**RECEIPT, "status": "failed", "failure": failure})

    with (
        Script(pending, failed).client() as recibo,
        pytest.raises(errors.LowConfidenceError) as raised,
    ):
        recibo.receipts.extract(b"lunch")

    assert "rcp_1" == raised.value.receipt_id


def test_values_and_fields_of_other_releases_are_accepted() -> None:
    later = {**RECEIPT, "category": "space_travel", "status": "archived", "orbit": 3}

    with Script(httpx.Response(200, json=later)).client() as recibo:
        receipt = recibo.receipts.get("rcp_1")

    assert ("space_travel", "archived") == (receipt.category, receipt.status)
    assert [] == receipt.payments
